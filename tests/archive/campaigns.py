"""A campaign with a record of everything, made by what makes such records, and a way to be rid of it."""

from decimal import Decimal
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any
from uuid import UUID, uuid4

from django.db import connection, transaction

from assessor.accounts.models import Person
from assessor.archive.registry import KEPT
from assessor.archive.writer import CampaignArchive
from assessor.campaigns.actions import add_member, change_protocol, create_campaign, create_condition, end_membership
from assessor.campaigns.models import Answer, Campaign, Condition, Grade, Role
from assessor.exports.freeze import freeze
from assessor.exports.pseudonyms import pseudonyms
from assessor.labels.manual_setups import label_again
from assessor.labels.replies import note_read, reply
from assessor.llm.actions import cancel, create_judge, create_prompt_set, launch, pause, plan_job
from assessor.llm.gateway import Reply
from assessor.llm.job_kind import job_kind_named
from assessor.llm.ledger import Asked, Entry, record
from assessor.llm.models import Job
from assessor.llm.prompt_templates import read_templates
from assessor.plan.actions import drop_run, plan_work
from assessor.plan.actions.draws import draw_topics
from assessor.relevance.models import RelevanceJudgment
from assessor.studies.actions import code_item, create_panel, define_code, draw_study, let_people_judge, register_study
from assessor.studies.models import ControlSet, Study
from assessor.training.actions import name_reference
from assessor.work.actions import give_tasks, put_in_queue, record_time
from assessor.work.blindness import record_exposure
from assessor.work.models import Task
from assignment.actions import create_manual_assign, leave_out, resolve_label
from assignment.argue.exports import judgment_lines
from assignment.exports import assignment_lines
from metaeval.actions import create_calibration, create_comparison, create_hybrid, import_table, set_calibration_gate
from metaeval.actions import run as compute
from metaeval.models import CalibrationGate
from metaeval.stats.panels import Rule, Ties
from nuggets import actions as on_nuggets
from nuggets.actions import create_manual_nuggets, redo, undo
from nuggets.candidates.models import SentenceMatch
from nuggets.drafting import Cut
from nuggets.exports import condition_lines
from nuggets.matching.actions import create_manual_matching, match_by_person
from nuggets.models import NuggetBank
from nuggets.reports.actions import create_edited_reports, store_readings, take_in, write_report
from nuggets.reports.models import EditedReport
from support.actions import create_support
from support.exports import support_lines
from tests.assignment.argue.conftest import attested, first, needs, relevance, report
from tests.assignment.argue.judging_helpers import judged_by_people
from tests.assignment.scored import auto_condition, vary
from tests.assignment.trials.model import try_on
from tests.candidates.model import candidates_condition
from tests.conftest import QRELS, SEGMENTS, TOPICS, client_of
from tests.judging import (
    again,
    all_judged,
    asked,
    change,
    equal_first,
    given,
    judgeable,
    label_all,
    nuggets_of,
    send,
    sign_off,
)
from tests.nuggets import model
from tests.nuggets.conftest import do, fill
from tests.preference import people as comparing
from tests.preference.model import compare
from tests.questions import banks
from tests.relevance.conftest import give_relevance, judge_item
from tests.studies.control import make_control_set
from tests.support import judging_helpers
from tests.support.test_equal_pairs import RUNS as CITING
from tests.support.test_own_texts import run_with_documents

A, B, C, D = (UUID(int=number) for number in (101, 102, 103, 104))
GRADED = "t1 Q0 d2 1 9 one\nt1 Q0 d1 2 8 one\n"
TABLE = "run_id,v\nteam.one,0.5\nteam.two,0.25\n"


def make_everything(slug: str, people: dict[str, Person], import_file: Any) -> Campaign:
    """Make a campaign with a record of every model that archives have, but for what comparisons come to.

    people: anna, ben, olga, otto.
    """
    anna, ben, olga = people["anna"], people["ben"], people["olga"]
    campaign = create_campaign(name="All of it", slug=slug, acting_user=olga)
    once = add_member(campaign=campaign, person=people["otto"], role=Role.ORGANIZER, acting_user=olga)
    end_membership(membership=once, acting_user=olga)
    change_protocol(campaign=campaign, settings={"equal_pairs_once": True}, acting_user=olga)
    _import(campaign, import_file)
    topic = campaign.topics.get(qid="t1")
    source = campaign.qrels_sources.get(name="NIST")
    manual = create_manual_nuggets(campaign=campaign, name="ManualNuggets", qrels_source=source, acting_user=olga)
    bank = _edit(_give(manual, anna, "t1"))
    put_in_queue(topics=[campaign.topics.get(qid="t2")], condition=manual, acting_user=olga, reason="who is free")
    task = Task.objects.get(nugget_bank=bank)
    record_time(task=task, key=uuid4(), seconds=0)
    record_exposure(ben, [topic], "nuggets", "export of everything")
    _assign(manual, bank, anna, ben, olga)
    _judge_support(campaign, anna)
    graded = give_relevance(campaign, ben).condition
    judge_item(RelevanceJudgment.objects.filter(condition=graded).order_by("position")[0])
    name_reference(condition=graded, reference=source, acting_user=olga)
    templates = read_templates([("qrel.txt", b"Good? {query} {passage}")])
    create_prompt_set(campaign=campaign, name="published", templates=templates, acting_user=olga)
    job = _ask(campaign, manual, olga)
    compare(campaign, campaign.model_judges.get())
    _prefer(campaign, anna, olga)
    _draft(campaign, olga)
    gold = [banks.answer("content", "d1"), banks.answer("in pain")]
    why = banks.question("Why do cats purr?", *gold, aggregator_type="AND", note=1)
    of_questions = banks.bank(why | {"sub_nuggets": [banks.question("Do all?")]}, more={"a": [1]})
    assert import_file(campaign, "questions", [of_questions], condition="Asked", by="people").state == "done"
    _read(campaign, olga, ben)
    _compare(campaign, job.condition, olga)
    line = {"query": "", "qid": "t1", "nuggets": [{"text": "purring heals", "importance": "vital"}]}
    assert import_file(campaign, "nuggets", [line], condition="Frozen", by="people").state == "done"
    judgments = [[relevance("d1"), attested("d1")], [needs(True), first(True)]]
    report_line = report("team.judged", judgments, sentences=[("Cats purr when content.", ["d1"]), ("Dogs bark.", [])])
    on_asked = {"condition": "Reports judged", "by": "model", "nuggets": "Asked"}
    assert import_file(campaign, "argue_judgments", [report_line], **on_asked).state == "done"
    [sheet] = all_judged(campaign.conditions.get(name="Reports judged"))
    stated = next(item for item in asked(sheet) if ".n" in item and item not in given(sheet))
    change(sheet, {stated: {"label": "yes"}})
    by_person = _give(judged_by_people(campaign.conditions.get(name="Asked")), anna, "t1")
    for report_sheet in all_judged(by_person):
        change(report_sheet, {item: {"label": "yes"} for item in judgeable(report_sheet)[:2]})
    drafts = {"condition": "Drafted elsewhere", "qrels": "NIST", "maker": "another model"}
    line["nuggets"].append({"text": "purrs"})
    assert import_file(campaign, "drafts", [line], **drafts).state == "done"
    former = {"condition": "Inherited", "qrels": "NIST", "edition": "TREC 2024", "edition_date": "2024", "by": "people"}
    assert import_file(campaign, "former_nuggets", [line | {"qid": "old", "topic": "t1"}], **former).state == "done"
    _match(campaign, olga)
    _look_for(campaign)
    _try(campaign)
    pseudonyms(campaign)
    freeze(condition=campaign.conditions.get(name="Frozen"), acting_user=olga)
    return campaign


def compute_comparison(campaign: Campaign) -> None:
    """Compute the campaign's first comparison, which takes seconds."""
    compute(campaign.comparisons.get(seed=7).calculations.get())


def _import(campaign: Campaign, import_file: Any) -> None:
    for kind, content, options in (
        ("topics", TOPICS, {}),
        ("segments", SEGMENTS, {}),
        ("qrels", QRELS, {"source": "NIST", "by": "people"}),
        ("retrieval", GRADED, {}),
    ):
        assert import_file(campaign, kind, content, **options).state == "done"
    for tag, answers in CITING.items():
        assert import_file(campaign, "runs", judging_helpers.run_file(tag, answers), name=tag).state == "done"
    own = run_with_documents("team.own", "t2", {"d9": "Moths come to light."})
    assert import_file(campaign, "runs", [own], name="own", document_texts="own").state == "done"
    listed = "tag,team,task,type,priority,aliases,generator\nteam.one,team,RAG,automatic,1,one uno,openai meta\n"
    assert import_file(campaign, "run_list", listed).state == "done"
    assert import_file(campaign, "topics", "no topics\n").state == "refused"


def _give(condition: Condition, person: Person, *qids: str, reason: str = "") -> Task:
    topics = condition.campaign.topics.filter(qid__in=qids)
    given = give_tasks(
        campaign=condition.campaign,
        topics=list(topics),
        condition=condition,
        person=person,
        acting_user=None,
        reason=reason,
    )
    return given[0]


def _edit(task: Task) -> NuggetBank:
    """Make nuggets, merge and split some, take back and make again, note things, hand in, open and hand in again."""
    bank = NuggetBank.objects.get(task=task)
    fill(bank, (A, "purring heals", "vital"), (B, "cats purr when content", "vital"), (C, "kittens purr", "okay"))
    do(bank, on_nuggets.merge_nuggets, uids=[A, B], uid=D, text="purring heals the content")
    do(bank, on_nuggets.undo)
    do(bank, on_nuggets.redo)
    do(bank, on_nuggets.undo)
    do(bank, on_nuggets.attach_evidence, uid=A, evidence={"docid": "d1", "start": 0, "end": 4})
    do(bank, on_nuggets.set_note, uid=A, text="ask about this")
    do(bank, on_nuggets.mark_passage, docid="d1", is_read=True)
    do(bank, on_nuggets.finish_bank)
    bank.refresh_from_db()
    on_nuggets.reopen_bank(bank, reason="one is too long", acting_user=task.person)
    do(bank, on_nuggets.reword_nugget, uid=C, text="kittens purr too")
    do(bank, on_nuggets.finish_bank)
    return bank


def _assign(nuggets: Condition, bank: NuggetBank, anna: Person, ben: Person, olga: Person) -> None:
    """Have Anna label, and say that she can't; let Ben's second opinion count there; a nugget is left out."""
    condition = create_manual_assign(nuggets=nuggets, name="Manual/Manual", acting_user=olga)
    first = _give(condition, anna, "t1")
    as_anna, as_ben = client_of(anna), client_of(ben)
    [odd, *others] = all_judged(first)
    ids = nuggets_of(bank)
    for sheet in others:
        label_all(as_anna, sheet, "partial_support")
    assert send(as_anna, odd, "cannot", ids[0], reason="garbled").status_code == 200
    assert send(as_anna, odd, "flag", ids[1], note="odd").status_code == 200
    assert send(as_anna, odd, "mark", ids[1], marks="[[0, 0, 4]]").status_code == 200
    for label in ("partial_support", "support"):
        for nugget in ids[1:]:
            assert send(as_anna, odd, "label", nugget, label=label, seconds=4).status_code == 200
    question = {"task": first, "sheet": odd.pk, "item": str(ids[1]), "question": "odd"}
    note_read([reply(**question, text="Take it as it stands.", acting_user=olga)])
    assert sign_off(as_anna, first).status_code == 200
    second = label_again(of=condition, name="second", purpose="second", only_unjudgeable=True, acting_user=olga)
    given = _give(second, ben, "t1")
    [other] = [one for one in all_judged(given) if asked(one)]
    assert asked(other) == [ids[0]]
    assert send(as_ben, other, "label", ids[0], label="not_support").status_code == 200
    resolve_label(sheet=again(odd), nugget=ids[0], other=again(other), acting_user=olga)
    leave_out(condition=condition, nugget=bank.nuggets.get(pk=ids[2]), is_out=True, reason="unclear", acting_user=olga)
    dropped = others[-1].answer.run
    drop_run(condition=condition, run=dropped, is_out=True, reason="withdrawn", acting_user=olga)
    [left] = [one for one in all_judged(condition, in_or_out=True) if one.out_of_scope]
    assert left.labels
    later = condition.campaign.topics.get(qid="t2")
    [waits] = plan_work(condition=condition, topics=[later], person=anna, rule="1 per team", acting_user=olga).waiting
    assert waits.waits_for


def _judge_support(campaign: Campaign, anna: Person) -> None:
    """Have Anna judge a citation that others are equal to."""
    scratch = create_support(campaign=campaign, name="from scratch", shown=None, acting_user=None)
    task = _give(scratch, anna, "t1")
    sheet, key = next(
        (sheet, key)
        for sheet in all_judged(task)
        for key in judgeable(sheet)
        if key in equal_first(sheet) and key not in sheet.settled_elsewhere
    )
    reply(task=task, sheet=sheet.pk, item=key, question="cut off?", text="No.", acting_user=anna)
    reply(task=task, sheet=None, item="d1.2", question="in Latin?", text="Yes.", acting_user=anna)
    response = send(client_of(anna), sheet, "label", key, label="full", seconds=3)
    assert response.json()["equal"]


def _prefer(campaign: Campaign, anna: Person, olga: Person) -> None:
    """Have Anna say which answer is better, take it back, flag a pair, and say that she can't judge it."""
    task = _give(comparing.condition(campaign), anna, "t1")
    pair, *others = comparing.pairs_of(task)
    as_anna = client_of(anna)
    said = [("label", {"label": "1"}), ("label", {"label": ""}), ("flag", {"note": "odd"}), ("cannot", {"reason": "x"})]
    for verb, fields in said:
        assert comparing.send(as_anna, pair, verb, **fields).status_code == 200
    for other in others:
        assert comparing.send(as_anna, other, "label", label="2", seconds=3).status_code == 200
    reply(task=task, sheet=pair.pk, item=pair.item, question="odd", text="It is.", acting_user=olga)


def _ask(campaign: Campaign, nuggets: Condition, olga: Person) -> Job:
    """Have a model asked about all answers and all citations: it has answered once, and some labels came."""
    judge = create_judge(
        campaign=campaign,
        name=f"Mia of {campaign.slug}",
        parameters={"model": "mia", "temperature": 0.0, "max_tokens": 100, "limit_name": "max_tokens"},
        settings={"base_url": "http://127.0.0.1:9/v1", "price_in": Decimal("0.15"), "key_variable": "MIA_API_KEY"},
        acting_user=olga,
    )
    jobs = []
    for kind in ("Support", "AutoAssign"):
        plan = plan_job(
            kind=job_kind_named(kind),
            judge=judge,
            name="",
            qrels_source=None,
            topics=list(campaign.topics.order_by("qid")),
            nuggets=nuggets,
        )
        jobs.append(launch(plan, most_calls=None, most_cost=Decimal(3), acting_user=olga, to_workers=False))
    pause(job=jobs[0], acting_user=olga)
    job = jobs[1]
    call = Asked("0" * 64, 0, 0)
    reply = Reply("{}", "", "mia-1", 7, 9, "{}\n\u00e9", 12)
    record(judge, job, [Entry(job.units.order_by("pk")[0], "assignment", call, reply, "", None)])
    for sheet in sorted(all_judged(job.condition), key=lambda one: one.pk):
        change(sheet, {pk: {"label": "support"} for pk in asked(sheet)}, "labelled", job_id=job.pk)
    return job


def _draft(campaign: Campaign, olga: Person) -> None:
    """Let a model have drafted nuggets of t2."""
    drafted = model.make_condition(campaign.model_judges.get(), method="AutoNuggets+Edits")
    model.draft(drafted, campaign.topics.filter(qid="t2"), ["glass is melted", "glass is sorted"], [Cut(1, 3, 2)])


def _read(campaign: Campaign, olga: Person, ben: Person) -> None:
    """Let a model have read a document for a question, a report be written from it, and Ben edit another."""
    source = campaign.qrels_sources.get(name="NIST")
    plan = plan_job(
        kind=job_kind_named("Report"),
        judge=campaign.model_judges.get(),
        name="Read",
        qrels_source=source,
        nuggets=campaign.conditions.get(name="Asked"),
        topics=list(campaign.topics.filter(qid="t1")),
    )
    job = launch(plan, most_calls=None, most_cost=None, acting_user=olga, to_workers=False)
    said = {"part": 0, "extracted": "Cats purr.", "condensed": "Cats do purr.", "confidence": 7}
    pairs = [unit.item.split(" ", 1) for unit in job.units.order_by("pk")]
    store_readings(job, [(campaign.topics.get(qid="t1").pk, *pair, [said]) for pair in pairs])
    job.units.update(state="done")
    cancel(job=job, acting_user=olga)
    write_report(reports=job.condition, text="extractive", per_question=1, acting_user=olga)
    edits = create_edited_reports(drafts=job.condition, name="Read+Edits", acting_user=olga)
    edited = EditedReport.objects.get(task=_give(edits, ben, "t1"))
    with transaction.atomic():
        take_in(edited, uid=edited.sentences.earliest("pk").uid, is_verbatim=True, acting_user=ben, seen=0)
        undo(edited, acting_user=ben, seen=1)
        redo(edited, acting_user=ben, seen=2)


def _match(campaign: Campaign, olga: Person) -> None:
    """Match what people wrote with imported nuggets, and again without any match."""
    sides = {
        name: campaign.conditions.get(name=of)
        for name, of in (("nuggets", "ManualNuggets"), ("other_nuggets", "Frozen"))
    }
    condition = create_manual_matching(campaign=campaign, **sides, name="Matched", acting_user=olga)
    of = {"condition": condition, "topic": campaign.topics.get(qid="t1"), "acting_user": olga}
    match_by_person(**of, pairs={(0, 0)}, known=0)
    match_by_person(**of, pairs=set(), known=1)


def _try(campaign: Campaign) -> None:
    """Let a nugget be tried by somebody who edits its bank."""
    try_on(NuggetBank.objects.get(condition__name="Frozen", topic__qid="t1"))


def _look_for(campaign: Campaign) -> None:
    """Let one sentence state a nugget of an imported bank, and another none."""
    bank = NuggetBank.objects.get(condition__name="Frozen", topic__qid="t1")
    labels = campaign.conditions.get(name="from scratch")
    of = {"condition": candidates_condition(bank.condition, labels, "Candidates"), "edition": bank.editions.get()}
    of["answer"] = Answer.objects.filter(topic=bank.topic, apart=False, run__task="").earliest("pk")
    SentenceMatch.objects.create(**of, sentence=0, nugget=bank.nuggets.get())
    SentenceMatch.objects.create(**of, sentence=1)


def _compare(campaign: Campaign, models: Condition, olga: Person) -> None:
    """Compare people and the model, draw a study of where they differ, and import a table."""
    people = campaign.conditions.get(name="Manual/Manual")
    create_comparison(campaign=campaign, first=people, second=models, seed=7, draws=20, acting_user=olga)
    create_comparison(campaign=campaign, first=models, second=people, seed=8, draws=20, acting_user=olga)
    create_calibration(campaign=campaign, human=people, judged=models, acting_user=olga)
    umbrela = Condition(campaign=campaign, name="Graded", kind="relevance", method="UMBRELA", judge=models.judge)
    create_condition(umbrela, acting_user=olga)
    of = {"topic": campaign.topics.get(qid="t1"), "docid": "d1"}
    RelevanceJudgment.objects.create(condition=umbrela, value="3", state="given", version=1, judge=models.judge, **of)
    Grade.objects.create(source=umbrela.grades_made, grade=3, iteration="0", **of)
    source = campaign.qrels_sources.get(name="NIST")
    create_calibration(campaign=campaign, human=source, judged=umbrela, acting_user=olga)
    set_calibration_gate(CalibrationGate(campaign=campaign, least_kappa=Decimal("0.40")), acting_user=olga)
    draw = draw_topics(condition=people, number=1, seed=5, acting_user=olga)
    create_hybrid(campaign=campaign, human=people, model=models, draw=draw, acting_user=olga)
    other = auto_condition(models.nuggets, "Another model")
    ControlSet.objects.filter(pk=make_control_set(other, passes=2).pk).update(every_days=7)
    two = {"campaign": campaign, "members": [models, other]}
    panel = create_panel(**two, rule=Rule.MAJORITY, ties=Ties.PEOPLE, acting_user=olga)
    sides = {"first": models, "second": other, "panel": panel}
    Study.objects.create(campaign=campaign, name="open", kind=panel.kind, purpose="routing", seed=1, **sides)
    vary(models.nuggets)
    with NamedTemporaryFile("w") as table:
        table.write(TABLE)
        table.flush()
        import_table(campaign=campaign, name="table", path=Path(table.name), file_name="table.csv", acting_user=olga)
    purpose = Study.Purpose.DISAGREEMENT
    study = draw_study(
        campaign=campaign, name="who is right", purpose=purpose, first=people, second=models, seed=3, acting_user=olga
    )
    purpose = Study.Purpose.REJUDGING
    again = draw_study(
        campaign=campaign, name="again", purpose=purpose, first=people, second=models, seed=3, acting_user=olga
    )
    let_people_judge(study=again, name="judges again", acting_user=olga)
    fields = {"title": "a study", "sample": "all", "stopping_rule": "at the end", "measures": ["V"]}
    register_study(
        campaign=campaign, fields=fields | {"hypotheses": ["τ is 1."], "conditions": ["later"]}, acting_user=olga
    )
    define_code(campaign=campaign, code="vague", meaning="The nugget is vague.", acting_user=olga)
    code_item(drawn=study.drawn.order_by("pk")[0], codes=["vague"], note="so", seen=0, acting_user=olga)
    let_people_judge(study=study, name="judge", acting_user=olga)


def written(campaign: Campaign) -> bytes:
    """Return a campaign's archive."""
    return b"".join(CampaignArchive(campaign))


def exported(campaign: Campaign) -> dict[str, str]:
    """Return all nuggets and labels of a campaign as files."""
    lines_of = {"nuggets": condition_lines, "assignment": assignment_lines, "support": support_lines}
    lines_of["argue"] = judgment_lines
    conditions = Condition.objects.filter(campaign=campaign).order_by("name")
    return {
        condition.name: "".join(lines_of[condition.kind](condition))
        for condition in conditions
        if condition.kind in lines_of
    }


def forget_everything() -> None:
    """Remove all records that archives may have: the keys of new ones go on from where these ended."""
    Person.groups.through._base_manager.all()._raw_delete(connection.alias)
    for kept in reversed(KEPT):
        kept.model._base_manager.all()._raw_delete(connection.alias)
