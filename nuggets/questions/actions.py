"""The edits of gold answers, and of which questions are parts of others. Undo takes them back like all edits."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from assessor.accounts.models import Person
from assessor.campaigns.models import Judge
from assessor.work.write_protocol import BadWrite, Result
from nuggets.actions.base import MAX_GOLD, edit_list, on_one_line
from nuggets.actions.edits import Evidence, check_evidence, on_list
from nuggets.condition_kind import nugget_kind
from nuggets.editing import MAX_LEVELS, Gold, NuggetList, united
from nuggets.models import Nugget, NuggetBank


def add_gold(bank: NuggetBank, *, uid: UUID, text: str, acting_user: Person, seen: int) -> Result:
    """Add a gold answer to a question."""
    cleaned = on_one_line(text)
    if not cleaned:
        raise BadWrite("A gold answer needs a text.")

    def change(bank: NuggetBank, nugget_list: NuggetList, judge: Judge) -> None:
        question = nugget_list.items[on_list(bank, nugget_list, uid)]
        if len(question["gold"]) >= MAX_GOLD:
            raise BadWrite(f"A question has at most {MAX_GOLD} gold answers.")
        record = bank.nuggets.only("last_gold").get(uid=uid)
        record.last_gold += 1  # undo leaves that as it is
        record.save(update_fields=["last_gold"])
        answer = {"id": f"g{record.last_gold}", "text": cleaned, "references": [], "extras": {}}
        question["gold"] = [*question["gold"], answer]

    _require_questions(bank)
    return edit_list(bank, "gold_add", change, acting_user, seen)


def reword_gold(bank: NuggetBank, *, uid: UUID, gold: str, text: str, acting_user: Person, seen: int) -> Result:
    """Change the text of a gold answer. An emptied one may be saved: finishing will point to its question."""
    cleaned = on_one_line(text)
    return _edit_answer(bank, "gold_reword", uid, gold, lambda one: [one | {"text": cleaned}], acting_user, seen)


def remove_gold(bank: NuggetBank, *, uid: UUID, gold: str, acting_user: Person, seen: int) -> Result:
    """Take a gold answer away from a question."""
    return _edit_answer(bank, "gold_remove", uid, gold, lambda one: [], acting_user, seen)


def cite_gold(bank: NuggetBank, *, uid: UUID, gold: str, evidence: Evidence, acting_user: Person, seen: int) -> Result:
    """Add a place in a passage to the references of a gold answer."""
    check_evidence(bank, evidence)

    def cite(answer: dict[str, Any]) -> Gold:
        return [answer | {"references": united([answer["references"] or [], [evidence]])}]

    return _edit_answer(bank, "gold_cite", uid, gold, cite, acting_user, seen)


def uncite_gold(
    bank: NuggetBank, *, uid: UUID, gold: str, evidence: Evidence, acting_user: Person, seen: int
) -> Result:
    """Take a place in a passage away from the references of a gold answer."""

    def uncite(answer: dict[str, Any]) -> Gold:
        return [answer | {"references": [one for one in answer["references"] or [] if one != evidence]}]

    return _edit_answer(bank, "gold_uncite", uid, gold, uncite, acting_user, seen)


def aggregate(bank: NuggetBank, *, uid: UUID, aggregator: str, acting_user: Person, seen: int) -> Result:
    """Say whether a question asks for any or for all of its gold answers, of which there are several."""
    if aggregator not in (Nugget.Aggregator.OR, Nugget.Aggregator.AND):
        raise BadWrite("aggregator must be OR or AND.")

    def change(bank: NuggetBank, nugget_list: NuggetList, judge: Judge) -> None:
        question = nugget_list.items[on_list(bank, nugget_list, uid)]
        # All of them may still be asked for after others were removed: that can be taken back.
        is_taken_back = (question["aggregator"], aggregator) == (Nugget.Aggregator.AND, Nugget.Aggregator.OR)
        if len(question["gold"]) < 2 and not is_taken_back:
            raise BadWrite("Any or all of the gold answers: that takes two of them at least.")
        question["aggregator"] = aggregator

    _require_questions(bank)
    return edit_list(bank, "aggregate", change, acting_user, seen)


def nest(bank: NuggetBank, *, uid: UUID, is_deeper: bool, acting_user: Person, seen: int) -> Result:
    """Make a question a part of the one above it, or a part no more; those under it stay under it."""

    def change(bank: NuggetBank, nugget_list: NuggetList, judge: Judge) -> None:
        name = on_list(bank, nugget_list, uid)
        levels, block = nugget_list.levels(), nugget_list.block(name)
        if is_deeper:
            before = nugget_list.order[: nugget_list.order.index(name)]
            if not before or levels[before[-1]] < levels[name]:
                raise BadWrite("There is no question above that this one could be a part of.")
            if max(levels[one] for one in block) == MAX_LEVELS:
                raise BadWrite(f"Questions are parts of others down to level {MAX_LEVELS}.")
        else:
            above = nugget_list.items[name]["under"]
            if above is None:
                raise BadWrite("This question is not a part of another.")
            # Behind the others that are under the same question: it would take them along.
            rest = [one for one in nugget_list.order if one not in block]
            place = rest.index(above) + len(nugget_list.block(above)) - len(block)
            nugget_list.order = [*rest[:place], *block, *rest[place:]]
        nugget_list.nest(levels | {one: levels[one] + (1 if is_deeper else -1) for one in block})

    _require_questions(bank)
    return edit_list(bank, "nest", change, acting_user, seen)


def _edit_answer(
    bank: NuggetBank,
    verb: str,
    uid: UUID,
    gold: str,
    change_answer: Callable[[dict[str, Any]], Gold],
    acting_user: Person,
    seen: int,
) -> Result:
    """Put what is made of a gold answer in its place."""

    def change(bank: NuggetBank, nugget_list: NuggetList, judge: Judge) -> None:
        question = nugget_list.items[on_list(bank, nugget_list, uid)]
        if gold not in [answer["id"] for answer in question["gold"]]:
            raise BadWrite("There is no such gold answer of this question.")
        question["gold"] = [
            new for answer in question["gold"] for new in (change_answer(answer) if answer["id"] == gold else [answer])
        ]

    _require_questions(bank)
    return edit_list(bank, verb, change, acting_user, seen)


def _require_questions(bank: NuggetBank) -> None:
    if nugget_kind(bank.condition).gold is None:
        raise BadWrite("These nuggets are no questions: they have no gold answers.")
