"""Conditions with labels to score, as a job or a file leaves them."""

from collections.abc import Mapping

from assessor.campaigns.actions import create_condition
from assessor.campaigns.models import CANARY, Answer, Campaign, Condition, Judge
from assessor.labels.new_sheets import SheetRow
from assessor.studies.models import Sensitivity
from assessor.studies.sensitivity import FACTORS, settings_of, variants_of
from assignment.actions.judged_answers import add_sheets, sheet_row
from assignment.control_runs import make_control_runs
from assignment.models import AnswerSheet
from nuggets.models import NuggetBank
from tests.conftest import Importer
from tests.judging import nuggets_of

BANKS = {
    "t1": [("purring heals", "vital"), ("cats purr when content", "vital"), ("kittens purr", "okay")],
    "t2": [("glass is melted", "vital"), ("glass is sorted", "okay")],
}
LABELS = {
    "t1": {"team.one": "spn", "team.two": "sss", "team.empty": "nnn"},
    "t2": {"team.one": "sp", "team.two": "ns"},  # team.empty did not answer it
}
LETTER = {"s": "support", "p": "partial_support", "n": "not_support"}
# By the measures of NUGGET_SCORES. What LABELS come to, on the answers of tests/assignment/conftest.py.
ONE_T1, TWO_T1 = [0.5, 0.75, 0.4, 0.6, 1 / 3, 0.5, 9], [1, 1, 1, 1, 1, 1, 2]
ONE_T2, TWO_T2 = [1, 1, 2 / 3, 5 / 6, 0.5, 0.75, 3], [0, 0, 1 / 3, 1 / 3, 0.5, 0.5, 7]
ZERO = [0] * 7


def import_banks(
    campaign: Campaign, import_file: Importer, banks: Mapping[str, list[tuple[str, str]]] = BANKS, name: str = "Edits"
) -> Condition:
    """Import nuggets (text, importance or "") under a condition of their own."""
    lines = [
        {
            "query": campaign.topics.get(qid=qid).title,
            "qid": qid,
            "nuggets": [{"text": text} | ({"importance": label} if label else {}) for text, label in nuggets],
        }
        for qid, nuggets in banks.items()
    ]
    assert import_file(campaign, "nuggets", lines, condition=name, by="people").state == "done"
    return campaign.conditions.get(name=name)


def auto_condition(nuggets: Condition, name: str = "Edits/Auto", *, is_rehearsal: bool = False) -> Condition:
    """Make a condition in which a model assigns."""
    judge = Judge.objects.create(kind="model", name=f"judge of {name}", is_rehearsal=is_rehearsal)
    condition = Condition(
        campaign=nuggets.campaign, name=name, kind="assignment", method="AutoAssign", nuggets=nuggets, judge=judge
    )
    return create_condition(condition, acting_user=None)


def vary(nuggets: Condition, name: str = "Varied") -> Sensitivity:
    """Make a sensitivity study of all answers, asked twice, with a label of each nugget under both variants."""
    campaign = nuggets.campaign
    judge = Judge.objects.create(kind="model", name=f"judge of {name}")
    levels = [[judge.name], ["assay-1"], [10], ["bank"], [0, 1]]
    study = Sensitivity.objects.create(
        campaign=campaign,
        name=name,
        kind="assignment",
        nuggets=nuggets,
        factors=dict(zip(FACTORS, levels, strict=True)),
        topics=sorted(campaign.topics.values_list("qid", flat=True)),
        runs=sorted(campaign.runs.values_list("tag", flat=True)),
        seed=1,
    )
    for variant in variants_of(study.factors):
        of = {"kind": study.kind, "method": "AutoAssign", "nuggets": nuggets, "judge": judge, "sample": name}
        of |= {"variant": settings_of(study, variant), "replicate": variant.replicate}
        condition = Condition(campaign=campaign, name=f"{name} {variant.replicate}", **of)
        create_condition(condition, acting_user=None)
        for bank in NuggetBank.objects.filter(condition=nuggets, edition__gt=0):
            for answer in Answer.objects.filter(topic=bank.topic, apart=False, run__task=""):
                add_sheets([row(condition, bank, answer, "sn"[variant.replicate] * len(nuggets_of(bank)))])
    return study


def label(condition: Condition, labels: Mapping[str, Mapping[str, str]] = LABELS) -> Condition:
    """Write sheets, by topic and run a letter for each nugget in bank order; ? is a nugget without a label."""
    for qid, by_tag in labels.items():
        bank = NuggetBank.objects.get(condition=condition.nuggets, topic__qid=qid)
        for tag, letters in by_tag.items():
            add_sheets([row(condition, bank, Answer.objects.get(run__tag=tag, topic__qid=qid, apart=False), letters)])
    return condition


def row(
    condition: Condition, bank: NuggetBank, answer: Answer, letters: str, *, import_record: int | None = None
) -> SheetRow:
    """Return a sheet as add_sheets() takes it."""
    assert condition.judge_id is not None
    said = {pk: LETTER[letter] for pk, letter in zip(nuggets_of(bank), letters, strict=True) if letter != "?"}
    return sheet_row(
        condition=condition.pk,
        bank=bank.pk,
        answer=answer.pk,
        judge=condition.judge_id,
        edition=bank.edition,
        nuggets=nuggets_of(bank),
        labels=said,
        import_record=import_record,
    )


def sheet_on(condition: Condition, qid: str, tag: str) -> AnswerSheet:
    return AnswerSheet.objects.select_related("bank").get(
        condition=condition, answer__topic__qid=qid, answer__run__tag=tag
    )


def say(sheet: AnswerSheet, place: int, **fields: object) -> None:
    """Change what stands of a sheet's nugget, by its place in the bank."""
    sheet.refresh_from_db()
    sheet.revise("test", {nuggets_of(sheet.bank)[place]: fields}, judge_id=sheet.judge_id)


def label_canaries(condition: Condition) -> Condition:
    """Make canaries of a condition's nuggets, and label all they say as not supported."""
    assert condition.nuggets is not None
    make_control_runs(nuggets=condition.nuggets, canaries=True, acting_user=None)
    for answer in Answer.objects.filter(run__campaign=condition.campaign, run__tag__startswith=CANARY):
        bank = NuggetBank.objects.get(condition=condition.nuggets, topic=answer.topic)
        add_sheets([row(condition, bank, answer, "n" * len(nuggets_of(bank)))])
    return condition
