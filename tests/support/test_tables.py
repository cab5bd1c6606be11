"""From support sheets to score tables: what is in scope, what counts, what is missing; and no table is an old one."""

import math
import random
from collections.abc import Callable

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from assessor.campaigns.models import CONTROL, Answer, Campaign, Condition, Import, Run
from assessor.runtime.process_cache import cache
from assessor.scores.cache import condition_scores, counts_by_condition
from assessor.scores.tables import score_table
from metaeval.stats.means import COMPLETE, INCOMPLETE, UNANSWERED, Policy
from support import score_arrays, score_tables
from support.actions import add_sheets, resolve
from support.models import SupportJudgment, SupportSheet
from support.score_arrays import Scores, load_scores
from tests.support.scores_helpers import (
    ANSWERS,
    ONE_T1,
    ONES,
    TWO_T1,
    ZERO,
    import_answers,
    judge,
    row,
    say,
    sheet_on,
    support_condition,
)
from tests.support.test_scores import of, plainly

STATES = {UNANSWERED: "unanswered", COMPLETE: "complete", INCOMPLETE: "incomplete"}


@pytest.fixture(autouse=True)
def _nothing_kept() -> None:
    cache.clear()


@pytest.fixture
def cited(campaign: Campaign, import_file) -> Campaign:
    """The campaign with three runs that cite."""
    import_answers(campaign, import_file, ANSWERS)
    return campaign


@pytest.fixture
def auto(cited: Campaign) -> Condition:
    """A model's labels of everything."""
    return judge(support_condition(cited))


def cell(condition: Condition, qid: str, tag: str) -> tuple[str, list[float]]:
    """Return the state and the figures of a run's answer, loaded anew."""
    return in_scores(load_scores(condition), qid, tag)


def in_scores(found: Scores, qid: str, tag: str) -> tuple[str, list[float]]:
    run = [one.tag for one in found.runs].index(tag)
    topic = [one.qid for one in found.topics].index(qid)
    return STATES[found.states[run, topic]], found.scores[run, topic].tolist()


def near(expected: list[float]) -> object:
    return pytest.approx(expected, abs=1e-12, nan_ok=True)


INCOMPLETE_CELL = ("incomplete", near([math.nan] * 8))


def test_every_answer_has_its_scores(auto: Condition):
    found = load_scores(auto)
    assert [run.tag for run in found.runs] == ["team.empty", "team.one", "team.two"]
    assert [topic.qid for topic in found.topics] == ["t1", "t2"]
    for qid, tag, expected in [
        ("t1", "team.one", ONE_T1),
        ("t1", "team.two", TWO_T1),
        ("t1", "team.empty", ZERO),
        ("t2", "team.one", ZERO),
        ("t2", "team.two", ONES),
    ]:
        assert in_scores(found, qid, tag) == ("complete", near(expected)), (qid, tag)
    assert in_scores(found, "t2", "team.empty") == ("unanswered", ZERO)


def test_what_is_unusual_is_counted_on_each_topic(auto: Condition):
    found = load_scores(auto)
    assert [topic[3:] for topic in found.topics] == [(7, 1, 0, 1, 0), (1, 0, 0, 1, 0)]
    assert found.unusual == {
        "citations_not_judged": 1,
        "citations_without_text": 0,
        "answers_citing_nothing": 2,
        "unworthy_sentences_left_out": 0,
    }


def test_the_table_under_both_policies(auto: Condition):
    found = load_scores(auto)
    zero, answered = score_table(found, Policy.ZERO), score_table(found, Policy.ANSWERED)
    assert [(one.name, one.topics, one.complete, one.incomplete) for one in zero.systems] == [
        ("team.empty", 2, 1, 0),
        ("team.one", 2, 2, 0),
        ("team.two", 2, 2, 0),
    ]
    figures = {one.name: one.figures for one in (*zero.systems, *zero.over)}
    assert figures["team.one"] == near([one / 2 for one in ONE_T1])
    assert figures["team.two"] == near([(one + 1) / 2 for one in TWO_T1])
    assert figures["minimum"] == near(ZERO)
    # The runs' figures on t1 are 0, those of team.one and those of team.two; on t2 0, 0 and 1.
    both = list(zip(ONE_T1, TWO_T1, strict=True))
    assert figures["median"] == near([min(pair) / 2 for pair in both])
    assert figures["maximum"] == near([(max(pair) + 1) / 2 for pair in both])
    figures = {one.name: one.figures for one in (*answered.systems, *answered.over)}
    assert figures["team.empty"] == near(ZERO)
    assert figures["median"] == near([(min(pair) + 0.5) / 2 for pair in both])  # on t2 of two alone
    assert (answered.answers, answered.incomplete) == (5, 0)


def test_a_run_that_left_a_topic_out_has_the_lower_mean_under_one_policy_alone(cited: Campaign, import_file):
    import_answers(cited, import_file, {"team.late": {"t1": ["f"]}})
    auto = judge(support_condition(cited), {**ANSWERS, "team.late": {"t1": ["f"]}})
    found = load_scores(auto)
    for policy, expected in ((Policy.ZERO, 0.5), (Policy.ANSWERED, 1.0)):
        [late] = [one for one in score_table(found, policy).systems if one.name == "team.late"]
        assert late.figures == [expected] * 8


def test_control_runs_have_rows_of_their_own_and_are_in_none_over_all(auto: Condition):
    Run.objects.filter(tag="team.two").update(task=CONTROL)
    table = score_table(load_scores(auto), Policy.ZERO)
    assert [one.name for one in table.systems] == ["team.empty", "team.one"]
    assert [one.name for one in table.controls] == ["team.two"]
    assert table.over[2].figures == near([one / 2 for one in ONE_T1])


@pytest.mark.parametrize("letter", ["?", "!"])
@pytest.mark.parametrize("place", [0, 1])
def test_a_citation_without_a_label_or_without_its_text_makes_its_answer_incomplete(
    cited: Campaign, letter: str, place: int
):
    """Also where it is not the first of its sentence: then the label is lacking under _all."""
    sentences = ["f", "p", "nf", "-", ""]
    sentences[2] = "nf"[:place] + letter + "nf"[place + 1 :]
    auto = judge(support_condition(cited), {"team.two": {"t1": sentences, "t2": ["f"]}})
    assert cell(auto, "t1", "team.two") == INCOMPLETE_CELL
    [two] = score_table(load_scores(auto), Policy.ZERO).systems
    assert (two.complete, two.incomplete, two.figures) == (1, 1, near(ONES))
    if letter == "!":
        assert load_scores(auto).without_text == 1
    else:
        say(sheet_on(auto, "t1", "team.two"), f"2.{place}", label="nf"[place].replace("n", "none").replace("f", "full"))
        assert cell(auto, "t1", "team.two") == ("complete", near(TWO_T1))


def test_what_is_loaded_later_is_judged_and_then_counts(cited: Campaign, import_file):
    file = [{"run_id": "r", "topic_id": "t1", "references": ["d9"], "answer": [{"text": "x", "citations": [0]}]}]
    assert import_file(cited, "runs", file, name="r").state == "done"
    auto = judge(support_condition(cited), {"r": {"t1": ["!"]}})
    assert cell(auto, "t1", "r") == INCOMPLETE_CELL
    assert import_file(cited, "segments", [{"docid": "d9", "segment": "text"}]).state == "done"
    assert resolve(auto) == 1
    assert (cell(auto, "t1", "r"), load_scores(auto).without_text) == (INCOMPLETE_CELL, 0)
    say(sheet_on(auto, "t1", "r"), "0.0", label="partial")
    assert cell(auto, "t1", "r") == ("complete", near([0.5, 0.5, 0, 0] * 2))


def test_what_a_person_cannot_judge_is_missing_until_the_organizer_settles_it(auto: Condition):
    sheet = sheet_on(auto, "t1", "team.one")
    say(sheet, "0.0", label=None, cannot="unclear")
    assert cell(auto, "t1", "team.one") == INCOMPLETE_CELL
    say(sheet, "0.0", adopted="full")
    assert cell(auto, "t1", "team.one") == ("complete", near([1, 2 / 3, 1, 2 / 3] * 2))
    # Or it is not to be judged: then the sentence is in neither denominator.
    say(sheet, "0.0", adopted="not judged")
    assert cell(auto, "t1", "team.one") == ("complete", near([1, 0.5, 1, 0.5] * 2))
    # The person's own label goes before one that was taken from another.
    say(sheet, "0.0", label="partial", cannot=None, adopted=None)
    assert cell(auto, "t1", "team.one") == ("complete", near(ONE_T1))


def test_a_sentence_that_cites_and_of_which_nothing_is_asked_makes_its_answer_incomplete(cited: Campaign):
    """Nobody said that it is not supported."""
    auto = judge(support_condition(cited), {"team.one": {"t1": ["p", ".", ""], "t2": ["", ""]}})
    assert cell(auto, "t1", "team.one") == INCOMPLETE_CELL
    assert cell(auto, "t2", "team.one") == ("complete", ZERO)


def test_of_a_sentence_only_what_is_asked_counts_and_the_first_of_that_is_the_first(cited: Campaign):
    """A file says itself what was judged."""
    auto = judge(support_condition(cited), {"team.two": {"t1": ["f", "p", ".f", "-", ""]}})
    Condition.objects.filter(pk=auto.pk).update(method="imported")
    auto.refresh_from_db()
    assert cell(auto, "t1", "team.two") == ("complete", near([2.5 / 3, 2.5 / 4, 2 / 3, 2 / 4] * 2))


def test_a_sentence_whose_first_citation_is_not_asked_makes_its_answer_incomplete(cited: Campaign):
    """Here the first is judged: a label of another one is not in its place."""
    auto = judge(support_condition(cited), {"team.two": {"t1": ["f", "p", ".f", "-", ""], "t2": ["f"]}})
    assert cell(auto, "t1", "team.two") == INCOMPLETE_CELL
    assert cell(auto, "t2", "team.two") == ("complete", ONES)


def test_places_of_citations_are_numbers_and_no_texts(cited: Campaign, import_file):
    answer = [{"text": "x", "citations": [*range(11)]}] + [{"text": "x", "citations": [0]}] * 11
    references = [f"s{number}" for number in range(11)]
    file = [{"run_id": "long", "topic_id": "t1", "references": references, "answer": answer}]
    assert import_file(cited, "runs", file, name="long").state == "done"
    letters = ["-" + "p" * 9 + "f", *"ffffffffff", "n"]
    auto = judge(support_condition(cited), {"long": {"t1": letters}})
    state, figures = cell(auto, "t1", "long")
    assert (state, figures) == ("complete", near([float(one or 0) for one in plainly(of(*letters))]))


def test_an_answer_may_have_hundreds_of_sentences(cited: Campaign, import_file):
    answer = [{"text": "x", "citations": [0]}] * 300
    file = [{"run_id": "long", "topic_id": "t1", "references": ["s0"], "answer": answer}]
    assert import_file(cited, "runs", file, name="long").state == "done"
    auto = judge(support_condition(cited), {"long": {"t1": ["f"] * 150 + ["n"] * 150}})
    assert cell(auto, "t1", "long") == ("complete", near([0.5] * 8))


def test_a_sheet_that_asks_about_another_sentence_than_its_answer_has_is_an_error(auto: Condition):
    sheet = sheet_on(auto, "t2", "team.two")
    SupportJudgment.objects.create(sheet=sheet, sentence=1, citation=0, docid="d1", value="full", state="given")
    with pytest.raises(ValueError, match=rf"^Support sheet {sheet.pk} asks about a sentence that its answer has not\."):
        load_scores(auto)


def test_a_label_outside_the_vocabulary_is_never_taken_for_one(auto: Condition):
    sheet = sheet_on(auto, "t2", "team.two")
    SupportJudgment.objects.filter(sheet=sheet).update(value="failed")
    with pytest.raises(ValueError, match="A label of support is none of full, partial, none, not judged"):
        load_scores(auto)


def test_only_what_has_a_sheet_is_in_scope_and_what_a_run_in_scope_answered_beside_it_is_incomplete(cited: Campaign):
    auto = judge(support_condition(cited), {"team.two": {"t2": ["f"]}})
    found = load_scores(auto)
    assert ([run.tag for run in found.runs], [topic.qid for topic in found.topics]) == (["team.two"], ["t2"])
    judge(auto, {"team.empty": {"t1": []}})
    assert cell(auto, "t1", "team.two") == INCOMPLETE_CELL
    assert cell(auto, "t2", "team.empty") == ("unanswered", ZERO)


def test_a_condition_without_sheets_has_no_scores(cited: Campaign):
    found = load_scores(support_condition(cited))
    assert (found.runs, found.topics, found.scores.shape) == ([], [], (0, 0, 8))


def test_of_an_imported_condition_only_what_is_visible_counts(auto: Condition, cited: Campaign):
    running = Import.objects.create(campaign=cited, kind="runs", state="running")
    SupportSheet.objects.filter(answer__run__tag="team.one").update(import_record=running)
    assert [run.tag for run in load_scores(auto).runs] == ["team.empty", "team.two"]


def apart(tag: str, sentences: list[str], qid: str = "t1") -> Answer:
    """A text that came with labels and is not what the run answered."""
    run = Run.objects.get(tag=tag)
    content = [{"text": "y", "citations": [*range(len(letters))]} for letters in sentences]
    answer: Answer = Answer.objects.create(
        run=run,
        topic=run.campaign.topics.get(qid=qid),
        form="text",
        content=content,
        references=["d1", "d2"],
        words=len(sentences),
        apart=True,
        import_record=run.import_record,
    )
    return answer


def test_a_text_that_came_with_its_labels_counts_where_a_file_says_so_or_the_run_has_no_answer(cited: Campaign):
    auto = judge(support_condition(cited), {"team.one": {"t2": ["", ""]}})
    add_sheets([row(auto, apart("team.one", ["f"]), ["f"]), row(auto, apart("team.empty", ["f"], "t2"), ["f"])])
    assert cell(auto, "t1", "team.one") == INCOMPLETE_CELL  # what the run answered is not judged
    assert cell(auto, "t2", "team.empty") == ("complete", ONES)
    auto.method = Condition.IMPORTED
    assert cell(auto, "t1", "team.one") == ("complete", ONES)
    judge(auto, {"team.one": {"t1": ANSWERS["team.one"]["t1"]}})
    assert cell(auto, "t1", "team.one") == ("complete", near(ONE_T1))


def test_an_own_answer_goes_before_a_text_that_came_with_labels_earlier(cited: Campaign, import_file):
    auto = support_condition(cited)
    auto.method = Condition.IMPORTED
    add_sheets([row(auto, apart("team.empty", ["f"], "t2"), ["f"])])
    import_answers(cited, import_file, {"team.empty": {"t2": ["p"]}})
    assert cell(auto, "t2", "team.empty") == ("complete", ONES)
    judge(auto, {"team.empty": {"t2": ["p"]}})
    assert cell(auto, "t2", "team.empty") == ("complete", near([0.5, 0.5, 0, 0] * 2))


def test_of_two_texts_that_came_with_labels_neither_is_the_runs(cited: Campaign):
    auto = support_condition(cited)
    add_sheets([row(auto, apart("team.empty", ["f"] * size, "t2"), ["f"] * size) for size in (1, 2)])
    assert cell(auto, "t2", "team.empty") == INCOMPLETE_CELL


@pytest.mark.parametrize("at_a_time", [1, 3, 2_000])
def test_scores_are_what_the_formulas_say_however_many_are_read_at_once(
    cited: Campaign, import_file, monkeypatch: pytest.MonkeyPatch, at_a_time: int
):
    monkeypatch.setattr(score_arrays, "_AT_A_TIME", at_a_time)
    chance = random.Random(7)
    answers = {
        f"run.{number}": {
            qid: ["".join(chance.choices("ffppnn-?", k=chance.choice((0, 1, 1, 2, 4)))) for _ in range(number)]
            for qid in ("t1", "t2")
        }
        for number in range(6)
    }
    import_answers(cited, import_file, answers)
    auto = judge(support_condition(cited), answers)
    found = load_scores(auto)
    states = set()
    for tag, by_topic in answers.items():
        for qid, sentences in by_topic.items():
            expected = plainly(of(*sentences))
            state, figures = in_scores(found, qid, tag)
            states.add(state)
            assert state == ("incomplete" if None in expected else "complete")
            assert figures == near([math.nan if one is None else float(one) for one in expected])
    assert states == {"complete", "incomplete"}


def test_how_many_queries_loading_takes_does_not_depend_on_how_much_there_is(auto: Condition, cited: Campaign):
    little = judge(support_condition(cited, "little"), {"team.one": {"t1": ["p", "f", ""]}})
    counts = []
    for condition in (little, auto):
        with CaptureQueriesContext(connection) as queries:
            load_scores(condition)
        counts.append(len(queries))
    assert counts == [7, 7]


def test_counts_say_how_far_it_is_and_what_waits_for_a_text(auto: Condition, cited: Campaign):
    other = judge(support_condition(cited, "other"), {"team.two": {"t1": ["f", "?", "f!", "?", ""], "t2": ["!"]}})
    say(sheet_on(other, "t1", "team.two"), "1.0", cannot="unclear")
    with CaptureQueriesContext(connection) as queries:
        counts = counts_by_condition([auto, other, support_condition(cited, "nothing yet")])
    told = {pk: (found.answers, found.done, found.to_do, found.cannot, found.facts) for pk, found in counts.items()}
    assert told == {auto.pk: (5, 5, 0, 0, (0, 0)), other.pk: (2, 0, 1, 1, (2, 0))}
    assert len([one for one in queries if "support_supportsheet" in one["sql"] and "SELECT" in one["sql"]]) == 1


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of conditions whose scores were computed, as often as they were."""
    done: list[str] = []

    def load(condition: Condition) -> Scores:
        done.append(condition.name)
        return load_scores(condition)

    monkeypatch.setattr(score_tables, "load_scores", load)
    return done


def relabel(auto: Condition, **more: object) -> None:
    say(sheet_on(auto, "t1", "team.one"), "1.0", label="none")


def adopt(auto: Condition, **more: object) -> None:
    say(sheet_on(auto, "t1", "team.one"), "1.0", label=None, cannot="unclear")
    say(sheet_on(auto, "t1", "team.one"), "1.0", adopted="none")


def another_sheet(auto: Condition, import_file: Callable[..., Import]) -> None:
    import_answers(auto.campaign, import_file, {"team.late": {"t2": ["f"]}})
    condition_scores(auto)
    judge(auto, {"team.late": {"t2": ["f"]}})


def another_answer(auto: Condition, import_file: Callable[..., Import]) -> None:
    import_answers(auto.campaign, import_file, {"team.empty": {"t2": ["f"]}})


def a_control_run(auto: Condition, import_file: Callable[..., Import]) -> None:
    file = "tag,team,task,type,priority,aliases\nteam.one,,control,,,\n"
    assert import_file(auto.campaign, "run_list", file).state == "done"


def sheets_become_visible(auto: Condition, **more: object) -> None:
    record = Import.objects.create(campaign=auto.campaign, kind="support", state="running")
    add_sheets([row(auto, apart("team.empty", ["f"], "t2"), ["f"], import_record=record.pk)])
    condition_scores(auto)
    record.state, record.ended_at = "done", timezone.now()
    record.save()


CHANGES = (relabel, adopt, another_sheet, another_answer, a_control_run, sheets_become_visible)


@pytest.mark.parametrize("change", CHANGES)
def test_each_change_is_seen_at_once_and_without_one_nothing_is_computed_again(
    auto: Condition, import_file, loads: list[str], change: Callable[..., None]
):
    before = condition_scores(auto)
    assert condition_scores(auto).scores.tobytes() == before.scores.tobytes()
    assert loads == ["Auto"]
    change(auto, import_file=import_file)
    counted = len(loads)
    now, fresh = condition_scores(auto), load_scores(auto)
    assert len(loads) == counted + 1
    assert (now.runs, now.topics) == (fresh.runs, fresh.topics)
    assert (now.scores.tobytes(), now.states.tobytes()) == (fresh.scores.tobytes(), fresh.states.tobytes())
    assert (now.runs, now.scores.tobytes()) != (before.runs, before.scores.tobytes())
