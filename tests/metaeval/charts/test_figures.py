"""What figures show, and that they say so where there is nothing to show."""

import math
from typing import Any

import altair as alt
import numpy as np
import pytest

from metaeval.charts.figures import (
    Cells,
    Runs,
    confusion_figure,
    distribution_figure,
    kappa_figure,
    length_figure,
    message,
    precision_recall_scatter,
    score_scatter,
    top_figure,
    topic_tau_figure,
    topics_needed_figure,
)
from metaeval.charts.rendering import Theme, as_pdf, as_png, as_svg, config
from metaeval.stats.agreement import rate_agreement
from metaeval.stats.descriptive import pareto_front
from metaeval.stats.levels import tau_levels
from metaeval.stats.statistic import Statistic
from metaeval.stats.top import Top, top_taus
from metaeval.stats.topics_needed import CurvePoint, topics_needed

NAN = math.nan
RUNS = Runs(["a", "b", "c"], ["RAG", "AG", "RAG"])
X = np.array([[0.1, 0.2], [0.5, 0.5], [0.9, 0.2]])
Y = np.array([[0.1, 0.3], [0.4, 0.5], [0.9, NAN]])


def layers(figure: alt.LayerChart) -> list[dict[str, Any]]:
    """The layers of a figure with their rows, those of layers in layers too."""
    told = figure.to_dict()
    datasets = told.get("datasets", {})

    def rows(layer: dict[str, Any], data: dict[str, Any]) -> list[dict[str, Any]]:
        own = layer.get("data", data)
        if "layer" in layer:
            return [one for inner in layer["layer"] for one in rows(inner, own)]
        return [layer | {"rows": datasets.get(own.get("name"), own.get("values"))}]

    return rows(told, {})


def texts(figure: alt.LayerChart) -> str:
    """All text that stands in a figure's marks and above it."""
    found = [layer["mark"].get("text", "") for layer in layers(figure)]
    return " ".join(
        " ".join(text) if isinstance(text, list) else str(text) for text in [*found, figure.to_dict().get("title", "")]
    )


def scatter(**options: Any) -> alt.LayerChart:
    first, second = np.array([0.15, 0.5, 0.9]), np.array([0.2, 0.45, 0.9])
    given: dict[str, Any] = {"runs": RUNS, "first": first, "second": second, "levels": tau_levels(X, Y)}
    return score_scatter(**given | options, titles=("V, people", "V, model"))


def test_the_scatter_has_a_large_point_for_each_run_a_small_one_for_each_cell_and_the_three_taus():
    figure = scatter(cells=Cells(["t1", "t2"], X, Y))
    _, small, large, *_ = layers(figure)
    assert [(row["run"], row["task"], row["x"], row["y"]) for row in large["rows"]] == [
        ("a", "RAG (2)", 0.15, 0.2),
        ("b", "AG (1)", 0.5, 0.45),
        ("c", "RAG (2)", 0.9, 0.9),
    ]
    assert {(row["x"], row["y"], row["names"]) for row in small["rows"]} == {
        (0.1, 0.1, "a, t1"),
        (0.2, 0.3, "a, t2"),
        (0.5, 0.4, "b, t1"),
        (0.5, 0.5, "b, t2"),
        (0.9, 0.9, "c, t1"),
    }
    assert small["mark"]["size"] < large["mark"]["size"]
    levels = tau_levels(X, Y)
    assert f"runs: {levels.run.value:.3f} (n = 3)" in texts(figure)
    assert f"topics: {levels.topic.value:.3f} (n = 2)" in texts(figure)
    assert f"cells: {levels.cell.value:.3f} (n = 5)" in texts(figure)


def test_the_scatter_of_support_has_a_triangle_for_each_topic():
    assert "triangles" not in texts(scatter(cells=Cells(["t1", "t2"], X, Y)))
    figure = scatter(cells=Cells(["t1", "t2"], X, Y), shows_topics=True)
    _, _, topics, _, *_ = layers(figure)
    assert topics["mark"]["shape"] == "triangle-down"
    # Means over runs of the cells that count on both sides.
    both = ~np.isnan(X + Y)
    means = [(X[both[:, at], at].mean(), Y[both[:, at], at].mean()) for at in range(2)]
    assert [(row["topic"], row["x"], row["y"]) for row in topics["rows"]] == [
        (name, pytest.approx(x), pytest.approx(y)) for name, (x, y) in zip(("t1", "t2"), means, strict=True)
    ]
    assert "Open triangles: topics, means over runs" in texts(figure)


def test_tasks_are_told_by_colour_and_shape_the_same_in_every_figure():
    encoding = layers(scatter())[1]["encoding"]
    assert encoding["color"]["field"] == encoding["shape"]["field"] == "task"
    for channel in ("color", "shape"):
        assert encoding[channel]["scale"]["domain"] == ["AG (1)", "RAG (2)"]
    only = Runs(["a", "b", "c"], ["RAG", "", "RAG"])
    encoding = layers(scatter(runs=only))[1]["encoding"]
    # RAG has the second colour, though no AG is there.
    assert encoding["color"]["scale"]["domain"] == ["AG", "RAG (2)", "no task (1)"]
    assert encoding["color"]["legend"]["values"] == ["RAG (2)", "no task (1)"]


def test_many_cells_on_one_point_are_one_mark_with_the_first_names():
    cells = Cells([f"t{at}" for at in range(5)], np.full((1, 5), 0.5), np.full((1, 5), 0.5))
    figure = score_scatter(
        Runs(["a"], ["AG"]), np.array([0.5]), np.array([0.5]), tau_levels(*cells[1:]), titles=("x", "y"), cells=cells
    )
    (row,) = layers(figure)[1]["rows"]
    assert (row["cells"], row["names"]) == (5, "a, t0; a, t1; a, t2; and 2 more")
    assert "Kendall's τ of runs: fewer than two values" in texts(figure)


def test_undefined_topics_are_told_with_the_taus():
    x = np.array([[0.1, 0.5], [0.2, 0.5]])
    figure = score_scatter(
        Runs(["a", "b"], ["AG", "AG"]), x.mean(axis=1), x.mean(axis=1), tau_levels(x, x), titles=("x", "y")
    )
    assert "topics: 1.000 (n = 1, 1 undefined)" in texts(figure)


def test_a_confusion_matrix_has_counts_percent_rates_and_kappa():
    figure = confusion_figure(rate_agreement([[6, 2], [1, 11]]), ["none", "full"], judges=("people", "model"))
    rows = {(row["row"], row["column"]): (row["count"], row["percent"]) for row in layers(figure)[0]["rows"]}
    assert rows == {
        ("none", "none"): ("6", "30.0 %"),
        ("none", "full"): ("2", "10.0 %"),
        ("full", "none"): ("1", "5.0 %"),
        ("full", "full"): ("11", "55.0 %"),
    }
    assert "20 pairs: 85.0 % equal, 10.0 % above the diagonal, 5.0 % below" in texts(figure)
    assert "unweighted 0.681" in texts(figure)


def test_undefined_kappas_are_a_dash():
    assert "unweighted —" in texts(confusion_figure(rate_agreement([[3, 0], [0, 0]]), ["n", "f"], judges=("a", "b")))
    figure = kappa_figure(["a", "b"], {(0, 1): Statistic(None, 4, "only one label was used")}, weights="linear")
    assert [(row["count"], row["percent"], row["share"]) for row in layers(figure)[0]["rows"]] == [
        ("—", "n = 4", 0)
    ] * 2


def test_kappas_of_judges_stand_on_both_sides_of_the_diagonal():
    figure = kappa_figure(["a", "b", "c"], {(0, 2): Statistic(0.5, 10)}, weights="linear")
    rows = {(row["row"], row["column"], row["count"], row["percent"]) for row in layers(figure)[0]["rows"]}
    assert rows == {("(1) a", "(3)", "0.500", "n = 10"), ("(3) c", "(1)", "0.500", "n = 10")}


def test_kappas_of_many_judges_are_in_short():
    few, many = (
        kappa_figure([f"judge {at}" for at in range(judges)], {(0, 1): Statistic(0.456, 10)}, weights="linear")
        for judges in (4, 5)
    )
    assert [len(layers(figure)) for figure in (few, many)] == [3, 2]
    assert [layers(figure)[0]["rows"][0]["count"] for figure in (few, many)] == ["0.456", "0.46"]


def test_no_run_of_the_pareto_front_is_beaten():
    length, score = [100, 200, 150, 300, 100, NAN], [0.5, 0.7, 0.4, 0.7, 0.3, 0.9]
    assert pareto_front(length, score) == [0, 1]
    assert pareto_front([100, 100], [0.5, 0.5]) == [0, 1]
    assert pareto_front([], []) == []
    runs = Runs(list("abcdef"), ["AG"] * 6)
    figure = length_figure(runs, np.array(length), np.array(score), title="V")
    assert [row["run"] for row in layers(figure)[0]["rows"]] == ["a", "b"]
    assert [row["run"] for row in layers(figure)[1]["rows"]] == list("abcde")


def test_answers_stand_behind_runs_by_their_length():
    words, scores = np.array([[10, NAN], [30, 50]]), np.array([[0.2, 0.4], [0.6, NAN]])
    runs = Runs(["a", "b"], ["AG", "RAG"])
    lengths, means = np.array([10.0, 40.0]), np.array([0.3, 0.6])
    figure = length_figure(runs, lengths, means, title="V", cells=Cells(["t1", "t2"], words, scores))
    behind, front, points = layers(figure)
    assert [(row["names"], row["x"], row["y"]) for row in behind["rows"]] == [("a, t1", 10, 0.2), ("b, t1", 30, 0.6)]
    assert [row["run"] for row in front["rows"]] == ["a", "b"]
    assert len(points["rows"]) == 2


def test_topics_stand_from_the_least_tau_on_and_undefined_ones_are_counted():
    figure = topic_tau_figure(["t1", "t2", "t3", "t4"], np.array([0.5, NAN, -0.25, 0.5]), title="τ")
    rule, points = layers(figure)
    assert [row["topic"] for row in points["rows"]] == ["t3", "t1", "t4"]
    assert points["encoding"]["x"]["scale"]["domain"] == ["t3", "t1", "t4"]
    assert [row["tau"] for row in rule["rows"]] == [pytest.approx(0.25)]
    assert "3 topics, mean 0.250 (dashed); 1 undefined" in texts(figure)
    many = topic_tau_figure([f"t{at}" for at in range(41)], np.linspace(0, 1, 41), title="τ")
    assert not layers(many)[1]["encoding"]["x"]["axis"]["labels"]


def test_precision_and_recall_of_runs_topics_and_cells():
    figure = precision_recall_scatter(RUNS, ["t1", "t2"], X, Y, titles=("WP", "WR"))
    _, cells, topics, runs = layers(figure)
    assert [(row["run"], row["x"], row["y"]) for row in runs["rows"]] == [
        ("a", pytest.approx(0.15), pytest.approx(0.2)),
        ("b", 0.5, 0.45),
        ("c", 0.9, 0.9),  # on the topic that counts
    ]
    assert [(row["topic"], row["x"]) for row in topics["rows"]] == [("t1", 0.5), ("t2", pytest.approx(0.35))]
    assert len(cells["rows"]) == 5
    assert "Large: 3 runs. Open triangles: 2 topics, means over runs." in texts(figure)
    assert "Small: 5 cells." in texts(figure)


def test_the_curve_of_topics_has_hours_on_a_second_axis():
    curve = topics_needed(X, Y, seed=1, draws=10)
    figure = topics_needed_figure(curve, title="τ", hours=1.5)
    assert layers(figure)[-1]["encoding"]["x"]["scale"]["domain"] == [0, 3.0]
    assert layers(figure)[-1]["encoding"]["x"]["axis"]["orient"] == "top"
    assert [row["topics"] for row in layers(figure)[0]["rows"]] == [1, 2]
    assert len(layers(topics_needed_figure(curve, title="τ"))) == len(layers(figure)) - 1


def top_of(runs: int, *, has_band: bool = True) -> Top:
    x = np.random.default_rng(3).normal(size=runs)
    return top_taus(x, x + np.sin(np.arange(runs)), seed=1, draws=20, has_band=has_band)


def test_the_best_runs_have_a_curve_for_each_side_with_that_of_equal_noise_and_its_band():
    top = top_of(16)
    names = ("best by people", "best by model")
    figure = top_figure(top, names=names, title="τ")
    band, dashed, _, points = layers(figure)
    assert [(row["k"], row["by"]) for row in points["rows"]] == [(k, name) for name in names for k in (5, 10, 15, 16)]
    assert [(row["k"], row["low"]) for row in band["rows"] if row["by"] == names[0]] == [
        (point.k, point.low) for point in top.reference if point.k >= 10
    ]
    assert [row["equal noise"] for row in dashed["rows"]] == [point.expected for side in top for point in side]
    assert [row["tau"] for row in points["rows"]] == [point.tau.value for side in top for point in side]
    assert points["encoding"]["x"]["scale"]["domain"] == [5, 16]
    assert "Dashed: equal noise for all runs, with its 95 % band" in texts(figure)
    without = top_figure(top_of(16, has_band=False), names=names, title="τ")
    assert len(layers(without)) == 3
    assert "band" not in texts(without)
    assert layers(top_figure(top_of(3), names=names, title="τ"))[0]["encoding"]["x"]["scale"]["domain"] == [3, 4]


def test_distributions_are_shares_of_each_judge():
    figure = distribution_figure(["people", "model", "nobody"], ["none", "full"], [[1, 3], [10, 0], [0, 0]])
    rows = [(row["judge"], row["label"], row["start"], row["end"]) for row in layers(figure)[0]["rows"]]
    assert rows == [
        ("people (4)", "none", 0, 25),
        ("people (4)", "full", 25, 100),
        ("model (10)", "none", 0, 100),
        ("model (10)", "full", 100, 100),
    ]


NOTHING = np.full((3, 2), NAN)


@pytest.mark.parametrize(
    ("figure", "why"),
    [
        (scatter(first=np.full(3, NAN)), "No run has a score on both sides."),
        (length_figure(RUNS, np.full(3, NAN), np.ones(3), title="V"), "No run has both a length and a score."),
        (topic_tau_figure(["t"], np.array([NAN]), title="τ"), "No topic has a tau"),
        (
            precision_recall_scatter(RUNS, ["t", "u"], NOTHING, NOTHING, titles=("x", "y")),
            "No answer has support scores",
        ),
        (topics_needed_figure(topics_needed(NOTHING, NOTHING, seed=1, draws=3), title="τ"), "Tau is undefined"),
        (top_figure(Top([], []), names=("x", "y"), title="τ"), "Tau of any number of best runs is undefined"),
        (topics_needed_figure([], title="τ"), "Tau is undefined"),
        (
            confusion_figure(rate_agreement(np.zeros((2, 2))), ["n", "f"], judges=("a", "b")),
            "There are no pairs of labels.",
        ),
        (kappa_figure(["a"], {}, weights="linear"), "No two judges labelled the same things."),
        (distribution_figure([], [], np.empty((0, 0))), "Nobody gave a label."),
    ],
)
def test_nothing_to_show_is_said(figure: alt.LayerChart, why: str):
    assert why in as_svg(figure.to_dict())


@pytest.mark.parametrize("theme", Theme)
def test_figures_are_files_in_both_themes_as_wide_as_a_column(theme: Theme):
    figure = scatter(cells=Cells(["t1", "t2"], X, Y))
    svg = as_svg(figure.to_dict(), theme)
    assert 'width="238"' in svg
    assert config(theme)["background"] in svg
    assert as_png(figure.to_dict(), theme).startswith(b"\x89PNG")
    pdf = as_pdf(figure.to_dict(), theme)
    assert b"/MediaBox [0 0 238 " in pdf.replace(b"\n", b" ")
    assert {as_pdf(figure.to_dict(), theme) for _ in range(5)} == {pdf}


def test_themes_differ_in_colours_alone():
    figure = message("nothing")
    light, dark = ({**figure.to_dict(), "config": config(theme)} for theme in Theme)
    assert light.pop("config") != dark.pop("config")
    assert light == dark


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", Theme)
def test_text_and_marks_stand_out_from_the_paper(theme: Theme):
    told = config(theme)
    paper = told["background"]
    for part in ("axis", "legend"):
        assert contrast(told[part]["labelColor"], paper) >= 4.5
    assert contrast(told["title"]["color"], paper) >= 4.5
    assert contrast(told["style"]["note"]["color"], paper) >= 4.5
    assert all(contrast(colour, paper) >= 3 for colour in told["range"]["category"])
    # Text on the darkest cell of a table: the shade at its most, over the paper.
    shade, most = told["style"]["shade"]["color"], 0.55
    mixed = [round(most * int(shade[at : at + 2], 16) + (1 - most) * int(paper[at : at + 2], 16)) for at in (1, 3, 5)]
    assert contrast("#" + "".join(f"{part:02x}" for part in mixed), told["style"]["note"]["color"]) >= 4.5


def test_names_from_files_are_text_and_nothing_else():
    hostile = '<script>alert(1)</script>&"'
    runs = Runs([hostile, "b", "c"], [hostile, "AG", "RAG"])
    svg = as_svg(scatter(runs=runs).to_dict())
    svg += as_svg(topic_tau_figure([hostile], np.array([0.5]), title=hostile).to_dict())
    assert "<script" not in svg
    assert "&lt;script" in svg


def test_a_step_without_a_tau_is_left_out_of_the_curve():
    curve = topics_needed(X, Y, seed=1, draws=10)
    nothing = CurvePoint(
        1, curve[0].tau._replace(low=None, high=None, mean=None, draws=0, why="undefined in every draw")
    )
    assert [row["topics"] for row in layers(topics_needed_figure([nothing, curve[1]], title="τ"))[0]["rows"]] == [2]
