"""Reports that people judge, as the tests of all screens have them, and people's conditions."""

from assessor.campaigns.models import Campaign, Condition
from assignment.argue.actions import create_manual_argue
from tests.conftest import Importer
from tests.questions.banks import answer, bank, question
from tests.support.judging_helpers import run_file

HEAL = question("What does purring heal?", answer("Bones", "d1"))
GLASS = question("How is glass recycled?", answer("Melted", "d5"))
# Of each run its sentences, with what each cites: team.one is asked two things on t1, team.two one.
RUNS: dict[str, dict[str, list[tuple[str, list[str]]]]] = {
    "team.one": {"t1": [("Purring heals bones.", ["d1"])], "t2": [("Glass is melted.", ["d5"])]},
    "team.two": {"t1": [("Cats have voices.", ["d2"])]},
    "team.empty": {"t1": []},
}


def load_questions(campaign: Campaign, import_file: Importer) -> Condition:
    """Load reports and the questions on both topics; the documents are loaded."""
    for tag, reports in RUNS.items():
        assert import_file(campaign, "runs", run_file(tag, reports), name=tag).state == "done"
    banks = [bank(HEAL), bank(GLASS, qid="t2")]
    done = import_file(campaign, "questions", banks, condition="Questions", by="people")
    assert done.state == "done", done.report
    return campaign.conditions.get(name="Questions")


def judged_by_people(questions: Condition, name: str = "ARGUE by people") -> Condition:
    return create_manual_argue(questions=questions, name=name, acting_user=None)
