"""A campaign in scripts other than Latin, and work in it, for tests/browser/test_pages.py.

`manage.py shell -c "from tests.browser.world import load; load()"` makes it in a demo and prints the addresses.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

from django.urls import reverse

from assessor.accounts.models import Person
from assessor.campaigns.actions import add_member, create_campaign
from assessor.campaigns.condition_kind import kind_of
from assessor.campaigns.models import Campaign, Condition, Role
from assessor.exports.actions import ask_for
from assessor.exports.registry import BY_NAME
from assessor.imports.management.import_command import import_file
from assessor.llm.actions import cancel, launch, plan_job
from assessor.llm.job_kind import job_kind_named
from assessor.preference.actions import create_preference
from assessor.relevance.actions import create_relevance
from assessor.studies.actions import create_panel, register_study
from assessor.work.actions import give_tasks
from assessor.work.actions.guidelines import in_force, open_guidelines
from assignment.actions import create_manual_assign
from assignment.grading.label_kind import GRADING
from metaeval.actions import create_hybrid
from metaeval.stats.panels import Rule
from nuggets.actions import create_manual_nuggets
from nuggets.actions.drafts import store_drafting
from nuggets.drafting import Step
from nuggets.questions.condition_kind import QUESTIONS
from nuggets.reports.actions import create_edited_reports, store_readings
from nuggets.reports.models import EditedReport
from support.actions import create_support
from tests.assignment.inherited import inherit
from tests.assignment.scored import auto_condition, label_canaries, vary
from tests.candidates.model import look_for_all
from tests.matching.model import match_all
from tests.notices.records import make_webhook
from tests.nuggets.model import make_condition, make_job, make_model
from tests.studies.control import make_control_set

ARABIC, HEBREW, CHINESE, EMOJI = "ar", "he", "zh", "emoji"
# By docid: title, and a text whose sentences end as they do in that script.
TEXTS = {
    ARABIC: ("لماذا تخرخر القطط", "تخرخر القطط عندما تكون راضية (و3 مرات أكثر في الليل). بعضها يخرخر من الألم!"),
    HEBREW: ("חתולים מגרגרים", "חתולים מגרגרים כשהם מרוצים. חלקם מגרגרים מכאב, כ-25 הרץ."),
    CHINESE: ("猫为什么打呼噜", "猫在满足时会发出呼噜声。有些猫在疼痛时也会打呼噜。频率约为25赫兹。"),
    EMOJI: ("Cats 👩🏽‍🔬 say", "The vet 👩🏽‍⚕️ says so. Families 👨‍👩‍👧‍👦 in 🇫🇷 agree, zu 100 % — naïvely."),
}
TOPIC = "لماذا تخرخر القطط (cats)؟"
# Of the nuggets the first two differ by vowel signs alone, the next two by an ideographic full stop.
NUGGETS = [
    "القطط تخرخر",
    "القِطَط تُخَرخِر",
    "猫会打呼噜",
    "猫会打呼噜。",
    "חתולים מגרגרים מכאב (לעתים)",
    "the vet 👩🏽‍⚕️ agrees 👨‍👩‍👧‍👦",
]
QUESTIONS_ASKED = {
    question: {
        "question": question,
        "answers": {answer: {"answer": answer, "references": [{"doc_id": ARABIC}]}},
        "aggregator_type": "OR",
        "importance": "vital",
    }
    for question, answer in (("لماذا تخرخر القطط؟", "عندما تكون راضية"), ("猫为什么打呼噜", "在满足时"))
}


def load() -> None:
    """Make the campaign of Olga, give Anna its work and Ben its grading, and print the addresses by kind as JSON."""
    olga, anna, ben = (Person.objects.get(username=name) for name in ("olga", "anna", "ben"))
    campaign = create_campaign(name="العالم 世界", slug="world", acting_user=olga)
    for person in (anna, ben):
        add_member(campaign=campaign, person=person, role=Role.ASSESSOR, acting_user=olga)
    docids = list(TEXTS)
    sentences = [[text, []] for title, text in TEXTS.values()]
    files: list[tuple[str, list[Any] | str, dict[str, str]]] = [
        ("topics", f"w\t{TOPIC}\n", {}),
        ("segments", [{"docid": d, "title": title, "segment": text} for d, (title, text) in TEXTS.items()], {}),
        ("qrels", "".join(f"w 0 {docid} 3\n" for docid in docids), {"source": "people", "by": "people"}),
        ("retrieval", "".join(f"w Q0 {docid} {at} {9 - at} found\n" for at, docid in enumerate(docids, 1)), {}),
        (
            "runs",
            [
                {
                    "run_id": "run",
                    "topic_id": "w",
                    "references": docids,
                    "answer": [{"text": text, "citations": [at]} for at, (text, _) in enumerate(sentences)],
                }
            ],
            {},
        ),
        (
            "nuggets",
            [{"query": TOPIC, "qid": "w", "nuggets": [{"text": text, "importance": "vital"} for text in NUGGETS]}],
            {"condition": "theirs", "by": "people"},
        ),
        (
            "nuggets",
            [{"query": TOPIC, "qid": "w", "nuggets": [{"text": NUGGETS[0], "importance": "okay"}, {"text": TOPIC}]}],
            {"condition": "others", "by": "people"},
        ),
        (
            "questions",
            [{"query_id": "w", "title_query": TOPIC, "format_version": "v3", "nugget_bank": QUESTIONS_ASKED}],
            {"condition": "their questions", "by": "people"},
        ),
    ]
    for kind, content, options in files:
        with tempfile.NamedTemporaryFile("w", suffix=f".{kind}", encoding="utf-8") as file:
            file.write(content if isinstance(content, str) else "".join(json.dumps(line) + "\n" for line in content))
            file.flush()
            done = import_file(campaign, kind, Path(file.name), options=options, person=olga)
        assert done.state == "done", done.report
    by: dict[str, Any] = {"acting_user": olga}
    conditions: list[Condition] = [
        create_manual_nuggets(
            campaign=campaign, name="ناگت", qrels_source=campaign.qrels_sources.get(name="people"), **by
        ),
        create_manual_nuggets(
            campaign=campaign,
            name="أسئلة",
            qrels_source=campaign.qrels_sources.get(name="people"),
            kind=QUESTIONS,
            **by,
        ),
        create_manual_assign(nuggets=campaign.conditions.get(name="theirs"), name="الإسناد", **by),
        create_manual_assign(
            nuggets=campaign.conditions.get(name="their questions"), name="الدرجات", kind=GRADING, **by
        ),
        create_support(campaign=campaign, name="תמיכה", shown=None, **by),
        create_relevance(campaign=campaign, name="相关性", shown=None, from_queue=False, **by),
    ]
    addresses = {}
    for condition in conditions:
        kind = condition.kind
        person = ben if kind == "relevance" else anna  # the editor showed Anna grades
        open_guidelines(campaign=campaign, kind=kind, version=in_force(campaign, kind).version, acting_user=person)
        [task] = give_tasks(
            campaign=campaign, topics=list(campaign.topics.all()), condition=condition, person=person, **by
        )
        addresses[kind] = kind_of(task).url(task)
    print(json.dumps({"work": addresses, "pages": _pages_in_other_states(campaign, olga)}))  # noqa: T201


def _pages_in_other_states(campaign: Campaign, olga: Person) -> list[str]:
    """Have a model draft nuggets that somebody edits, and make what the demo has none of.

    Return the organizer's pages of these.
    """
    carl = Person.objects.create_user("carl")
    add_member(campaign=campaign, person=carl, role=Role.ASSESSOR, acting_user=olga)
    topic = campaign.topics.get()
    condition = make_condition(make_model(campaign), source="people", name="مسودات")
    store_drafting(make_job(condition, [topic]), topic.pk, [Step(list(TEXTS), NUGGETS)], [])
    [task] = give_tasks(campaign=campaign, topics=[topic], condition=condition, person=carl, acting_user=olga)
    export = ask_for(campaign=campaign, kind=BY_NAME["topics"], options={"form": "tsv"}, acting_user=olga)
    words = {name: ["القطط"] for name in ("hypotheses", "conditions", "measures")}
    fields = {"title": "猫", "sample": "all", "stopping_rule": "none", **words}
    registration = register_study(campaign=campaign, fields=fields, acting_user=olga)
    people = Condition.objects.get(campaign__slug="demo", name="Reference/Manual")
    [model, *_] = people.campaign.conditions.filter(nuggets=people.nuggets, judge__kind="model")
    hybrid = create_hybrid(campaign=people.campaign, human=people, model=model, acting_user=olga)
    twin = Condition.objects.create(
        **{name: getattr(model, name) for name in ("campaign", "kind", "method", "nuggets", "judge", "protocol")},
        name="Twin",
        replicate=9,
    )
    of_panel = {"campaign": people.campaign, "members": [model, twin], "rule": Rule.UNANIMOUS}
    panel = create_panel(**of_panel, acting_user=olga)
    supported = people.campaign.conditions.filter(kind="support").order_by("pk")[0]
    lacking = look_for_all(people.campaign, people.nuggets.name, supported.name, "候選")
    asked = lacking.sentence_matches.earliest("pk").answer.topic_id
    matched = match_all(campaign, "theirs", "others", "متطابقة")
    misled = label_canaries(auto_condition(campaign.conditions.get(name="theirs"), "إسناد آلي"))
    old = inherit(campaign, [topic], ("نقطة من 2019", "نقطة أخرى"), "سابق")
    return [
        reverse("editions", args=[campaign.slug, old.pk]) + f"?topic={topic.qid}",
        reverse("canaries", args=[campaign.slug, misled.pk]),
        reverse("webhooks", args=[make_webhook(campaign, "stopped").campaign.slug]),
        reverse("registration", args=[campaign.slug, registration.pk]),
        reverse("hybrid", args=["demo", hybrid.pk]),
        reverse("panel", args=["demo", panel.pk]),
        reverse("matched_banks", args=[campaign.slug, matched.pk]),
        reverse("matched_topic", args=[campaign.slug, matched.pk, topic.pk]),
        reverse("trial_setting", args=[campaign.slug, condition.pk]),
        reverse("candidates", args=["demo", lacking.pk]),
        reverse("topic_candidates", args=["demo", lacking.pk, asked]),
        reverse("sensitivity", args=["demo", vary(people.nuggets).pk]),
        reverse("control_set", args=["demo", make_control_set(model, "對照", passes=3).pk]),
        reverse("nugget_drafts", args=[task.nugget_bank.pk]),
        reverse("condition_drafts", args=[campaign.slug, condition.pk]),
        reverse("export", args=[campaign.slug, export.pk]),
    ]


def load_drafts() -> None:
    """Give Anna eight drafts to edit on a topic of the demo, and print the key of her bank."""
    campaign = Campaign.objects.get(slug="demo")
    anna, olga = (Person.objects.get(username=name) for name in ("anna", "olga"))
    topic = campaign.topics.get(qid="demo-6")
    condition = make_condition(make_model(campaign), source="People")
    texts = [f"Beavers build dams of kind {number}" for number in range(8)]
    store_drafting(make_job(condition, [topic]), topic.pk, [Step([], texts)], [])
    [task] = give_tasks(campaign=campaign, topics=[topic], condition=condition, person=anna, acting_user=olga)
    open_guidelines(campaign=campaign, kind="nuggets", version=in_force(campaign, "nuggets").version, acting_user=anna)
    print(task.nugget_bank.pk)  # noqa: T201


def give_report() -> None:
    """Give Anna a report to edit on a topic of the demo, with two sentences for each question, and print its key."""
    campaign = Campaign.objects.get(slug="demo")
    anna, olga = (Person.objects.get(username=name) for name in ("anna", "olga"))
    topic = campaign.topics.get(qid="demo-6")
    asked = [{"question": question, "answers": {}} for question in ("What do they build?", "Why?", "When?")]
    bank = {"query_id": topic.qid, "title_query": topic.title, "nugget_bank": {one["question"]: one for one in asked}}
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        file.write(json.dumps(bank | {"format_version": "v3"}) + "\n")
        file.flush()
        options = {"condition": "Asked of reports", "by": "people"}
        done = import_file(campaign, "questions", Path(file.name), options=options, person=olga)
    assert done.state == "done", done.report
    job = launch(
        plan_job(
            kind=job_kind_named("Report"),
            judge=make_model(campaign),
            name="Found for reports",
            qrels_source=campaign.qrels_sources.get(name="People"),
            nuggets=campaign.conditions.get(name="Asked of reports"),
            topics=[topic],
        ),
        most_calls=None,
        most_cost=None,
        acting_user=olga,
        to_workers=False,
    )
    cancel(job=job, acting_user=olga)
    readings = []
    for number, unit in enumerate(job.units.order_by("pk")):
        question, docid = unit.item.split(" ", 1)
        text = campaign.segments.get(docid=docid).text
        said = {"part": 0, "extracted": text.split(". ")[0], "condensed": f"Sentence {number}.", "confidence": 9}
        readings.append((topic.pk, question, docid, [said]))
    store_readings(job, readings)
    condition = create_edited_reports(drafts=job.condition, name="Reports by people", acting_user=olga)
    [task] = give_tasks(campaign=campaign, topics=[topic], condition=condition, person=anna, acting_user=olga)
    version = in_force(campaign, condition.kind).version
    open_guidelines(campaign=campaign, kind=condition.kind, version=version, acting_user=anna)
    print(EditedReport.objects.get(task=task).pk)  # noqa: T201


def give_questions() -> None:
    """Give Anna the questions of a topic of the demo to write, and print the key of her bank."""
    campaign = Campaign.objects.get(slug="demo")
    anna, olga = (Person.objects.get(username=name) for name in ("anna", "olga"))
    topic, source = campaign.topics.get(qid="demo-6"), campaign.qrels_sources.get(name="People")
    condition = create_manual_nuggets(
        campaign=campaign, name="Questions", qrels_source=source, kind=QUESTIONS, acting_user=olga
    )
    [task] = give_tasks(campaign=campaign, topics=[topic], condition=condition, person=anna, acting_user=olga)
    version = in_force(campaign, condition.kind).version
    open_guidelines(campaign=campaign, kind=condition.kind, version=version, acting_user=anna)
    print(task.nugget_bank.pk)  # noqa: T201


def give_pairs() -> None:
    """Give Anna the answers to a topic of the demo to compare, and print the address."""
    campaign = Campaign.objects.get(slug="demo")
    anna, olga = (Person.objects.get(username=name) for name in ("anna", "olga"))
    condition = create_preference(campaign=campaign, name="Preferences by people", acting_user=olga)
    topic = campaign.topics.get(qid="demo-6")
    [task] = give_tasks(campaign=campaign, topics=[topic], condition=condition, person=anna, acting_user=olga)
    version = in_force(campaign, condition.kind).version
    open_guidelines(campaign=campaign, kind=condition.kind, version=version, acting_user=anna)
    print(kind_of(task).url(task))  # noqa: T201
