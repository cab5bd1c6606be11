"""Scores without the nuggets that one team brought, by team."""

from typing import NamedTuple

from assessor.scores.loading import RunName
from metaeval.stats.means import Figures
from metaeval.stats.reusability import Mask, TeamLeftOut, leave_out_teams


class WithoutTeams(NamedTuple):
    """The scores of systems' runs by all nuggets, and by those that are left without each team's.

    basis: what says which nuggets a team brought, in words. own: whose each run is, (teams, runs). scores: (runs,
    measures); without: (teams, runs, measures). left_out: how many nuggets go with each team; topics: on how many one
    is left then. nuggets: all that count; unattested: those of them of which nothing says who brought them, which stay.
    """

    basis: str
    runs: list[RunName]
    teams: list[str]
    own: Mask
    scores: Figures
    without: Figures
    left_out: list[int]
    topics: list[int]
    nuggets: int
    unattested: int


class TeamRow(NamedTuple):
    """A team, how many of its runs are scored, how many nuggets go with it, and what that changes.

    run, dropped: the tags of the runs that found names by place; "" where it names none.
    """

    team: str
    runs: int
    left_out: int
    topics: int
    found: TeamLeftOut
    run: str
    dropped: str


def team_rows(scores: WithoutTeams, measure: int) -> list[TeamRow]:
    """Return all teams with what leaving their nuggets out changes by a measure, by its place; by name."""
    found = leave_out_teams(scores.scores[:, measure], scores.without[:, :, measure], scores.own)
    tags = [run.tag for run in scores.runs]
    by_team = zip(scores.teams, scores.own.sum(axis=1).tolist(), scores.left_out, scores.topics, found, strict=True)
    return [
        TeamRow(
            *of_team,
            run="" if of_team[-1].run is None else tags[of_team[-1].run],
            dropped="" if of_team[-1].dropped is None else tags[of_team[-1].dropped],
        )
        for of_team in by_team
    ]
