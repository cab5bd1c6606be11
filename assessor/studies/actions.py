"""The writers of studies."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any

from django.core.exceptions import ValidationError
from django.db import OperationalError, connection, models, transaction
from django.db.models import Max, Q

from assessor.accounts.models import Person
from assessor.campaigns import history
from assessor.campaigns.actions import ConditionError, create_condition
from assessor.campaigns.condition_kind import kind_of
from assessor.campaigns.models import Answer, Campaign, Condition, Topic
from assessor.campaigns.queries import without_practice
from assessor.labels.label_kind import label_kind, label_kinds
from assessor.labels.manual_setups import create_first, has_labelled, same_work
from assessor.llm.actions import JobError, Plan, plan_job
from assessor.llm.job_kind import job_kind_named
from assessor.llm.models import ModelJudge
from assessor.studies.models import Coding, ErrorCode, Registration, SampledItem, Sensitivity, Study
from assessor.studies.panels import RULE_WORDS, TIED, drawn_before, open_items, panel_table
from assessor.studies.queries import judges_of, topics_of
from assessor.studies.registration import RegistrationError, hash_of, read_document
from assessor.studies.sampling import Key, Sampling, sampled_kinds, sampling_of
from assessor.work.actions import PlanError, give_tasks
from assessor.work.allocation import new_seed
from assessor.work.blindness import record_exposure
from assessor.work.models import Exposure, Task
from assessor.work.write_protocol import Stale
from metaeval.stats.panels import Rule, Ties, why_not

MOST_MEMBERS = 9  # of a panel
PER_TOPIC = 15  # as the TREC 2024 RAG track drew them
MAX_NOTE = 500  # characters
_NAME = 120  # characters of a condition's
_NOT_AVAILABLE = "55P03"  # PostgreSQL's code of a lock that was not given in time
_TOPICS_AT_ONCE = 10  # are read together: a track's have 1,500 answers


class StudyError(Exception):
    """There can be no such study, or this can't be done with it; the text says why."""


def register_study(*, campaign: Campaign, fields: Mapping[str, Any], acting_user: Person | None) -> Registration:
    """Keep what a study is about, before the first label of its conditions. Raises RegistrationError.

    fields: as read_document() takes them.
    """
    document = read_document(fields, campaign.slug)
    registration = Registration(
        campaign=campaign,
        title=document["title"],
        document=document,
        sha256=hash_of(document),
        made_by=acting_user,
    )
    with transaction.atomic():
        # One after the other, or two of one title could both find that there is none yet.
        Campaign.objects.select_for_update(no_key=True, of=("self",)).get(pk=campaign.pk)
        named = list(campaign.conditions.filter(name__in=document["conditions"]).order_by("name"))
        _wait_for_labels({records.model for one in named for records in kind_of(one).label_records(one)})
        if labelled := [condition.name for condition in named if _has_labels(condition)]:
            have = f"{', '.join(labelled)} {'has' if len(labelled) == 1 else 'have'} labels already"
            raise RegistrationError(f"{have}. A study is registered before the first label of its conditions.")
        if campaign.registrations.filter(title=registration.title).exists():
            raise RegistrationError(f"A study called {registration.title} is registered already.")
        registration.save()
        history.record(
            "study registered",
            registration,
            campaign=campaign,
            person=acting_user,
            sha256=registration.sha256,
            conditions=document["conditions"],
        )
    return registration


def _has_labels(condition: Condition) -> bool:
    return any(kind_of(one).has_labels(one) for one in condition.label_sources)


def _wait_for_labels(tables: Iterable[type[models.Model]]) -> None:
    """Let labels that are being written be committed, and none after them until this transaction is.

    Else the first label could be given before a study is registered and be seen only afterwards. On SQLite there is one
    writer anyway. Raises RegistrationError where that takes too long.
    """
    if connection.vendor != "postgresql":
        return
    names = ", ".join(sorted(connection.ops.quote_name(one._meta.db_table) for one in tables))
    if not names:
        return
    with connection.cursor() as cursor:
        # Given up before PostgreSQL looks for deadlocks (after a second): it would fail whoever gives a label.
        cursor.execute("SET LOCAL lock_timeout = '800ms'")
        try:
            cursor.execute(f"LOCK TABLE {names} IN SHARE MODE")
        except OperationalError as error:
            if getattr(error.__cause__, "sqlstate", "") != _NOT_AVAILABLE:
                raise
            raise RegistrationError(
                "Nothing was registered: labels are being written at this moment. Register the study again."
            ) from error


def draw_study(
    *,
    campaign: Campaign,
    name: str,
    purpose: str,
    first: Condition,
    second: Condition,
    per_topic: int | None = PER_TOPIC,
    seed: int | None = None,
    topics: Collection[Topic] | None = None,
    acting_user: Person | None,
) -> Study:
    """Draw what two conditions label differently, and keep it with both labels. Raises StudyError.

    purpose: of Study.Purpose. per_topic: at most so many of each topic, all of them where it is None. seed: the same
    one draws the same from the same labels; made up where there is none. topics: these alone. Drawn from are items that
    have a label under both conditions. To be judged again, of each topic as many are drawn that both label alike, and
    no more that differ than there are of these: else it would show that they differ.
    """
    _require_comparable(campaign, purpose, first, second)
    study = Study(
        campaign=campaign,
        name=" ".join(name.split()),
        kind=first.kind,
        purpose=purpose,
        first=first,
        second=second,
        per_topic=per_topic,
        seed=new_seed() if seed is None else seed,
        created_by=acting_user,
    )
    if per_topic == 0:
        raise StudyError("At most 0 of a topic are none at all; without a number all are drawn.")
    require_valid(study)
    # Before the transaction: SQLite has one writer, and reading a track's labels takes seconds.
    every = without_practice(campaign.topics.order_by("qid"), "pk")
    wanted = list(every if topics is None else every.filter(pk__in=[one.pk for one in topics]))
    some = [wanted[at : at + _TOPICS_AT_ONCE] for at in range(0, len(wanted), _TOPICS_AT_ONCE)]
    drawn = [one for topics_of_some in some for one in _drawn_on(study, sampling_of(study.kind), topics_of_some)]
    if not drawn:
        alike = ", or nothing alike on a topic where they do" if study.is_rejudging else ""
        raise StudyError(f"{first} and {second} label nothing differently{alike}: there is nothing to draw.")
    sides = {"first": first.name, "second": second.name}
    chosen = {} if topics is None else {"topics": [one.qid for one in wanted]}
    told = {"purpose": purpose, **sides, "seed": study.seed, "per_topic": per_topic, "items": len(drawn), **chosen}
    store_study(study, drawn, told, acting_user)
    return study


@transaction.atomic
def store_study(
    study: Study,
    drawn: Sequence[SampledItem],
    told: Mapping[str, Any],
    acting_user: Person | None,
    *,
    verb: str = "study drawn",
) -> None:
    """Keep a study with what was drawn for it. Raises StudyError.

    told, verb: what the history has of it.
    """
    lock_campaign(study.campaign)
    require_valid(study)
    study.save()
    SampledItem.objects.bulk_create(drawn)
    history.record(verb, study, campaign=study.campaign, person=acting_user, **told)


def lock_campaign(campaign: Campaign) -> None:
    """Let studies of a campaign be stored one after the other: else two of one name could both find none yet."""
    Campaign.objects.select_for_update(no_key=True, of=("self",)).get(pk=campaign.pk)


@transaction.atomic
def create_panel(
    *,
    campaign: Campaign,
    members: Sequence[Condition],
    rule: Rule,
    ties: Ties = Ties.STRICTER,
    quorum: int | None = None,
    name: str = "",
    acting_user: Person | None,
) -> Condition:
    """Make a condition whose labels follow from those of others by a rule. Raises ConditionError.

    members: in their order, which names them and decides nothing else. ties: where several labels could count. quorum:
    how many members must have labelled, all where it is None. name: one is made of the rule where there is none.
    """
    quorum = len(members) if quorum is None else quorum
    _require_panel(campaign, members, rule, quorum)
    first = members[0]
    condition = Condition(
        campaign=campaign,
        name=" ".join(name.split()) or _panel_name(campaign, members, rule),
        kind=first.kind,
        method=Condition.PANEL,
        nuggets=first.nuggets,
        of_passages=first.of_passages,
        panel={
            "members": [one.name for one in members],
            "rule": rule,
            "ties": ties if rule in TIED else None,
            "quorum": quorum,
        },
        has_rehearsals=any(one.is_rehearsed for one in members),
    )
    return create_condition(condition, acting_user=acting_user, protocol=first.protocol)


def _require_panel(campaign: Campaign, members: Sequence[Condition], rule: Rule, quorum: int) -> None:
    if any(one.campaign_id != campaign.pk for one in members):
        raise ConditionError(f"All members must be of {campaign}.")
    if len({one.pk for one in members}) != len(members) or not 2 <= len(members) <= MOST_MEMBERS:
        raise ConditionError(f"A panel has 2 to {MOST_MEMBERS} different members.")
    if not 2 <= quorum <= len(members):
        raise ConditionError(f"A quorum of these is 2 to {len(members)} members.")
    first = members[0]
    for one in members:
        if one.is_panel:
            raise ConditionError(f"{one} is a panel itself: choose its members.")
        if not one.is_a_models:
            raise ConditionError(f"The labels of {one} are not a model's.")
        if one.sample:
            raise ConditionError(f"{one} labels a study's sample alone.")
        if one.kind not in panel_kinds():
            raise ConditionError(f"Labels of {one.kind}, as {one} has them, make no panel.")
        if (one.kind, one.nuggets_id, one.of_passages) != (first.kind, first.nuggets_id, first.of_passages):
            raise ConditionError(f"{first} and {one} do not label the same items.")
    if rule == Rule.DAWID_SKENE and (reason := why_not(len(members), _topics_of_two(members))):
        raise ConditionError(reason)


def panel_kinds() -> list[str]:
    """Return the names of the kinds of label of which there can be panels: scores follow from whatever labels."""
    return [kind.name for kind in label_kinds() if kind.can_be_rejudged]


def _topics_of_two(members: Sequence[Condition]) -> int:
    """Return on how many topics two members have labels, or are to give some."""
    kind = kind_of(members[0])
    sheets = without_practice(kind.judged_answers().filter(condition__in=members), "answer").order_by()
    given = sheets.values_list("answer__topic", "condition").distinct()
    return sum(count >= 2 for count in Counter(topic for topic, _ in given).values())


def _panel_name(campaign: Campaign, members: Sequence[Condition], rule: Rule) -> str:
    name = f"Panel of {len(members)}, {RULE_WORDS[rule]}"
    taken = set(Condition.everything.filter(campaign=campaign, name__startswith=name).values_list("name", flat=True))
    numbered = (f"{name} ({number})" for number in range(2, len(taken) + 3))
    return next(one for one in (name, *numbered) if one not in taken)


def draw_routing(
    *,
    panel: Condition,
    name: str,
    per_topic: int | None = None,
    seed: int | None = None,
    acting_user: Person | None,
) -> Study:
    """Draw what a panel leaves open and no study has drawn yet, for people to label, blind. Raises StudyError.

    per_topic, seed: as draw_study() has them. What people say of it counts as the panel's.
    """
    if not panel.is_panel:
        raise StudyError(f"{panel} is no panel.")
    if per_topic == 0:
        raise StudyError("At most 0 of a topic are none at all; without a number all are drawn.")
    first, second, *_ = panel.members
    study = Study(
        campaign=panel.campaign,
        name=" ".join(name.split()),
        kind=panel.kind,
        purpose=Study.Purpose.ROUTING,
        panel=panel,
        first=first,
        second=second,
        per_topic=per_topic,
        seed=new_seed() if seed is None else seed,
        created_by=acting_user,
    )
    require_valid(study)
    # Before the transaction: SQLite has one writer, and reading a track's labels takes seconds.
    drawn = _first_of_topics(study, open_items(panel, panel_table(panel)))
    if not drawn:
        raise StudyError(f"{panel} leaves nothing open that is not drawn already.")
    with transaction.atomic():
        lock_campaign(panel.campaign)
        if drawn_before(panel) & {(one.answer_id, one.item) for one in drawn}:
            raise StudyError("Somebody drew from what the panel leaves open at the same moment: load the page again.")
        how = {"seed": study.seed, "per_topic": per_topic, "items": len(drawn)}
        store_study(study, drawn, {"purpose": study.purpose, "panel": panel.name, **how}, acting_user)
    return study


def _first_of_topics(study: Study, items: Sequence[SampledItem]) -> list[SampledItem]:
    """Return of each topic those whose hash with the seed is lowest, as _drawn_on() does, with their study."""
    by = sampling_of(study.kind)
    answers = Answer.objects.filter(pk__in={one.answer_id for one in items}).select_related("topic", "run")
    told = {one.pk: (one.topic.qid, one.name if study.first.of_passages else one.run.tag) for one in answers}
    hashed: dict[str, list[tuple[bytes, int]]] = {}
    for at, one in enumerate(items):
        one.study = study
        qid, text = told[one.answer_id]
        digest = sha256(f"{study.seed} {qid} {text} {by.drawn_by(one.item)}".encode()).digest()
        hashed.setdefault(qid, []).append((digest, at))
    return [items[at] for qid in sorted(hashed) for _, at in sorted(hashed[qid])[: study.per_topic]]


def require_valid(record: Study | Sensitivity | ErrorCode, exclude: Collection[str] = ()) -> None:
    """Raise StudyError where a record can't be saved, such as one whose name another study has.

    exclude: the fields that have no value yet.
    """
    if isinstance(record, Study) and Sensitivity.objects.filter(campaign=record.campaign, name=record.name).exists():
        raise StudyError(f"The campaign has a sensitivity study called {record.name}: choose another name.")
    if (
        isinstance(record, Sensitivity)
        and Study.with_controls.filter(campaign=record.campaign, name=record.name).exists()
    ):
        raise StudyError(f"The campaign has another study called {record.name}: choose another name.")
    try:
        record.full_clean(exclude=exclude)
    except ValidationError as error:
        raise StudyError(" ".join(error.messages)) from error
    # Django looks for the name only among those that are shown.
    if isinstance(record, Study) and Study.with_controls.filter(campaign=record.campaign, name=record.name).exists():
        raise StudyError(f"There is a control set called {record.name}. Choose another name.")


def _require_comparable(campaign: Campaign, purpose: str, first: Condition, second: Condition) -> None:
    if first.campaign_id != campaign.pk or second.campaign_id != campaign.pk:
        raise StudyError(f"Both conditions must be of {campaign}.")
    if first.kind != second.kind or first.kind not in sampled_kinds():
        raise StudyError(f"{first} has labels of {first.kind}, {second} of {second.kind}: they can't be compared.")
    if first.nuggets_id != second.nuggets_id:
        raise StudyError(f"{first} and {second} are about different nuggets.")
    if first.pk == second.pk:
        raise StudyError("A study is of two conditions.")
    if first.sample or second.sample:
        raise StudyError("A study's own labels are of a sample: draw from the conditions that it is about.")
    if first.is_panel or second.is_panel:
        raise StudyError("The labels of a panel follow from others': choose one of its members.")
    if not first.is_peoples:
        raise StudyError(f"The labels of {first} are not people's.")
    if purpose == Study.Purpose.ADJUDICATION and not second.is_peoples:
        raise StudyError(f"The labels of {second} are not people's: there is nothing between people to decide.")
    if purpose == Study.Purpose.DISAGREEMENT and not second.is_a_models:
        raise StudyError(f"The labels of {second} are not a model's.")
    if purpose == Study.Purpose.REJUDGING and not label_kind(first.kind).can_be_rejudged:
        raise StudyError(f"Labels of {first.kind}, as {first} has them, can't be judged again.")


def _drawn_on(study: Study, by: Sampling, topics: Sequence[Topic]) -> list[SampledItem]:
    """Return what is drawn of topics: of each those whose hash with the seed is lowest, so in an order of no meaning.

    The hash is over what is the same in every database, so the seed draws the same from the same labels.
    """
    labels = by.labels_on(study.first, topics)
    others = by.labels_on(study.second, topics)
    keys = [key for key in labels if key in others and (study.is_rejudging or labels[key] != others[key])]
    answers = Answer.objects.filter(pk__in={answer for answer, _ in keys})
    told = {pk: (qid, tag) for pk, qid, tag in answers.values_list("pk", "topic__qid", "run__tag")}
    if study.first.of_passages:  # all of them are of one run
        told = {one.pk: (one.topic.qid, one.name) for one in answers.select_related("topic", "run")}
    name_of = by.names(keys)
    # By topic: what differs, and what is alike.
    hashed: dict[str, tuple[list[tuple[bytes, Key]], ...]] = {topic.qid: ([], []) for topic in topics}
    for key in keys:
        qid, text = told[key[0]]
        digest = sha256(f"{study.seed} {qid} {text} {by.drawn_by(name_of[key])}".encode()).digest()
        hashed[qid][labels[key] == others[key]].append((digest, key))
    chosen = []
    for differing, alike in hashed.values():
        most = min(len(differing), len(alike)) if study.is_rejudging else len(differing)
        most = min(most, study.per_topic or most)
        chosen += sorted(sorted(differing)[:most] + sorted(alike)[:most])
    return [
        SampledItem(study=study, answer_id=key[0], item=name_of[key], first_label=labels[key], second_label=others[key])
        for _, key in chosen
    ]


@transaction.atomic
def let_people_judge(*, study: Study, name: str, acting_user: Person | None) -> Condition:
    """Make a condition under which a person labels a study's sample. Raises ConditionError.

    It is a blind one like all others of its kind; only in an adjudication both labels are shown.
    """
    # One replicate after another.
    study = Study.objects.select_for_update(no_key=True, of=("self",)).select_related("first").get(pk=study.pk)
    method = Condition.ADJUDICATED if study.is_adjudication else label_kind(study.kind).blind_method
    last = judges_of(study).filter(judge=None).aggregate(last=Max("replicate"))["last"]
    condition = Condition(
        campaign=study.campaign,
        name=name,
        kind=study.kind,
        method=method,
        nuggets=study.first.nuggets,
        of_passages=study.first.of_passages,
        replicate=0 if last is None else last + 1,
        sample=study.name,
    )
    return create_first(condition, acting_user=acting_user)


@transaction.atomic
def give_sample(
    *, study: Study, person: Person, condition: Condition | None, name: str, acting_user: Person | None
) -> list[Task]:
    """Give a person all topics of a study's sample, all or none. Raises ConditionError and PlanError.

    condition: the judge of the sample whom they are to be; None for a new one of that name, or of their own.
    """
    if condition is None:
        name = name or _usual_name(study, person.username)
        condition = let_people_judge(study=study, name=name, acting_user=acting_user)
    topics = list(topics_of(study))
    return give_tasks(
        campaign=study.campaign, topics=topics, condition=condition, person=person, acting_user=acting_user
    )


def _usual_name(study: Study, judge: str) -> str:
    """Return what a judge's condition is called where nobody named it."""
    return f"{study}: {judge}"[:_NAME]


def plan_asking(*, study: Study, judge: ModelJudge, name: str, replicate: int) -> Plan:
    """Say what a job would do and take in which another model labels a study's sample, as plan_job(). Raises JobError.

    Without a name a new condition is called by the study and the judge.
    """
    if study.is_adjudication:
        raise JobError("Where two people differ, a third person decides.")
    if study.is_routing:
        raise JobError("What a panel leaves open is labelled by people.")
    if study.is_rejudging:
        raise JobError("People's labels are judged again by people.")
    if judge.judge_id == study.second.judge_id and replicate == study.second.replicate:
        raise JobError(f"{judge} gave the labels of {study.second}: choose another judge, or another replicate.")
    return plan_job(
        kind=job_kind_named(label_kind(study.kind).job_on(study.first)),
        judge=judge,
        name=name or _usual_name(study, f"{judge}{f' #{replicate}' if replicate else ''}"),
        qrels_source=None,
        topics=list(topics_of(study)),
        nuggets=study.first.nuggets,
        replicate=replicate,
        sample=study.name,
    )


def require_independent(task: Task) -> None:
    """Raise PlanError where a task's person would be a judge of a study on the topic and no stranger to its labels.

    That is asked of whoever is to label its sample, and of whoever is to label under what it was drawn from. Opinions
    on that count as it does. A judge of one study is none of another of the same two sides: much of what they would
    label they have labelled. Called before anything of the topic is locked.
    """
    condition = task.condition
    studies = Study.objects.filter(campaign=condition.campaign_id)
    if condition.sample:
        own = studies.select_related("first", "second").get(name=condition.sample)
        sides = list(same_work(own.first, own.second))
        studies = studies.filter(first__in=sides, second__in=sides)
        if own.panel_id:  # those of one panel have no item in common
            studies = studies.exclude(~Q(pk=own.pk), panel=own.panel_id)
    else:
        own, sides, same = None, [], same_work(condition)
        studies = studies.filter(Q(first__in=same) | Q(second__in=same))
    # One after the other, or each of two tasks could find that there is no other.
    locked = list(studies.select_for_update(no_key=True, of=("self",)).select_related("campaign").order_by("pk"))
    sheets = sampling_of(task.kind).sheets_on(task.topic)
    judges = [(study, judge) for study in locked for judge in judges_of(study).exclude(pk=condition.pk)]
    for study, other in [*((own, side) for side in sides), *judges]:
        if has_labelled(task.person, sheets.filter(condition=other)):
            same_sides = own and study != own
            raise PlanError(
                f"{task.person} labels or labelled {task.topic.qid} under {other}"
                f"{f', for the study {study} of the same two sides' if same_sides else ''}: a judge of {own or study} "
                "is somebody else."
            )


def see_labels(task: Task) -> None:
    """Record that the person of a task of adjudication has seen what others said there; once a study is enough."""
    if task.condition.method != Condition.ADJUDICATED:
        return
    where = f"labels to decide between in {task.condition.sample}"
    if not Exposure.objects.filter(person=task.person, topic=task.topic, kind=task.kind, where=where).exists():
        record_exposure(task.person, [task.topic], task.kind, where)


@transaction.atomic
def define_code(*, campaign: Campaign, code: str, meaning: str, acting_user: Person | None) -> ErrorCode:
    """Give a campaign a word for why labels differ, or change what one means. Raises StudyError."""
    Campaign.objects.select_for_update(no_key=True, of=("self",)).get(pk=campaign.pk)  # one after the other
    record = ErrorCode.objects.filter(campaign=campaign, code=code).first()
    before = record.meaning if record else ""
    record = record or ErrorCode(campaign=campaign, code=code, created_by=acting_user)
    record.meaning = " ".join(meaning.split())
    require_valid(record)
    record.save()
    history.record(
        "error code defined", record, campaign=campaign, person=acting_user, before=before, meaning=record.meaning
    )
    return record


@transaction.atomic
def code_item(*, drawn: SampledItem, codes: Sequence[str], note: str, seen: int, acting_user: Person | None) -> Coding:
    """Say why the labels of an item differ, by the campaign's codes; without any, it is not coded any more.

    seen: the key of the coding that the person saw, 0 for none. Raises Stale where there is a newer one, and
    StudyError.
    """
    # Codings of an item one after the other.
    study = Study.objects.select_for_update(no_key=True, of=("self",)).get(pk=drawn.study_id)
    newest = drawn.codings.order_by("-pk").first()
    if (newest.pk if newest else 0) != seen:
        raise Stale
    known = list(ErrorCode.objects.filter(campaign=study.campaign_id).values_list("code", flat=True))
    if unknown := sorted(set(codes) - set(known)):
        raise StudyError(f"The campaign has no error code {', '.join(unknown)}.")
    note = " ".join(note.split())
    if len(note) > MAX_NOTE or "\x00" in note:
        raise StudyError(f"A note has at most {MAX_NOTE} characters and no NUL.")
    return Coding.objects.create(
        drawn=drawn, codes=[code for code in known if code in codes], note=note, person=acting_user
    )
