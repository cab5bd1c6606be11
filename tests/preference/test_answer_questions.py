"""Banks of questions from preferences (PrefNugget), as whole jobs over real HTTP."""

import csv
import json
import re
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign, Condition
from assessor.llm.actions import JobError
from assessor.llm.models import Job
from assessor.preference.models import PreferencePair
from assessor.scores.leaderboards import score_lines
from metaeval.stats.means import Policy
from nuggets.models import Drafting, NuggetBank
from nuggets.queries import nuggets_in_order
from nuggets.questions.pair_order import Pair, QuestionList, at_random, contrasting, winners
from tests.conftest import Importer, client_of
from tests.judging import give
from tests.llm.conftest import _short_waits, endpoint  # noqa: F401  # fixtures
from tests.llm.grading import make_judge
from tests.preference.conftest import TOPICS, answer_line, comparison, done, smaller_run, text_of

SIZES = {"leaf": 7, "cloud": 4, "bee": 6, "earthworms": 4, "hibernation": 4}
ORDER = ["12", "13", "14", "23", "24", "34"]
RECORDED = Path(__file__).resolve().parents[2].parent / "shared/data/prefnugget-kiddie"
_CONTRAST = re.compile(
    r"The better answer:\nRun (\d) tells of (\w+)\.\n\nThe other answer:\nRun (\d) .*?Given questions: (\[.*?\])\n",
    re.DOTALL,
)
_GROUNDED = re.compile(r"The answer:\nRun (\d) tells of (\w+)\.\n\nGiven questions: (\[.*?\])\n", re.DOTALL)
jobs = pytest.mark.django_db(transaction=True)


def as_recorded(message: str) -> str:
    """Answer as was recorded: the smaller run is better, and the banks get as many questions."""
    if "Passage 1:" in message:
        return smaller_run(message)
    if found := _CONTRAST.search(message):
        winner, topic, loser, _ = found.groups()
        at = 2 * ORDER.index(winner + loser)
        return json.dumps([f"What is fact {(at + one) % SIZES[topic]} of {topic}?" for one in (0, 1)])
    return '{"grade": 4}'


def contrasted(asked: list[str]) -> dict[str, list[tuple[str, int]]]:
    """Return by topic the runs that requests contrast, and how many questions were given."""
    found = defaultdict(list)
    for message in asked:
        if match := _CONTRAST.search(message):
            winner, topic, loser, given = match.groups()
            found[topic].append((winner + loser, len(json.loads(given))))
    return dict(found)


def banks(job: Job) -> dict[str, list[str]]:
    found = NuggetBank.objects.filter(condition=job.condition).select_related("topic")
    return {bank.topic.qid: [one.text for one in nuggets_in_order(bank)] for bank in found}


@jobs
def test_preferences_questions_and_grades_come_out_as_recorded(one_order: Campaign, replay):
    server = replay(as_recorded)
    judge = make_judge(one_order, server.base_url, concurrency=1)
    preferences = done(judge).condition
    assert len(server.asked) == 30
    job = done(judge, "PrefQuestions", preferences=preferences)
    assert (job.state, job.calls, job.units_done) == ("done", 30, 5)
    found = contrasted(server.asked)
    assert {topic: [pair for pair, _ in of_topic] for topic, of_topic in found.items()} == dict.fromkeys(TOPICS, ORDER)
    assert [given for _, given in found["leaf"]] == [0, 0, 4, 4, 7, 7], "three rounds; both of one see the same list"
    assert {topic: len(listed) for topic, listed in banks(job).items()} == SIZES
    condition = job.condition
    assert (condition.kind, condition.method, condition.preferences) == ("questions", "PrefQuestions", preferences)
    assert condition.name == "PrefQuestions by j on Preferences by j"
    assert f"creation=PrefQuestions; drafting=j; preferences={preferences}" in condition.identity
    drafting = Drafting.objects.get(condition=condition, topic__qid="leaf")
    assert [step["runs"] for step in drafting.steps] == [
        [["run1", "run2"], ["run1", "run3"]],
        [["run1", "run4"], ["run2", "run3"]],
        [["run2", "run4"], ["run3", "run4"]],
    ]
    bank = NuggetBank.objects.get(condition=condition, topic__qid="leaf")
    assert [one.extras["votes"] for one in nuggets_in_order(bank)] == [2, 2, 2, 2, 2, 1, 1]
    grades = done(judge, "AutoGrade", nuggets=condition)
    assert (grades.state, grades.calls) == ("done", 100)


@jobs
@pytest.mark.skipif(not RECORDED.exists(), reason="the recorded prompts are not here")
def test_the_rounds_are_those_of_the_recorded_prompts(one_order: Campaign, replay):
    run_of = {}
    for run in range(1, 5):
        for line in (RECORDED / f"run{run}.jsonl").read_text().splitlines():
            record = json.loads(line)
            run_of[" ".join(one["text"] for one in record["responses"])] = (record["metadata"]["topic_id"], str(run))
    recorded = defaultdict(list)
    for line in (RECORDED / "prefnugget--best-decide.trace.jsonl").read_text().splitlines():
        text = json.loads(json.loads(line)["canonical"])["messages"][1]["content"]
        if "[[ ## winner_passage ## ]]" not in text:
            continue
        field = dict(re.findall(r"\[\[ ## (\w+) ## \]\]\n(.*?)\n\n(?=\[\[|Respond)", text, re.DOTALL))
        (topic, winner), (_, loser) = (run_of[field[name]] for name in ("winner_passage", "loser_passage"))
        recorded[topic].append((winner + loser, field["given_exam_questions"] == "[]"))
    assert sum(map(len, recorded.values())) == 30
    server = replay(as_recorded)
    judge = make_judge(one_order, server.base_url, concurrency=1)
    done(judge, "PrefQuestions", preferences=done(judge).condition)
    found = contrasted(server.asked)
    assert {topic: [(pair, not given) for pair, given in of_topic] for topic, of_topic in found.items()} == recorded


@jobs
def test_good_answers_are_read_one_at_a_time(one_order: Campaign, replay):
    def answer(message: str) -> str:
        if found := _GROUNDED.search(message):
            run, topic, _ = found.groups()
            return json.dumps([f"What does {run} know of {topic}?", "Same?"])
        return smaller_run(message)

    server = replay(answer)
    judge = make_judge(one_order, server.base_url, concurrency=1)
    job = done(judge, "GroundedQuestions", preferences=done(judge).condition)
    assert (job.state, job.calls) == ("done", 15), "run4 never won"
    asked = [_GROUNDED.search(message) for message in server.asked if "Given questions" in message]
    found = defaultdict(list)
    for match in asked:
        assert match
        found[match[2]].append((match[1], len(json.loads(match[3]))))
    assert dict(found) == {topic: [("1", 0), ("2", 0), ("3", 3)] for topic in TOPICS}
    assert banks(job)["bee"] == [
        "What does 1 know of bee?",
        "Same?",
        "What does 2 know of bee?",
        "What does 3 know of bee?",
    ]


@jobs
def test_random_pairs_say_nothing_of_who_won(compared: Condition, replay):
    server = replay(lambda message: json.dumps([f"What is {len(message)}?"]))
    judge = make_judge(compared.campaign, server.base_url, concurrency=1)
    job = done(judge, "RandomPairQuestions", preferences=compared)
    assert (job.state, job.calls) == ("done", 30)
    before = contrasted(server.asked)
    turned = [winner < loser for of_topic in before.values() for (winner, loser), _ in of_topic]
    assert {"".join(sorted(pair)) for pair, _ in before["bee"]} == set(ORDER)
    assert 5 < sum(turned) < 25
    PreferencePair.objects.update(value="2")
    server.asked.clear()
    done(
        make_judge(compared.campaign, server.base_url, "k", concurrency=1), "RandomPairQuestions", preferences=compared
    )
    assert {topic: [pair for pair, _ in one] for topic, one in contrasted(server.asked).items()} == {
        topic: [pair for pair, _ in one] for topic, one in before.items()
    }


@jobs
def test_the_list_ends_once_it_is_full(compared: Condition, replay):
    names = iter(range(1_000))
    server = replay(lambda _: json.dumps([f"What is {next(names)}?" for _ in range(3)]))
    compared.campaign.protocols.update(max_nuggets=4)
    judge = make_judge(compared.campaign, server.base_url, concurrency=1)
    job = done(judge, "PrefQuestions", preferences=compared)
    assert job.calls == 5 * 2, "one round of two pairs fills it"
    assert {len(listed) for listed in banks(job).values()} == {4}
    compared.campaign.protocols.update(max_nuggets=3)


@jobs
def test_empty_replies_make_no_bank(compared: Condition, replay):
    judge = make_judge(compared.campaign, replay(lambda _: "[]").base_url)
    job = done(judge, "PrefQuestions", preferences=compared)
    assert (job.units_done, job.units_failed, job.calls) == (0, 5, 30)
    assert set(job.units.values_list("error", flat=True)) == {"No reply named a question."}


@jobs
def test_a_topic_without_a_decided_pair_fails_by_name(runs: Campaign, import_file: Importer, replay):
    import_file(runs, "preferences", [comparison("run1", "run2", "bee", 0)], condition="Ties", by="model")
    judge = make_judge(runs, replay(lambda _: '["What?"]').base_url)
    job = done(judge, "PrefQuestions", preferences=runs.conditions.get(name="Ties"))
    assert (job.units_done, job.calls) == (0, 0)
    assert set(job.units.values_list("error", flat=True)) == {"Ties has no decided pair on this topic."}


@jobs
def test_it_needs_preferences(compared: Condition):
    judge = make_judge(compared.campaign)
    for wrong in (None, Condition(campaign=compared.campaign, kind="questions")):
        with pytest.raises(JobError, match="needs a condition of the kind preference"):
            done(judge, "PrefQuestions", preferences=wrong)


@jobs
def test_the_commands_and_the_form(compared: Condition, endpoint, olga: Person, capsys):  # noqa: F811
    judge = make_judge(compared.campaign, endpoint().base_url)
    call_command("run_pref_questions", "study", judge="j", preferences="Imported", here=True)
    call_command("run_grounded_questions", "study", judge="j", preferences="Imported", here=True)
    call_command("run_random_pair_questions", "study", judge="j", preferences="Imported", here=True)
    methods = compared.campaign.conditions.filter(kind="questions").values_list("method", flat=True)
    assert set(methods) == {"PrefQuestions", "GroundedQuestions", "RandomPairQuestions"}
    assert "About 30 calls" in capsys.readouterr().out
    with pytest.raises(CommandError, match="no preferences called Nothing"):
        call_command("run_pref_questions", "study", judge="j", preferences="Nothing", here=True)
    wanted = {"kind": "PrefQuestions", "judge": judge.pk, "replicate": "1", "preferences": compared.pk}
    page = client_of(olga).post("/campaigns/study/jobs/new/", wanted).content.decode()
    assert "Launch 30 calls" in page
    assert client_of(olga).post("/campaigns/study/jobs/new/", wanted | {"launch": ""}).status_code == 302
    assert Job.objects.filter(kind="PrefQuestions").count() == 2


@jobs
def test_people_edit_drafts_shuffled_and_see_no_pair(compared: Condition, import_file, replay, anna: Person):
    campaign = compared.campaign
    import_file(campaign, "segments", [{"docid": "d1", "segment": "Bees make honey."}])
    import_file(campaign, "qrels", "bee 0 d1 2\n", source="NIST", by="people")
    server = replay(lambda message: json.dumps([f"What is {len(json.loads(_given(message)))} a?", "What is b?"]))
    judge = make_judge(campaign, server.base_url, concurrency=1)
    source = campaign.qrels_sources.get(name="NIST")
    job = done(judge, "PrefQuestionDrafts", preferences=compared, qrels_source=source)
    assert (job.state, job.condition.method, job.condition.is_by_people) == ("done", "PrefQuestions+Edits", True)
    task = give(job.condition, campaign.topics.get(qid="bee"), anna)
    assert task is not None
    page = client_of(anna).get(f"/nuggets/{task.nugget_bank.pk}/").content.decode()
    drafts = Drafting.objects.get(condition=job.condition, topic__qid="bee").nuggets
    assert all(text in page for text in drafts)
    assert not any(leak in page for leak in ("run1", "run2", "votes", "Run 1 tells"))
    order = nuggets_in_order(task.nugget_bank)
    assert sorted(one.text for one in order) == sorted(drafts)
    assert {json.dumps(one.extras) for one in order} == {"{}"}


def _given(message: str) -> str:
    found = re.search(r"Given questions: (\[.*?\])\n", message)
    assert found
    return found[1]


@jobs
def test_tables_say_that_a_bank_was_made_from_the_runs(one_order: Campaign, replay, olga: Person):
    judge = make_judge(one_order, replay(as_recorded).base_url)
    made = done(judge, "PrefQuestions", preferences=done(judge).condition).condition
    grades = done(judge, "AutoGrade", nuggets=made).condition
    page = client_of(olga).get(f"/campaigns/study/scores/?condition={grades.pk}").content.decode()
    assert "made from the runs they score" in page
    _, row, *_ = score_lines(grades, "csv", Policy.ZERO)
    assert "made from the runs they score" in row
    preferences = client_of(olga).get(f"/campaigns/study/scores/?condition={made.preferences_id}").content.decode()
    assert "made from the runs they score" not in preferences


@jobs
def test_a_page_leaves_the_questions_of_each_team_out(one_order: Campaign, replay, olga: Person):
    """Runs 1 to 3 are in the first round of each topic, so all questions are theirs; run 4 brought five of them."""
    judge = make_judge(one_order, replay(as_recorded).base_url)
    made = done(judge, "PrefQuestions", preferences=done(judge).condition).condition
    grades = done(judge, "AutoGrade", nuggets=made).condition
    page = client_of(olga).get(f"/campaigns/study/scores/?condition={grades.pk}").content.decode()
    _, _, section = page.partition("Without the questions that a team")
    rows = re.findall(r'<tr><th scope="row" class="any">(.*?)</th>(.*?)</tr>', section.partition("</table>")[0])
    told = {team: re.findall(r'<td class="num">(\d+)</td>', cells) for team, cells in rows}
    assert told == {"run4": ["5", "5"], "run1": ["25", "0"], "run2": ["25", "0"], "run3": ["25", "0"]}
    preferences = client_of(olga).get(f"/campaigns/study/scores/?condition={made.preferences_id}").content.decode()
    assert "Without the questions that a team" not in preferences


@jobs
def test_tables_say_which_runs_had_no_part_in_the_questions(one_order: Campaign, replay, olga: Person, import_file):
    judge = make_judge(one_order, replay(as_recorded).base_url)
    made = done(judge, "PrefQuestions", preferences=done(judge).condition).condition
    late = [answer_line("late", topic, text_of("run1", topic)) for topic in ("bee", "leaf")]
    assert import_file(one_order, "runs", late, name="late").state == "done"
    grades = done(judge, "AutoGrade", nuggets=made).condition
    told = "did not shape the questions"
    page = client_of(olga).get(f"/campaigns/study/scores/?condition={grades.pk}").content.decode()
    assert page.count(told) == 1
    rows = {row["run_id"]: row["mark"] for row in csv.DictReader(score_lines(grades, "csv", Policy.ZERO))}
    assert {tag for tag, mark in rows.items() if mark} == {"late"}
    assert rows["late"] == told
    lines = list(score_lines(grades, "tot", Policy.ZERO))
    tot = [line for line in lines if told.replace(" ", "_") in line]
    assert tot
    assert {line.split()[0] for line in tot} == {"late"}
    assert {len(line.split()) for line in lines} == {4}


PAIRS = [Pair("a", "b"), Pair("a", "c"), Pair("d", "a"), Pair("b", "c"), Pair("b", "d", is_tie=True), Pair("d", "c")]


def test_pairs_between_the_best_come_first():
    # Borda: a 1, b 0, c -3, d 2.
    assert contrasting(PAIRS) == [Pair("d", "a"), Pair("a", "b"), Pair("d", "c"), Pair("a", "c"), Pair("b", "c")]
    even = [Pair("b", "c"), Pair("c", "a"), Pair("a", "b")]
    assert contrasting(even) == [Pair("a", "b"), Pair("b", "c"), Pair("c", "a")], "ties of points go by the tags"
    assert winners(PAIRS) == ["d", "a", "b"]
    many = [Pair(f"a{at:03}", "z") for at in range(150)]
    assert [len(found) for found in (contrasting(many), winners(many), at_random(many, "t"))] == [100, 100, 100]


def test_random_pairs_are_turned_by_their_names_alone():
    turned: Callable[[Pair], Pair] = lambda pair: Pair(pair.loser, pair.winner, pair.is_tie)  # noqa: E731
    assert at_random(PAIRS, "t") == at_random([turned(pair) for pair in reversed(PAIRS)], "t")
    assert at_random(PAIRS, "t") != at_random(PAIRS, "u")


def test_equal_questions_are_one_and_keep_their_first_spelling():
    listed = QuestionList(3)
    listed.take(["Who  purrs?", "Why?", "Never kept?"])
    listed.take(["who purrs?", "WHO PURRS?"])
    assert (listed.texts, listed.votes, listed.is_full) == (["Who  purrs?", "Why?"], [2, 1], False)
    listed.take(["Where?", "When?"])
    assert listed.is_full
    listed.cut()
    assert (listed.texts, listed.votes) == (["Who  purrs?", "Why?", "Where?"], [2, 1, 1])
