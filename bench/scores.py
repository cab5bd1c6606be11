"""How long scoring conditions of a track's size takes, and how much memory.

    python -m bench.scores [--scale 0.1] [--keep FOLDER] [--database URL]

A track with 146 runs and 301 topics gets a condition with 19 nuggets a topic and a label of each in each answer, and
one with a label of each citation of each answer. Then processes of their own read all labels of nuggets with a plain
SELECT into a list; load and score the nuggets; ask whether a table that is kept is still the newest; write the score
tables in all forms; export all labels of nuggets, by the admin's action and by the API too; and load and score support.
The peak memory of each is told beside that of one that only starts. Scoring or exporting over its limits fails it.
"""

import argparse
import json
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bench import house, track

if TYPE_CHECKING:
    from assessor.campaigns.models import Campaign, Condition

NUGGETS = 19  # of a topic
NUGGETS_NAME, LABELS_NAME, SUPPORT_NAME = "Nuggets", "Labels", "Support"
LIMITS = {"score": 4, "support": 10}  # seconds
MEMORY_LIMIT = 500  # MiB
EXPORT_TIME_LIMIT = 40  # seconds
EXPORT_MEMORY_LIMIT = 50  # MiB more than a process that only starts: nothing grows with the labels
_LABELS = ("support", "partial_support", "not_support")
_WEIGHTS = (35, 5, 60)
_SUPPORT_LABELS, _SUPPORT_WEIGHTS = ("full", "partial", "none", "not judged"), (43, 25, 30, 2)


def build(folder: Path, scale: float) -> None:
    """Fill an empty database with the track, and conditions in which all nuggets and all citations have labels."""
    campaign = load(folder, scale)
    label(campaign)
    judge_support(campaign)


def load(folder: Path, scale: float) -> "Campaign":
    """Fill an empty database with the track and finished nuggets for each topic; return the campaign."""
    campaign = house.new_campaign()
    for part in track.write(folder / "track", scale):
        if part.kind in ("topics", "runs", "run_list"):
            house.load(campaign, part)
    add_nuggets(campaign, folder)
    return campaign


def add_nuggets(campaign: "Campaign", folder: Path) -> None:
    """Import finished nuggets for each topic."""
    path = folder / "nuggets.jsonl"
    path.write_text("".join(_nuggets(campaign)), encoding="utf-8")
    house.load(campaign, track.Part("nuggets", path, {"condition": NUGGETS_NAME, "by": "people"}, 0))


def _nuggets(campaign: "Campaign") -> Iterator[str]:
    language = track.Language(random.Random(19))
    for topic in campaign.topics.order_by("qid"):
        nuggets = [
            {"text": f"{language.phrase(8)} {place}", "importance": "okay" if place % 3 else "vital"}
            for place in range(NUGGETS)
        ]
        yield json.dumps({"query": topic.title, "qid": topic.qid, "nuggets": nuggets}) + "\n"


def label(campaign: "Campaign", name: str = LABELS_NAME, seed: int = 830) -> "Condition":
    """Make a condition and its answer sheets, as rows, with labels by chance."""
    from django.db import transaction

    from assessor.campaigns.actions import create_condition
    from assessor.campaigns.models import Answer, Condition, Judge
    from assignment.actions.judged_answers import add_sheets, sheet_row
    from nuggets.queries import nuggets_in_order

    judge = Judge.objects.create(kind="model", name=f"made up {name}")
    condition = create_condition(
        Condition(
            campaign=campaign,
            name=name,
            kind="assignment",
            method="AutoAssign",
            nuggets=campaign.conditions.get(name=NUGGETS_NAME),
            judge=judge,
        ),
        acting_user=None,
    )
    chance = random.Random(seed)
    for bank in condition.nuggets.nugget_banks.all():
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
                    labels=dict(zip(asked, chance.choices(_LABELS, _WEIGHTS, k=NUGGETS), strict=True)),
                )
                for answer in Answer.objects.filter(topic=bank.topic_id).values_list("pk", flat=True)
            )
    return condition


def judge_support(campaign: "Campaign") -> None:
    """Make a condition and its support sheets, with a label of every citation."""
    from django.db import transaction

    from assessor.campaigns.actions import create_condition
    from assessor.campaigns.models import Answer, Condition, Judge
    from support.actions import add_sheets, sheet_row
    from support.actions.judged_answers import SheetRow
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


def nothing() -> int:
    """Only start."""
    return 0


def select() -> int:
    """Read all labels with a plain SELECT into a list; return how many rows there are."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT s.bank_id, a.run_id, a.words, l.nugget_id, l.value FROM assignment_assignment l"
            " JOIN assignment_answersheet s ON s.id = l.sheet_id JOIN campaigns_answer a ON a.id = s.answer_id"
            " JOIN campaigns_condition c ON c.id = s.condition_id WHERE c.name = %s",
            [LABELS_NAME],
        )
        return len(cursor.fetchall())


def score() -> int:
    """Load and score the condition; return how many cells there are."""
    from assessor.scores.tables import score_table
    from assignment.score_tables import NuggetScoring
    from metaeval.stats.means import Policy

    found = NuggetScoring().load(_condition())
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


def look() -> int:
    """Take the scores that are kept, as a page does that is asked for again."""
    from assessor.scores.cache import condition_scores

    return int(condition_scores(_condition()).states.size)


def write() -> int:
    """Write the score tables in all forms; return how many lines they have."""
    from assessor.scores.leaderboards import FORMS, score_lines
    from metaeval.stats.means import Policy

    condition = _condition()
    return sum(sum(1 for _ in score_lines(condition, form, Policy.ZERO)) for form in FORMS)


def export() -> int:
    """Export all labels in the field's form; return how many lines that are."""
    from assignment.exports import assignment_lines

    return sum(1 for _ in assignment_lines(_condition()))


def by_admin() -> int:
    """Export all labels by the action of Django's admin; return how many lines are sent."""
    from assessor.accounts.models import Person

    root = Person.objects.filter(username="root").first() or house.person("root", "administrator")
    asked = {"action": "export_assignments", "_selected_action": [_condition().pk]}
    return _sent(house.client(root).post("/admin/campaigns/condition/", asked))


def by_api() -> int:
    """Read all labels by the API, as JSON Lines; return how many there are."""
    from django.test import Client

    from assessor.api.actions import create_token

    condition = _condition()
    person = condition.campaign.created_by
    secret = create_token(person=person, name="bench", expires_at=None, acting_user=None).secret
    headers = {"Authorization": f"Bearer {secret}", "Accept": "application/jsonl"}
    address = f"/api/v1/campaigns/{condition.campaign.slug}/conditions/{condition.pk}/assignments"
    return _sent(Client(SERVER_NAME="localhost").get(address, headers=headers))


def _sent(response: Any) -> int:
    assert response.streaming, response.content
    return sum(chunk.count(b"\n") for chunk in response.streaming_content)


def _condition(name: str = LABELS_NAME) -> "Condition":
    from assessor.campaigns.models import Condition

    return Condition.objects.select_related("judge", "nuggets__judge").get(name=name)


STEPS: dict[str, Callable[[], int]] = {
    "start": nothing,
    "select": select,
    "score": score,
    "look": look,
    "write": write,
    "export": export,
    "admin": by_admin,
    "api": by_api,
    "support": support,
}


class Figures(NamedTuple):
    """What a step took: seconds the first and the second time, and the peak of its process in MiB."""

    found: int
    first: float
    second: float
    peak: float


def carry_out(step: str) -> Figures:
    """Do a step twice; the first time the database's files may have to be read. Runs in a process of its own."""
    import django

    django.setup()
    took = []
    for _ in range(2):
        start = time.perf_counter()
        found = STEPS[step]()
        took.append(time.perf_counter() - start)
    return Figures(found, took[0], took[1], house.peak())


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the scoring of a condition of a track's size.")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--keep", type=Path, help="A folder for the database, to be used again.")
    parser.add_argument("--database", default="", help="The DATABASE_URL of an empty PostgreSQL database.")
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.step:
        print(json.dumps(carry_out(chosen.step)))
        return
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as name:
        folder = chosen.keep or Path(name)
        if house.open_house(folder, chosen.database):
            build(folder, chosen.scale)
        raise SystemExit(report())


def report() -> int:
    """Measure and print everything; return how many figures are over their limits."""
    found = {step: Figures(*house.in_a_process("bench.scores", step)) for step in STEPS}
    print(f"{'step':8} {'found':>8} {'first s':>8} {'again s':>8} {'peak MiB':>9}")
    for step, figures in found.items():
        print(f"{step:8} {figures.found:8,} {figures.first:8.2f} {figures.second:8.2f} {figures.peak:9.0f}", flush=True)
    scored, exported = found["score"], found["export"]
    print(f"scoring takes {scored.second / found['select'].second:.1f} times a plain SELECT into a list")
    limits = [
        *((step, "s", found[step].first, seconds) for step, seconds in LIMITS.items()),
        *((step, "MiB", found[step].peak, MEMORY_LIMIT) for step in LIMITS),
        ("export", "s", exported.first, EXPORT_TIME_LIMIT),
        *(
            (way, "MiB more than at the start", found[way].peak - found["start"].peak, EXPORT_MEMORY_LIMIT)
            for way in ("export", "admin", "api")
        ),
    ]
    for what, unit, figure, limit in limits:
        print(f"{what}: {figure:.1f} {unit}, limit {limit}{' OVER' if figure > limit else ''}")
    return sum(figure > limit for _, _, figure, limit in limits)


if __name__ == "__main__":
    main()
