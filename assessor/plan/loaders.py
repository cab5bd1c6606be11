"""Loading a plan: what its lines say of work that is new, or somebody else's, or judged on other runs than before."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from assessor.accounts.models import Person
from assessor.campaigns import history
from assessor.campaigns.access import members
from assessor.campaigns.condition_kind import kind_of
from assessor.campaigns.models import Campaign, Condition, Import, Role, Topic
from assessor.formats.beginning import Beginning
from assessor.formats.lines import Line
from assessor.formats.report import Report
from assessor.imports.loaders.base import Loader, Options
from assessor.plan import change_impact
from assessor.plan.formats import WHOEVER, PlanRecord, begins_plan, read_plan
from assessor.plan.forms import peoples_conditions
from assessor.plan.models import NOT_TRIED, Planned
from assessor.plan.queries import draws_by_number
from assessor.work.actions import PlanError, require_person, take_out_of_queue
from assessor.work.judging_pool import Judged, folded, judged_under
from assessor.work.models import MAX_REASON, Task, Waiting
from assessor.work.task_changes import set_rule


class _Piece(NamedTuple):
    """Work that is new; person: None for whoever draws it."""

    condition: Condition
    topic: Topic
    person: Person | None
    reason: str


class PlanLoader(Loader):
    """Writes down what is to be so, all at once; what follows the import makes tasks of it, one after the other."""

    kind = "plan"
    label = "Plan (plan.csv)"

    @classmethod
    def recognises(cls, beginning: Beginning) -> bool:
        return begins_plan(beginning)

    def __init__(self, campaign: Campaign, options: Options, report: Report) -> None:
        super().__init__(campaign, options, report)
        self._topics: dict[str, Topic] = {topic.qid: topic for topic in campaign.topics.all()}
        self._conditions: dict[str, Condition] = {one.name: one for one in peoples_conditions(campaign)}
        people = members(campaign, Role.ASSESSOR).filter(is_active=True)
        self._people: dict[str, Person] = {person.username: person for person in people}
        self._held: dict[tuple[int, int], list[Task]] = defaultdict(list)
        tasks = campaign.tasks.exclude(state=Task.State.WITHDRAWN).select_related("person")
        for task in tasks:
            self._held[task.condition_id, task.topic_id].append(task)
        self._drawn = set(Waiting.objects.filter(condition__campaign=campaign).values_list("condition", "topic"))
        rows = Planned.objects.filter(condition__campaign=campaign)
        self._planned: set[tuple[int, int, int | None]] = set(rows.values_list("condition", "topic", "person"))
        self._draws = draws_by_number(campaign)
        self._judged: dict[int, Judged] = {}
        self._pieces: list[_Piece] = []
        self._rules: dict[tuple[Condition, str], list[Topic]] = defaultdict(list)  # those that are new

    def read(self, lines: Iterable[Line]) -> Iterator[PlanRecord]:
        return read_plan(lines, self.report)

    def sift(self, records: Sequence[PlanRecord]) -> None:
        for record in records:
            self._sift(record)

    def _sift(self, record: PlanRecord) -> None:
        number = record.line.number
        topic = self._topics.get(record.topic)
        if topic is None:
            self.report.error(number, "topic", record.topic, "a topic of the campaign; load the topics first")
        person = self._people.get(record.assessor)
        if person is None and record.assessor != WHOEVER:
            self.report.error(number, "assessor", record.assessor, f"an assessor, or {WHOEVER} for whoever draws it")
            return
        if len(record.reason) > MAX_REASON:
            self.report.error(number, "reason", record.reason, f"at most {MAX_REASON} characters")
        if record.draw and not self._is_drawn(record):
            expected = "the number of a draw that has the topic, under a condition of the line; draw topics first"
            self.report.error(number, "draw", record.draw, expected)
        rule = self._rule(record)
        for kind, name in record.conditions.items():
            condition = self._conditions.get(name)
            if condition is None or condition.kind != kind:
                self.report.error(number, kind, name, f"a condition of {kind} under which people work")
            elif topic is not None and rule is not None:
                self._sift_piece(record, kind, condition, topic, person, rule)

    def _is_drawn(self, record: PlanRecord) -> bool:
        conditions = [found for name in record.conditions.values() if (found := self._conditions.get(name))]
        return any(
            record.draw == str(number) and record.topic in draw.topics
            for one in conditions
            for number, draw in enumerate(self._draws.get(one.pk, ()), start=1)
        )

    def _rule(self, record: PlanRecord) -> str | None:
        """Return the rule of a line, "" where it leaves it as it is; None for what is none, which is reported."""
        try:
            return folded(record.runs) if record.runs else ""
        except ValueError as error:
            self.report.error(record.line.number, "runs", record.runs, str(error))
            return None

    def _sift_piece(
        self, record: PlanRecord, kind: str, condition: Condition, topic: Topic, person: Person | None, rule: str
    ) -> None:
        whose = record.assessor if kind_of(condition).is_shared(condition) else ""
        if self.repeats(f"{condition.pk} {topic.pk} {whose}", record.line, kind, f"{record.topic} under {condition}"):
            return
        if rule and condition.judges_answers:
            known = self._judged.get(condition.pk) or judged_under(condition)
            self._judged[condition.pk] = known
            if known.rule(topic.pk) != rule:
                self._rules[condition, rule].append(topic)
        if self._is_so(condition, topic, person):
            self.report.counts["pieces of work already so"] += 1
        elif self._can_be(record, condition, topic, person):
            self._pieces.append(_Piece(condition, topic, person, record.reason))

    def _is_so(self, condition: Condition, topic: Topic, person: Person | None) -> bool:
        at = condition.pk, topic.pk
        if person is None:
            return at in self._drawn or (*at, None) in self._planned
        return any(task.person_id == person.pk for task in self._held[at]) or (*at, person.pk) in self._planned

    def _can_be(self, record: PlanRecord, condition: Condition, topic: Topic, person: Person | None) -> bool:
        """Say whether a person can have a topic; what keeps them from it is reported."""
        number, errors_before = record.line.number, self.report.error_count
        others = [] if kind_of(condition).is_shared(condition) else self._held[condition.pk, topic.pk]
        if person is None and kind_of(condition).is_shared(condition):
            self.report.error(number, "assessor", WHOEVER, "a person: passages are drawn from topics that people have")
        for other in others:
            if other.state == Task.State.FINISHED or person is None:
                has = "has finished" if other.state == Task.State.FINISHED else "has"
                what = f"nobody else: {other.person} {has} {topic.qid} under {condition}"
                self.report.error(number, "assessor", record.assessor, what)
            elif not record.reason:
                what = f"why it is to be {person}'s: {other.person} has {topic.qid} under {condition}"
                self.report.error(number, "reason", "", what)
        if person is not None:
            try:
                require_person(person, self.campaign, condition, [topic])
            except PlanError as error:
                self.report.error(number, "assessor", record.assessor, str(error))
        self.report.counts["pieces of work handed over" if others else "pieces of work new"] += 1
        return self.report.error_count == errors_before

    def end(self) -> None:
        """Tell what the new rules touch."""
        for (condition, rule), topics in self._rules.items():
            touched = change_impact.of_rule(condition, topics, rule)
            self.report.counts["rules of runs new"] += len(topics)
            for name, number in (
                ("answers that leave the scores", touched.leave),
                ("labels on them", touched.labels_leaving),
                ("answers that come back to the scores", touched.back),
            ):
                if number:
                    self.report.counts[name] += number

    def write(self, new: None, import_record: Import) -> None:
        """A plan is small: all of it is written at once, in finish()."""

    def finish(self, import_record: Import) -> None:
        by = import_record.person
        for (condition, rule), topics in self._rules.items():
            set_rule(condition=condition, topics=topics, rule=rule, reason="", acting_user=by)
        for piece in self._pieces:
            self._plan(piece, by)

    def _plan(self, piece: _Piece, by: Person | None) -> None:
        at: dict[str, Any] = {"condition": piece.condition, "topic": piece.topic}
        # What was planned there before, and is not begun, is planned otherwise now.
        if not kind_of(piece.condition).is_shared(piece.condition):
            Planned.objects.filter(**at).delete()
            for waiting in Waiting.objects.filter(**at).select_related("condition", "topic"):
                if piece.person is not None and not self._held[piece.condition.pk, piece.topic.pk]:
                    with suppress(PlanError):  # drawn since the file was checked: what it asks for waits, and says so
                        take_out_of_queue(waiting=waiting, acting_user=by)
        planned = Planned.objects.create(
            **at,
            person=piece.person,
            reason=piece.reason,
            waits_for=NOT_TRIED,
            created_by=by,
        )
        told = {"reason": piece.reason} if piece.reason else {}
        history.record("work planned", planned, campaign=self.campaign, person=by, **told)
