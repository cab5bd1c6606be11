"""Hybrid scores of a campaign: drawn topics, pages, files, commands."""

import csv
import io
import random
import re
from types import SimpleNamespace

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.actions import judge_of
from assessor.campaigns.condition_kind import CIRCULAR
from assessor.campaigns.models import Campaign, Condition, Event
from assessor.plan.actions.draws import draw_topics
from assessor.plan.random_allocation import draw
from assessor.scores.loading import RunName
from assessor.work.actions import PlanError
from assessor.work.models import Draw
from metaeval import hybrid_sides, inputs
from metaeval.actions import ComparisonError, create_hybrid
from metaeval.hybrid_words import headline, marks_of
from metaeval.hybrids import hybrid_result
from metaeval.models import Hybrid
from metaeval.stats.correlation import kendall_tau
from metaeval.stats.hybrid import hybrid_scores, shrunk
from metaeval.stats.means import COMPLETE, INCOMPLETE, UNANSWERED, Policy
from metaeval.stats.score_matrix import ScoreMatrix
from metaeval.stats.statistic import Statistic
from tests.conftest import client_of, make_person
from tests.judging import judged as judged_answer
from tests.support.judging_helpers import from_scratch
from tests.support.scores_helpers import import_answers, judge, support_condition

BASE = "/campaigns/study/hybrids/"
TOPICS = [f"t{number}" for number in range(1, 9)]
RUNS = ["run.a", "run.b", "run.c", "run.d"]
VALUE = {"f": 1.0, "p": 0.5, "n": 0.0}
KEY = "weighted_precision"
Letters = dict[str, dict[str, list[str]]]


def letters(seed: int, flipped: float = 0.0) -> Letters:
    """Two sentences with a citation each, labelled at random; a share of the labels of seed 1 is given anew."""
    first, other = random.Random(1), random.Random(seed)
    found: Letters = {}
    for run in RUNS:
        for qid in TOPICS:
            said = [first.choice("fpn") for _ in range(2)]
            found.setdefault(run, {})[qid] = [other.choice("fpn") if other.random() < flipped else one for one in said]
    return found


MODEL, HUMAN = letters(1), letters(2, 0.4)


def values(said: Letters) -> np.ndarray:
    return np.array([[np.mean([VALUE[one] for one in said[run][qid]]) for qid in TOPICS] for run in RUNS])


def on(said: Letters, topics: list[str]) -> Letters:
    return {run: {qid: of_run[qid] for qid in topics} for run, of_run in said.items()}


def say(condition: Condition, person: Person, said: Letters) -> None:
    """Have a person say all of this."""
    condition.judge = judge_of(person)  # in memory alone: whose the labels are
    judge(condition, said)
    condition.refresh_from_db()


@pytest.fixture
def study(campaign: Campaign, import_file) -> Campaign:
    more = "".join(f"{qid}\tabout {qid}\n" for qid in TOPICS[2:])
    assert import_file(campaign, "topics", more).state == "done"
    import_answers(campaign, import_file, MODEL)
    return campaign


@pytest.fixture
def people(study: Campaign) -> Condition:
    return from_scratch(study, "People")


@pytest.fixture
def model(study: Campaign) -> Condition:
    return judge(support_condition(study, "Model"), MODEL)


@pytest.fixture
def drawn(people: Condition) -> Draw:
    """Drawn before the model's scores are there."""
    return draw_topics(condition=people, number=5, seed=1, acting_user=None)


@pytest.fixture
def made(people: Condition, drawn: Draw, model: Condition, anna: Person) -> Hybrid:
    """People judged what was drawn."""
    say(people, anna, on(HUMAN, drawn.topics))
    return create_hybrid(campaign=people.campaign, human=people, model=model, draw=drawn, acting_user=None)


@pytest.fixture
def client(olga: Person) -> Client:
    return client_of(olga)


def expected(judged: list[str]) -> tuple[np.ndarray, np.ndarray]:
    human = values(HUMAN)
    human[:, [at for at, qid in enumerate(TOPICS) if qid not in judged]] = np.nan
    return human, values(MODEL)


def read(response) -> str:
    return b"".join(response.streaming_content).decode()


OF_TAUS = ("", "_low", "_high", "_model", "_model_low", "_model_high")


def score_rows(client: Client, hybrid: Hybrid) -> list[dict[str, str]]:
    """Return what the table of scores says by the measure."""
    table = csv.DictReader(io.StringIO(read(client.get(f"{BASE}{hybrid.pk}/files/csv"))))
    return [row for row in table if row["measure"] == KEY]


def page(client: Client, hybrid: Hybrid, more: str = "") -> str:
    response = client.get(f"{BASE}{hybrid.pk}/{more}")
    assert response.status_code == 200
    return re.sub(r"\s+", " ", response.content.decode())


def test_scores_are_those_of_the_arrays(made: Hybrid, drawn: Draw):
    human, model = expected(drawn.topics)
    result = hybrid_result(made, KEY)
    found = hybrid_scores(human, model)
    assert result.sides.runs == RUNS
    np.testing.assert_allclose(result.scores.mean, found.mean)
    np.testing.assert_allclose(result.scores.half_width, found.half_width)
    assert 0 < result.scores.weight == found.weight
    order = shrunk(human, model).scores
    assert result.order == np.argsort(-order).tolist()
    assert (result.judged, result.topics, result.pairs) == (5, 8, 6)
    assert headline(result) == (
        "From people's labels of 5 of 8 topics and the model's of all, the median run's score is known to "
        f"± {np.median(found.half_width):.3f} "
        f"(± {np.median(hybrid_scores(human, model, weight=0).half_width):.3f} from people's labels alone), "
        f"and {result.decided} of 6 pairs of runs are told apart."
    )


def test_labels_that_were_not_drawn_do_not_count(made: Hybrid, drawn: Draw, people: Condition, anna: Person):
    before = hybrid_result(made, KEY).scores
    say(people, anna, on(HUMAN, sorted(set(TOPICS) - set(drawn.topics))))
    result = hybrid_result(made, KEY)
    np.testing.assert_array_equal(result.scores.mean, before.mean)
    [gap] = [gap for gap in result.sides.gaps if gap.what == "topics"]
    assert gap.names == sorted(set(TOPICS) - set(drawn.topics))
    # Without the draw they do, and all topics are judged then: the scores are people's.
    whole = create_hybrid(campaign=made.campaign, human=made.human, model=made.model, acting_user=None)
    result = hybrid_result(whole, KEY)
    np.testing.assert_allclose(result.scores.mean, values(HUMAN).mean(axis=1))
    assert (result.scores.half_width == 0).all()
    assert headline(result).startswith("People judged all 8 topics: these are their scores, without any estimate")
    assert result.curve == []


def test_a_topic_counts_once_an_answer_is_judged_and_no_circular_run_does(monkeypatch):
    runs = [RunName(1, "a", "", ""), RunName(2, "b", "", ""), RunName(3, "c", "", "", CIRCULAR)]
    states = np.array([[COMPLETE, INCOMPLETE], [UNANSWERED, UNANSWERED], [COMPLETE, INCOMPLETE]])
    cells = np.array([[[0.5], [np.nan]], [[0.0], [0.0]], [[1.0], [np.nan]]])
    matrix = ScoreMatrix("People", ["a", "b", "c"], [""] * 3, ["t1", "t2"], ["v"], cells, np.zeros((3, 1)))
    for module in (hybrid_sides, inputs):
        monkeypatch.setattr(module, "condition_scores", lambda condition: SimpleNamespace(runs=runs, states=states))
    monkeypatch.setattr(inputs, "score_matrix", lambda name, found, policy: matrix)
    monkeypatch.setattr(inputs, "name_of", str)
    found = hybrid_sides.judged_matrix(Condition(name="People"), Policy.ZERO)
    assert found.runs == ["a", "b"]
    np.testing.assert_array_equal(found.cells[..., 0], [[0.5, np.nan], [0, np.nan]])


def test_scores_follow_labels(made: Hybrid, model: Condition):
    before = hybrid_result(made, KEY).scores.mean
    sheet = judged_answer(model, "run.a", "t8")
    label = "none" if VALUE[MODEL["run.a"]["t8"][0]] else "full"
    sheet.revise("test", {"0.0": {"label": label}}, judge_id=sheet.judge_id)
    assert hybrid_result(made, KEY).scores.mean[0] != before[0]


def test_the_page_tells_the_scores(made: Hybrid, client: Client):
    text = page(client, made)
    result = hybrid_result(made, KEY)
    assert headline(result).replace("'", "&#x27;") in text
    rows = re.findall(r'<tr><td class="num">(\d)</td><th scope="row" class="any"><bdi>(run\..)</bdi>', text)
    assert rows == [(str(place), RUNS[at]) for place, at in enumerate(result.order, 1)]
    for at in range(4):
        assert f"<b>{result.scores.mean[at]:.3f}</b>" in text
        assert f"{result.scores.low[at]:.3f} to {result.scores.high[at]:.3f}" in text
    assert "intervals from the unbiased estimator, order from the shrunk one" in text
    assert ">approximate</span>" in text
    assert ">rehearsal</span>" not in text
    assert "not drawn at random" not in text
    assert "5 of 8 topics, seed 1" in text
    assert f'hx-get="{BASE}{made.pk}/" hx-trigger="load"' in text
    figures = client.get(f"{BASE}{made.pk}/", headers={"HX-Request": "true"}).content.decode()
    assert figures.count('class="chart"') == 3
    assert "in sum" in page(client, made, "?measure=weighted_recall")
    for wrong in ("?measure=no", "?half_width=x", "?half_width=nan", "?half_width=2", "figures/no.svg"):
        assert client.get(f"{BASE}{made.pk}/{wrong}").status_code == 404, wrong


def test_the_order_is_held_against_peoples_once_they_judged_all(made: Hybrid, client: Client, anna: Person):
    assert hybrid_result(made, KEY).against_people is None
    assert "order, hybrid<" not in page(client, made)
    assert {row[f"tau_people{of}"] for row in score_rows(client, made) for of in OF_TAUS} == {""}
    first, *others = (qid for qid in TOPICS if qid not in made.draw.topics)
    say(made.human, anna, on(HUMAN, [first]))
    assert hybrid_result(made, KEY).against_people is None
    say(made.human, anna, on(HUMAN, others))
    result = hybrid_result(made, KEY)
    human, model = expected(made.draw.topics)
    np.testing.assert_allclose(result.scores.mean, hybrid_scores(human, model).mean)
    truth = values(HUMAN).mean(axis=1)
    ours, alone = result.against_people
    assert ours.tau.value == kendall_tau(truth, shrunk(human, model).scores).value
    assert alone.tau.value == kendall_tau(truth, model.mean(axis=1)).value
    text = page(client, made, f"?measure={KEY}")
    for one, whose in ((ours, "hybrid"), (alone, "model")):
        assert f"s order, {whose}</dt><dd>{one.tau.value:.2f}</dd>" in text
        assert f"{one.low:.2f} to {one.high:.2f}, on all topics" in text
    rows = score_rows(client, made)
    told = [[float(row[f"tau_people{of}"]) for of in OF_TAUS] for row in rows]
    figures = [ours.tau.value, ours.low, ours.high, alone.tau.value, alone.low, alone.high]
    assert told == [pytest.approx(figures, abs=1e-9)] * 4
    # Where all count, there is nothing to hold them against.
    whole = create_hybrid(campaign=made.campaign, human=made.human, model=made.model, acting_user=None)
    assert hybrid_result(whole, KEY).against_people is None


def test_how_many_more_topics_is_told(made: Hybrid, client: Client):
    result = hybrid_result(made, KEY)
    wide, narrow = (page(client, made, f"?half_width={width}") for width in (1, 0.001))
    assert "already: nobody has to judge more for that" in wide
    assert f"With 3 more topics, expect ± 0.000 and {result.curve[-1].decided} of 6 pairs told apart." in narrow


def test_marks_say_what_is_not_as_it_should_be(
    made: Hybrid, drawn: Draw, people: Condition, model: Condition, client: Client, study: Campaign
):
    again = draw_topics(condition=people, number=6, seed=2, acting_user=None)
    assert again.scored_models == ["Model"]
    other = create_hybrid(campaign=study, human=people, model=model, draw=again, acting_user=None)
    text = page(client, other)
    assert "This is draw 2 of 2 under People: 5 of 8 topics, seed 1" in text
    assert "scores by a model were there: Model." in text
    waiting = sorted(set(again.topics) - set(drawn.topics))
    assert f"labels of people yet: {', '.join(waiting)}." in text
    undrawn = create_hybrid(campaign=study, human=people, model=model, acting_user=None)
    assert ">not drawn at random</span>" in page(client, undrawn)
    rehearsed = judge(support_condition(study, "Rehearsed", is_rehearsal=True), MODEL)
    found = create_hybrid(campaign=study, human=people, model=rehearsed, draw=drawn, acting_user=None)
    assert ">rehearsal</span>" in page(client, found)
    assert "drawn again" in page(client, made)
    first, second = (f"{one}, {one.created_at:%Y-%m-%d}" for one in (drawn, again))
    for one, used in ((made, "5 of 8 topics, seed 1"), (other, "6 of 8 topics, seed 2"), (undrawn, "")):
        told = {(row["draw"], row["draws"]) for row in score_rows(client, one)}
        assert told == {(used, f"{first}; {second}")}
    assert ">rehearsal</span>" in client.get(BASE).content.decode()


def test_an_order_that_is_the_models_says_so(made: Hybrid, client: Client):
    shifted = create_hybrid(
        campaign=made.campaign, human=made.human, model=made.model, draw=made.draw, prior_sd="0.0001", acting_user=None
    )
    assert hybrid_result(shifted, KEY).tau.value == 1
    assert "the order is the model&#x27;s, shifted" in page(client, shifted)
    result = hybrid_result(shifted, KEY)
    names = [mark.name for mark in marks_of(shifted, result)]
    own = result._replace(shrunk=result.shrunk._replace(weight=Statistic(0.3, 4)))
    assert [mark.name for mark in marks_of(shifted, own)] == [name for name in names if "shifted" not in name]


def test_what_makes_no_hybrid_scores_is_refused(made: Hybrid, people: Condition, model: Condition, anna: Person):
    from support.actions import create_support

    campaign = made.campaign
    shown = create_support(campaign=campaign, name="Beside", shown=model, acting_user=None)
    drawn = Draw.objects.get()
    for human, by, given, why in (
        (shown, model, None, "People saw the labels of Model as they judged under Beside: anchored"),
        (model, model, None, "Model is no condition of people"),
        (people, people, None, "People is no condition of a model"),
        (shown, support_condition(campaign, "Another"), drawn, "The topics were drawn under People, not under Beside"),
    ):
        with pytest.raises(ComparisonError, match=why):
            create_hybrid(campaign=campaign, human=human, model=by, draw=given, acting_user=None)
    with pytest.raises(ComparisonError, match="99"):
        create_hybrid(campaign=campaign, human=people, model=model, confidence=100, acting_user=None)


def test_without_labels_the_page_says_so(people: Condition, model: Condition, client: Client):
    found = create_hybrid(campaign=people.campaign, human=people, model=model, acting_user=None)
    text = page(client, found)
    assert "Nothing to estimate yet" in text or "too few for an interval" in text
    for form in ("csv", "tot", "pairs.csv"):
        assert client.get(f"{BASE}{found.pk}/files/{form}").status_code == 200
    assert client.get(f"{BASE}{found.pk}/figures/intervals.svg").status_code in (200, 404)


def test_hybrid_scores_are_made_by_the_form(client: Client, people: Condition, model: Condition, drawn: Draw):
    asked = {"human": people.pk, "model": model.pk, "draw": drawn.pk, "target": "population", "confidence": 90}
    response = client.post(BASE, asked | {"prior_sd": "0.02", "policy": "zero"})
    found = Hybrid.objects.get()
    assert response["Location"] == f"{BASE}{found.pk}/"
    assert (found.name, found.target, found.confidence, str(found.prior_sd)) == (
        "People + Model",
        "population",
        90,
        "0.0200",
    )
    assert (found.draw, found.created_by.username) == (drawn, "olga")
    event = Event.objects.get(verb="hybrid scores made")
    assert event.details["draw"] == "5 of 8 topics, seed 1"
    refused = client.post(BASE, asked | {"prior_sd": "0", "policy": "zero"})
    assert refused.status_code == 200
    assert Hybrid.objects.count() == 1
    # The second of the same two has another name.
    client.post(BASE, asked | {"prior_sd": "0.02", "policy": "zero"})
    assert Hybrid.objects.latest("pk").name == "People + Model (2)"


def test_others_find_nothing(made: Hybrid, otto: Person, anna: Person):
    for person in (otto, anna):
        for address in (BASE, f"{BASE}{made.pk}/", f"{BASE}{made.pk}/figures/more.svg", f"{BASE}{made.pk}/files/csv"):
            assert client_of(person).get(address).status_code == 404


def test_figures_come_as_files(made: Hybrid, client: Client):
    for name in ("intervals", "residuals", "more"):
        address = f"{BASE}{made.pk}/figures/{name}"
        assert client.get(f"{address}.svg?measure={KEY}").content.startswith(b"<svg")
        assert len(read(client.get(f"{address}.csv")).splitlines()) > 3
    table = read(client.get(f"{BASE}{made.pk}/figures/intervals.csv"))
    result = hybrid_result(made)
    assert f"{result.scores.mean[result.order[0]]:.6f}"[:-1] in table


def test_files_tell_all_measures(made: Hybrid, client: Client):
    def rows(form: str) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO(read(client.get(f"{BASE}{made.pk}/files/{form}")))))

    result = hybrid_result(made, KEY)
    scores = [row for row in rows("csv") if row["measure"] == KEY]
    assert [row["run_id"] for row in scores] == [RUNS[at] for at in result.order]
    first, at = scores[0], result.order[0]
    for name, value in (
        ("score", result.scores.mean[at]),
        ("low", result.scores.low[at]),
        ("high", result.scores.high[at]),
        ("halfwidth", result.scores.half_width[at]),
        ("weight", result.scores.weight),
        ("order_score", result.shrunk.scores[at]),
        ("people", result.human[at]),
        ("model", result.model[at]),
    ):
        assert float(first[name]) == pytest.approx(value, abs=1e-9), name
    assert (first["judged_topics"], first["topics"], first["target"], first["confidence"]) == (
        "5",
        "8",
        "campaign",
        "95",
    )
    assert {row["measure"] for row in rows("csv")} == set(result.sides.measures)
    pairs = [row for row in rows("pairs.csv") if row["measure"] == KEY]
    assert len(pairs) == 6
    assert float(pairs[0]["difference"]) == pytest.approx(result.differences.estimates.mean[0], abs=1e-9)
    board = read(client.get(f"{BASE}{made.pk}/files/tot")).splitlines()
    assert f"{RUNS[at]} {KEY}[hybrid(People+Model);campaign;95%] all {round(result.scores.mean[at], 10)}" in board


# Draws.


def test_the_same_seed_draws_the_same_topics():
    frame = [f"t{number}" for number in range(100)]
    found = draw(1, frame, 10)
    assert found == ["t69", "t73", "t36", "t2", "t51", "t60", "t45", "t33", "t86", "t53"]
    assert draw(1, frame[::-1], 10) == found
    assert draw(1, frame, 12)[:10] == found
    assert draw(2, frame, 10) != found
    # Each topic is as likely as any other: 10 of 100.
    counts = np.zeros(100)
    for seed in range(2_000):
        for qid in draw(seed, frame, 10):
            counts[frame.index(qid)] += 1
    assert counts.sum() == 20_000
    assert (np.abs(counts - 200) < 5 * np.sqrt(200 * 0.9)).all()


def test_a_draw_is_on_record(drawn: Draw, people: Condition):
    assert drawn.frame == TOPICS
    assert drawn.topics == draw(1, TOPICS, 5)
    assert drawn.probability * len(drawn.frame) == len(drawn.topics)
    assert drawn.scored_models == []
    event = Event.objects.get(verb="topics drawn")
    assert (event.details["seed"], event.details["topics"]) == (1, drawn.topics)
    with pytest.raises(TypeError):
        drawn.save()


def test_topics_are_drawn_by_the_command(people: Condition, model: Condition, study: Campaign, capsys):
    call_command("draw_topics", "study", condition="People", n=3, seed=4, queue=True)
    told = capsys.readouterr()
    assert told.out.split() == draw(4, TOPICS, 3)
    assert "Draw 1 under People: 3 of 8 topics, seed 4." in told.err
    assert "Scores by a model were there already: Model." in told.err
    assert sorted(one.topic.qid for one in people.waiting.all()) == sorted(draw(4, TOPICS, 3))
    for options, why in (
        ({"condition": "Model", "n": 3}, "is no such condition"),
        ({"condition": "People", "n": 9}, "9 topics are wanted, and there are 8"),
        ({"condition": "No", "n": 3}, "There is no condition No"),
    ):
        with pytest.raises(CommandError, match=why):
            call_command("draw_topics", "study", seed=4, **options)
    with pytest.raises(CommandError, match="not negative"):
        call_command("draw_topics", "study", condition="People", n=3, seed=-1)
    assert Draw.objects.count() == 1


def test_topics_without_answers_or_for_practice_are_not_drawn(people: Condition, study: Campaign, import_file):
    import_file(study, "topics", "t9\tunanswered\n")
    study.topics.filter(qid="t3").update(is_practice=True)
    found = draw_topics(condition=people, number=7, seed=1, acting_user=None)
    assert sorted(found.topics) == [qid for qid in TOPICS if qid != "t3"]
    with pytest.raises(PlanError):
        draw_topics(condition=people, number=8, seed=1, acting_user=None)


# Commands.


def test_the_command_estimates_and_writes(made: Hybrid, tmp_path, capsys):
    call_command("hybrid", "study", "People", "Model", measure=KEY, draw=1, target="population", out=tmp_path / "out")
    told = capsys.readouterr()
    rows = list(csv.DictReader(io.StringIO(told.out)))
    hybrid = Hybrid.objects.latest("pk")
    assert (hybrid.draw, hybrid.target) == (made.draw, "population")
    result = hybrid_result(hybrid, KEY)
    assert float(rows[0]["score"]) == pytest.approx(result.scores.mean[result.order[0]], abs=1e-9)
    assert headline(result) in told.err
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"hybrid.csv", "hybrid.pairs.csv", "hybrid.tot", "intervals.svg", "residuals.pdf", "more.png"} <= names
    for options, why in (
        ({"measure": "no"}, "Not both conditions have the measure no"),
        ({"draw": 2}, "There is no draw 2"),
    ):
        with pytest.raises(CommandError, match=why):
            call_command("hybrid", "study", "People", "Model", **options)
    with pytest.raises(CommandError, match="no condition of people"):
        call_command("hybrid", "study", "Model", "Model")


def test_two_tables_need_no_database(tmp_path, capsys):
    def write(name: str, scores: np.ndarray, topics: list[str]) -> str:
        lines = ["run_id,topic,v"]
        lines += [f"{run},{qid},{scores[r, TOPICS.index(qid)]}" for r, run in enumerate(RUNS) for qid in topics]
        (tmp_path / name).write_text("\n".join(lines) + "\n")
        return str(tmp_path / name)

    files = write("people.csv", values(HUMAN), TOPICS[:4]), write("model.csv", values(MODEL), TOPICS)
    call_command("hybrid_tables", *files, out=tmp_path / "out")
    rows = {row["run_id"]: row for row in csv.DictReader(io.StringIO(capsys.readouterr().out))}
    found = hybrid_scores(*expected(TOPICS[:4]))
    for at, run in enumerate(RUNS):
        assert float(rows[run]["score"]) == pytest.approx(found.mean[at], abs=1e-9)
        assert float(rows[run]["halfwidth"]) == pytest.approx(found.half_width[at], abs=1e-9)
    assert (tmp_path / "out" / "hybrid.tot").read_text().startswith("run.")
    with pytest.raises(CommandError, match="no file"):
        call_command("hybrid_tables", "none.csv", files[1])
    with pytest.raises(CommandError, match="There is no measure w"):
        call_command("hybrid_tables", *files, measure="w")
    (tmp_path / "other.csv").write_text("run_id,topic,w\nrun.a,t1,1\n")
    with pytest.raises(CommandError, match="no measure in common"):
        call_command("hybrid_tables", str(tmp_path / "other.csv"), files[1])


def test_no_more_queries_for_more_runs(made: Hybrid, client: Client, django_assert_max_num_queries):
    page(client, made)
    with django_assert_max_num_queries(30):
        page(client, made)


def test_an_assessor_role_is_needed_nowhere(made: Hybrid):
    assert client_of(make_person("nobody", "assessor")).get(f"{BASE}{made.pk}/").status_code == 404
