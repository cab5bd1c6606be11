"""The plan as a table: a line for what one person does on a topic."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from assessor.campaigns.condition_kind import kind_named
from assessor.campaigns.models import Campaign, Condition
from assessor.formats.tables import write_table
from assessor.plan.formats import KINDS, WHOEVER
from assessor.plan.models import Planned
from assessor.plan.queries import draws_by_number, rules_of
from assessor.work.judging_pool import ALL
from assessor.work.models import Task
from assessor.work.queries import waiting_in


@dataclass
class _Line:
    """A line that is being filled.

    rule: None as long as nothing on it judges answers; draw: None as long as its topic was not drawn for any of it.
    """

    conditions: dict[str, str] = field(default_factory=dict)
    rule: str | None = None
    draw: int | None = None
    reason: str = ""


def plan_lines(campaign: Campaign) -> Iterator[str]:
    """Yield the whole plan, by topic and assessor in byte order; read back, it changes nothing."""
    lines: dict[tuple[str, str], list[_Line]] = {}
    rules = rules_of(campaign, campaign.topics.all())
    draws = _first_draws(campaign)
    for (qid, name, _, _), (condition, topic, reason) in sorted(_pieces(campaign).items(), key=_by_bytes):
        rule = rules.get((condition.pk, topic), ALL) if condition.judges_answers else None
        _put(lines.setdefault((qid, name), []), condition, rule, draws.get((condition.pk, qid)), reason)
    planned = {kind for of_person in lines.values() for line in of_person for kind in line.conditions}
    kinds = [kind for kind in KINDS if kind in planned or kind_named(kind).is_in_every_study]
    of_draw = ["draw"] if draws else []
    rows = (
        (
            *(qid, *(line.conditions.get(kind, "") for kind in kinds), name, line.rule or ""),
            *(line.draw or "" for _ in of_draw),
            line.reason,
        )
        for (qid, name), of_person in lines.items()
        for line in of_person
    )
    return write_table(("topic", *kinds, "assessor", "runs", *of_draw, "reason"), rows)


def _first_draws(campaign: Campaign) -> dict[tuple[int, str], int]:
    """Return the number of the first draw that has a topic, by condition's key and topic's id."""
    found: dict[tuple[int, str], int] = {}
    for condition, draws in draws_by_number(campaign).items():
        for number, draw in enumerate(draws, start=1):
            for qid in draw.topics:
                found.setdefault((condition, qid), number)
    return found


_Key = tuple[str, str, int, str]  # topic's id, who, the kind's place, the condition's name
_Piece = tuple[Condition, int, str]  # topic's key, reason


def _by_bytes(item: tuple[_Key, _Piece]) -> tuple[bytes, bytes, int, bytes]:
    qid, name, kind, condition = item[0]
    return qid.encode(), name.encode(), kind, condition.encode()


def _pieces(campaign: Campaign) -> dict[_Key, _Piece]:
    tasks = campaign.tasks.exclude(state=Task.State.WITHDRAWN).select_related("topic", "condition", "person")
    planned = Planned.objects.filter(condition__campaign=campaign).select_related("topic", "condition", "person")
    waiting = waiting_in(campaign).select_related("topic", "condition")
    found = [*waiting, *planned, *tasks]
    return {
        (
            one.topic.qid,
            one.person.username if getattr(one, "person", None) else WHOEVER,
            KINDS.index(one.condition.kind),
            one.condition.name,
        ): (one.condition, one.topic_id, one.reason)
        for one in found
    }


def _put(lines: list[_Line], condition: Condition, rule: str | None, draw: int | None, reason: str) -> None:
    """Put a piece of work on the first line that has place for it."""
    for line in lines:
        fits = (rule is None or line.rule in (None, rule)) and (draw is None or line.draw in (None, draw))
        if fits and condition.kind not in line.conditions and line.reason in ("", reason):
            break
    else:
        line = _Line()
        lines.append(line)
    line.conditions[condition.kind] = condition.name
    line.rule = line.rule if rule is None else rule
    line.draw = line.draw or draw
    line.reason = line.reason or reason
