"""How long scoring conditions of a track's size takes, and how much memory.

    python -m bench.scores [--scale 0.1] [--keep FOLDER] [--database URL]

A track with 146 runs and 301 topics gets a condition with 19 nuggets a topic and a label of each in each answer, one
with 20 questions a topic and a grade of each in each answer, one with a label of each citation of each answer, and one
in which each answer is judged sentence by sentence. Then processes of their own read all labels of nuggets with a plain
SELECT into a list; load and score them; ask whether a table that is kept is still the newest; open the page of the
scores; write the score tables in all forms; export all labels, by the admin's action and by the API too; do the same of
grades; and load and score support and reports. The peak memory of each is told beside that of one that only starts.
Scoring or exporting over its limits fails it.
"""

import json
import random
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bench import house, track

if TYPE_CHECKING:
    from django.test import Client

    from assessor.campaigns.models import Campaign, Condition, Judge, Topic


class Items(NamedTuple):
    """What has a label in each answer. name, file: of its condition, and what its files are imported as.

    kind: of the condition of the labels, with its name, its method, what their files are imported and exported as, and
    out of 100 how often each label is given.
    """

    name: str
    file: str
    of_topic: int
    kind: str
    labels_name: str
    method: str
    labels_file: str
    labels: tuple[str, ...]
    weights: tuple[int, ...]


NUGGETS = Items(
    name="Nuggets",
    file="nuggets",
    of_topic=19,
    kind="assignment",
    labels_name="Labels",
    method="AutoAssign",
    labels_file="assignments",
    labels=("support", "partial_support", "not_support"),
    weights=(35, 5, 60),
)
QUESTIONS = Items(
    name="Questions",
    file="questions",
    of_topic=20,
    kind="grading",
    labels_name="Grades",
    method="AutoGrade",
    labels_file="question_grades",
    labels=("0", "1", "2", "3", "4", "5"),
    weights=(40, 10, 10, 15, 15, 10),
)
ALL_ITEMS = {items.kind: items for items in (NUGGETS, QUESTIONS)}
SUPPORT_NAME, REPORTS_NAME = "Support", "Reports"
REFERENCES = 40  # of each gold answer, among what reports on its topic cite
LIMIT, SUPPORT_LIMIT, REPORTS_LIMIT = 4, 10, 30  # seconds
PAGE_LIMIT = 0.1  # seconds, once its scores are kept
MEMORY_LIMIT = 500  # MiB
EXPORT_TIME_LIMIT = 40  # seconds
EXPORT_MEMORY_LIMIT = 50  # MiB more than a process that only starts: nothing grows with the labels
_SUPPORT_LABELS, _SUPPORT_WEIGHTS = ("full", "partial", "none", "not judged"), (43, 25, 30, 2)


def build(folder: Path, scale: float) -> None:
    """Fill an empty database with the track, and conditions in which all items and all citations have labels."""
    campaign = load(folder, scale)
    for items in ALL_ITEMS.values():
        label(campaign, items)
    judge_support(campaign)
    judge_reports(campaign, folder)


def load(folder: Path, scale: float) -> "Campaign":
    """Fill an empty database with the track, and finished nuggets and questions for each topic; return the campaign."""
    campaign = house.new_campaign()
    for part in track.write(folder / "track", scale):
        if part.kind in ("topics", "runs", "run_list"):
            house.load(campaign, part)
    for items in ALL_ITEMS.values():
        add_items(campaign, folder, items)
    return campaign


def add_items(campaign: "Campaign", folder: Path, items: Items = NUGGETS) -> None:
    """Import finished nuggets or questions for each topic."""
    path = folder / f"{items.file}.jsonl"
    bank = _questions if items is QUESTIONS else _nuggets
    language = track.Language(random.Random(19))
    lines = (json.dumps(bank(topic, language)) + "\n" for topic in campaign.topics.order_by("qid"))
    path.write_text("".join(lines), encoding="utf-8")
    house.load(campaign, track.Part(items.file, path, {"condition": items.name, "by": "people"}, 0))


def _nuggets(topic: "Topic", language: track.Language) -> dict[str, Any]:
    nuggets = [
        {"text": f"{language.phrase(8)} {place}", "importance": "okay" if place % 3 else "vital"}
        for place in range(NUGGETS.of_topic)
    ]
    return {"query": topic.title, "qid": topic.qid, "nuggets": nuggets}


def _questions(topic: "Topic", language: track.Language) -> dict[str, Any]:
    texts = [f"how is {language.phrase(7)} {place}?" for place in range(QUESTIONS.of_topic)]
    questions = {text: {"question": text, "answers": None} for text in texts}
    return {"query_id": topic.qid, "title_query": topic.title, "format_version": "v3", "nugget_bank": questions}


def label(
    campaign: "Campaign",
    items: Items = NUGGETS,
    *,
    name: str = "",
    seed: int = 830,
    topics: int | None = None,
    by: "Judge | None" = None,
) -> "Condition":
    """Make a condition and its answer sheets, as rows, with labels by chance. name: if not the labels' own.

    topics: how many have labels; by: who gave them elsewhere, if not a model here.
    """
    from django.db import transaction

    from assessor.campaigns.actions import create_condition
    from assessor.campaigns.models import Answer, Condition, Judge
    from assignment.actions.judged_answers import add_sheets, sheet_row
    from nuggets.queries import nuggets_in_order

    judge = by or Judge.objects.create(kind="model", name=f"made up {name or items.labels_name}")
    condition = create_condition(
        Condition(
            campaign=campaign,
            name=name or items.labels_name,
            kind=items.kind,
            method=Condition.IMPORTED if by else items.method,
            nuggets=campaign.conditions.get(name=items.name),
            judge=judge,
        ),
        acting_user=None,
    )
    chance = random.Random(seed)
    for bank in condition.nuggets.nugget_banks.all()[:topics]:
        asked = [nugget.pk for nugget in nuggets_in_order(bank)]
        with transaction.atomic():
            add_sheets(
                sheet_row(
                    condition=condition.pk,
                    bank=bank.pk,
                    answer=answer,
                    judge=judge.pk,
                    edition=1,
                    nuggets=asked,
                    labels=dict(zip(asked, chance.choices(items.labels, items.weights, k=len(asked)), strict=True)),
                )
                for answer in Answer.objects.filter(topic=bank.topic_id).values_list("pk", flat=True)
            )
    return condition


def judge_support(campaign: "Campaign") -> None:
    """Make a condition and its support sheets, with a label of every citation."""
    from django.db import transaction

    from assessor.campaigns.actions import create_condition
    from assessor.campaigns.models import Answer, Condition, Judge
    from assessor.labels.new_sheets import SheetRow
    from support.actions import add_sheets, sheet_row
    from support.citations import judged_citations

    judge = Judge.objects.create(kind="model", name="made up too")
    condition = Condition(campaign=campaign, name=SUPPORT_NAME, kind="support", method="support automatic", judge=judge)
    create_condition(condition, acting_user=None)
    chance = random.Random(2504)

    def row(answer: Answer) -> SheetRow:
        asked = judged_citations(answer.sentences(), 20)
        said = chance.choices(_SUPPORT_LABELS, _SUPPORT_WEIGHTS, k=len(asked))
        labels = dict(zip(asked, said, strict=True))
        return sheet_row(condition=condition.pk, answer=answer.pk, judge=judge.pk, asked=asked, labels=labels)

    for topic in campaign.topics.order_by("pk"):
        with transaction.atomic():
            add_sheets(map(row, Answer.objects.filter(topic=topic).order_by("pk")))


def judge_reports(campaign: "Campaign", folder: Path) -> None:
    """Make questions with gold answers that refer to what is cited, and a condition with all judgments of reports."""
    from django.db import transaction

    from assessor.campaigns.actions import create_condition
    from assessor.campaigns.models import Answer, Condition, Judge
    from assignment.argue.actions import add_sheets, keys_of, sheet_row
    from assignment.argue.items import bank_of
    from nuggets.queries import present_editions

    chance = random.Random(19)
    path = folder / "gold.jsonl"
    with path.open("w", encoding="utf-8") as out:
        for topic in campaign.topics.order_by("qid"):
            references = Answer.objects.filter(topic=topic).order_by("pk").values_list("references", flat=True)
            cited = sorted({docid for of_answer in references for docid in of_answer})
            bank = _questions(topic, track.Language(chance))
            for question in bank["nugget_bank"].values():
                among = chance.sample(cited, min(REFERENCES, len(cited)))
                gold = {"answer": "so it is", "references": [{"doc_id": docid} for docid in among]}
                question["answers"] = {"so it is": gold}
            out.write(json.dumps(bank) + "\n")
    house.load(campaign, track.Part("questions", path, {"condition": "Gold", "by": "people"}, 0))
    judge = Judge.objects.create(kind="model", name="made up three")
    nuggets = campaign.conditions.get(name="Gold")
    condition = Condition(
        campaign=campaign, name=REPORTS_NAME, kind="argue", method="AutoArgue", judge=judge, nuggets=nuggets
    )
    condition = create_condition(condition, acting_user=None)
    banks = list(nuggets.nugget_banks.select_related("topic"))
    editions = present_editions(banks)
    for bank in banks:
        asked, keys = bank_of(editions[bank.pk].nuggets, condition.protocol), keys_of(editions[bank.pk].nuggets)
        rows = []
        for answer in Answer.objects.filter(topic=bank.topic_id).order_by("pk"):
            sentences = list(answer.sentences())
            labels: dict[str, str] = {}
            while new := [item.key for item in asked.items(sentences, labels) if item.key not in labels]:
                labels |= dict(zip(new, chance.choices(("yes", "no"), (60, 40), k=len(new)), strict=True))
            items = asked.items(sentences, labels)
            of_all = {"condition": condition.pk, "bank": bank.pk, "judge": judge.pk, "edition": 1, "cut": 0}
            rows.append(sheet_row(answer=answer.pk, items=items, nuggets=keys, labels=labels, **of_all))
        with transaction.atomic():
            add_sheets(rows)


def nothing() -> int:
    """Only start."""
    return 0


def select(items: Items) -> int:
    """Read all labels with a plain SELECT into a list; return how many rows there are."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT s.bank_id, a.run_id, a.words, l.nugget_id, l.value FROM assignment_assignment l"
            " JOIN assignment_answersheet s ON s.id = l.sheet_id JOIN campaigns_answer a ON a.id = s.answer_id"
            " JOIN campaigns_condition c ON c.id = s.condition_id WHERE c.name = %s",
            [items.labels_name],
        )
        return len(cursor.fetchall())


def score(items: Items) -> int:
    """Load and score the condition; return how many cells there are."""
    from assessor.scores.score_source import scoring_of
    from assessor.scores.tables import score_table
    from metaeval.stats.means import Policy

    found = scoring_of(items.kind).load(_condition(items.labels_name))
    score_table(found, Policy.ZERO)
    return int(found.states.size)


def support() -> int:
    """Load and score the support of sentences; return how many citations there are."""
    from assessor.scores.tables import score_table
    from metaeval.stats.means import Policy
    from support.score_arrays import load_scores

    found = load_scores(_condition(SUPPORT_NAME))
    score_table(found, Policy.ZERO)
    return sum(topic.citations for topic in found.topics)


def reports() -> int:
    """Load and score judged reports; return how many judgments there are."""
    from assessor.scores.score_source import scoring_of

    return len(scoring_of("argue").load_with_labels(_condition(REPORTS_NAME))[1].code)


def look(items: Items) -> int:
    """Take the scores that are kept, as a page does that is asked for again."""
    from assessor.scores.cache import condition_scores

    return int(condition_scores(_condition(items.labels_name)).states.size)


def page(items: Items) -> int:
    """Open the page of the scores; return its bytes."""
    return _page(items.labels_name)


def _page(name: str) -> int:
    condition = _condition(name)
    response = _organizer(condition).get(f"/campaigns/{condition.campaign.slug}/scores/", {"condition": condition.pk})
    assert response.status_code == 200, response
    return len(response.content)


def write(items: Items) -> int:
    """Write the score tables in all forms; return how many lines they have."""
    from assessor.scores.leaderboards import FORMS, score_lines
    from metaeval.stats.means import Policy

    condition = _condition(items.labels_name)
    return sum(sum(1 for _ in score_lines(condition, form, Policy.ZERO)) for form in FORMS)


def export(items: Items) -> int:
    """Export all labels in the field's form; return how many lines that are."""
    from assessor.exportables import Chosen
    from assessor.exports.registry import BY_NAME

    condition = _condition(items.labels_name)
    return sum(1 for _ in BY_NAME[items.labels_file].lines(Chosen(condition.campaign, condition, "jsonl")))


def by_admin(items: Items) -> int:
    """Export all labels by the action of Django's admin; return how many lines are sent."""
    from assessor.accounts.models import Person

    root = Person.objects.filter(username="root").first() or house.person("root", "administrator")
    asked = {"action": f"export_{items.labels_file}", "_selected_action": [_condition(items.labels_name).pk]}
    return _sent(house.client(root).post("/admin/campaigns/condition/", asked))


def by_api(items: Items) -> int:
    """Read all labels by the API, as JSON Lines; return how many there are."""
    from django.test import Client

    from assessor.api.actions import create_token

    condition = _condition(items.labels_name)
    person = condition.campaign.created_by
    secret = create_token(person=person, name="bench", expires_at=None, acting_user=None).secret
    headers = {"Authorization": f"Bearer {secret}", "Accept": "application/jsonl"}
    address = f"/api/v1/campaigns/{condition.campaign.slug}/conditions/{condition.pk}/{items.labels_file}"
    return _sent(Client(SERVER_NAME="localhost").get(address, headers=headers))


def _sent(response: Any) -> int:
    assert response.streaming, response.content
    return sum(chunk.count(b"\n") for chunk in response.streaming_content)


def _condition(name: str) -> "Condition":
    from assessor.campaigns.models import Condition

    return Condition.objects.select_related("judge", "nuggets__judge").get(name=name)


_clients: "list[Client]" = []


def _organizer(condition: "Condition") -> "Client":
    """Return the organizer's browser, signed in once."""
    from assessor.accounts.models import Person

    if not _clients:
        _clients.append(house.client(Person.objects.get(pk=condition.campaign.created_by_id)))
    return _clients[0]


_OF_ITEMS: dict[str, Callable[[Items], int]] = {
    "select": select,
    "score": score,
    "look": look,
    "page": page,
    "write": write,
    "export": export,
    "admin": by_admin,
    "api": by_api,
}
STEPS: dict[str, Callable[[], int]] = {
    "start": nothing,
    **{f"{kind} {name}": partial(do, items) for kind, items in ALL_ITEMS.items() for name, do in _OF_ITEMS.items()},
    "support": support,
    "reports": reports,
    "reports page": partial(_page, REPORTS_NAME),
}


class Figures(NamedTuple):
    """What a step took: seconds the first and the second time, CPU seconds of the first, peak in MiB."""

    found: int
    first: float
    cpu: float
    second: float
    peak: float


def carry_out(step: str) -> Figures:
    """Do a step twice; the first time the database's files may have to be read. Runs in a process of its own."""
    import django

    django.setup()
    took, cpu = [], []
    for _ in range(2):
        start, worked = time.perf_counter(), time.process_time()
        found = STEPS[step]()
        took.append(time.perf_counter() - start)
        cpu.append(time.process_time() - worked)
    return Figures(found, took[0], cpu[0], took[1], house.peak())


def main() -> None:
    chosen = house.arguments("Measure the scoring of a condition of a track's size.", STEPS).parse_args()
    if chosen.step:
        print(json.dumps(carry_out(chosen.step)))
        return
    house.measure(chosen, build, report)


def report() -> int:
    """Measure and print everything; return how many figures are over their limits."""
    print(f"{'step':17} {'found':>8} {'first s':>8} {'CPU s':>8} {'again s':>8} {'peak MiB':>9}")
    found: dict[str, Figures] = {}
    for step in STEPS:
        found[step] = figures = Figures(*house.in_a_process("bench.scores", step))
        seconds = f"{figures.first:8.2f} {figures.cpu:8.2f} {figures.second:8.2f}"
        print(f"{step:17} {figures.found:8,} {seconds} {figures.peak:9.0f}", flush=True)
    limits = [
        ("support", "s", found["support"].first, SUPPORT_LIMIT),
        ("support", "MiB", found["support"].peak, MEMORY_LIMIT),
        ("reports", "s", found["reports"].first, REPORTS_LIMIT),
        ("reports", "MiB", found["reports"].peak, MEMORY_LIMIT),
        ("reports page again", "s", found["reports page"].second, PAGE_LIMIT),
    ]
    for kind in ALL_ITEMS:
        scored, plain = found[f"{kind} score"], found[f"{kind} select"]
        print(f"{kind}: scoring takes {scored.second / plain.second:.1f} times a plain SELECT into a list")
        limits += [
            (f"{kind} score", "s", scored.first, LIMIT),
            (f"{kind} score", "MiB", scored.peak, MEMORY_LIMIT),
            (f"{kind} page again", "s", found[f"{kind} page"].second, PAGE_LIMIT),
            (f"{kind} export", "s", found[f"{kind} export"].first, EXPORT_TIME_LIMIT),
        ]
        for way in ("export", "admin", "api"):
            more = found[f"{kind} {way}"].peak - found["start"].peak
            limits.append((f"{kind} {way}", "MiB more than at the start", more, EXPORT_MEMORY_LIMIT))
    for what, unit, figure, limit in limits:
        print(f"{what}: {figure:.2f} {unit}, limit {limit}{' OVER' if figure > limit else ''}")
    return sum(figure > limit for _, _, figure, limit in limits)


if __name__ == "__main__":
    main()
