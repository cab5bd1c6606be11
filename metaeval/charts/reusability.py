"""The figure of teams left out."""

from collections.abc import Mapping

import altair as alt

from metaeval.charts.figures import WIDTH, Row, base_chart, layered_figure, message


def tau_by_team(taus: Mapping[str, float | None], *, title: str) -> alt.LayerChart:
    """Return the tau of all runs by the team that is left out, the least first. taus: None where undefined."""
    rows: list[Row] = sorted(
        ({"team": team, "tau": tau} for team, tau in taus.items() if tau is not None),
        key=lambda row: (row["tau"], row["team"]),
    )
    if not rows:
        return message("No team can be left out with a defined τ.")
    least: float = rows[0]["tau"]
    y = alt.Y("team:N", sort=[row["team"] for row in rows], title=None, axis=alt.Axis(labelLimit=WIDTH // 3, grid=True))
    x = alt.X("tau:Q", title=title, scale=alt.Scale(domain=[min(0.9, least), 1.0], nice=True, zero=False))
    tooltip = [alt.Tooltip("team:N", title="Team"), alt.Tooltip("tau:Q", title="τ", format=".4f")]
    dots = base_chart(rows).mark_point(style="dot", filled=True, opacity=1, size=22).encode(x, y, tooltip=tooltip)
    undefined = len(taus) - len(rows)
    note = f"{len(rows):,} teams, least τ {least:.3f}" + (f"; {undefined:,} undefined" if undefined else "")
    figure: alt.LayerChart = layered_figure([dots], height=max(60, 11 * len(rows)), note=[note])
    return figure
