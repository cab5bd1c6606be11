"""What a comparison's page says in words, against the figures of its result."""

from typing import Any

import pytest

from metaeval.headline import key_figures, moves, multiples, sentences, span_start, spans


def statistic(value: float | None, n: int = 45, interval: tuple[float, float] | None = None) -> dict[str, Any]:
    bounds = {"interval": {"low": interval[0], "high": interval[1], "mean": sum(interval) / 2}} if interval else {}
    return {"value": value, "n": n, **bounds}


def result(
    tau: float | None = 0.77,
    topic: float | None = 0.63,
    *,
    above: float = 0.0991,
    below: float = 0.1349,
    topics: int = 21,
) -> dict[str, Any]:
    """A result with the figures of the published comparison."""
    statistics = {
        "tau_run": statistic(tau, 45, (0.62, 0.79)),
        "tau_topic": statistic(topic, 21),
        "tau_cell": statistic(0.65, 945),
    }
    return {
        "scores": {
            "topics": [{"topic_id": f"t{at}"} for at in range(topics)],
            "runs": [{"run_id": name, "task": "RAG"} for name in ("a", "b", "c", "d")],
            "measures": {
                "vstrict": {"first": [0.9, 0.5, 0.5, None], "second": [0.1, 0.7, 0.6, 0.2], "statistics": statistics}
            },
        },
        "labels": {
            "pairs": 13_158,
            "match": statistic(1 - above - below),
            "unweighted": statistic(0.58),
            "above": statistic(above),
            "below": statistic(below),
        },
    }


def said(found: dict[str, Any], first: str = "people", second: str = "gpt-4o", *, are_graded: bool = True) -> str:
    return "".join(part.text for part in sentences(found, first, second, are_graded=are_graded))


def test_all_of_it():
    assert said(result()) == (
        "People and gpt-4o rank the runs alike: τ 0.77 [0.62, 0.79]. They give the same label to 77 % of 13,158 items, "
        "κ 0.58; where they differ, gpt-4o is stricter 58 % of the time. On a single topic, trust the order less: "
        "τ 0.63."
    )
    figures = [part.text for part in sentences(result(), "people", "gpt-4o", are_graded=True) if part.is_figure]
    assert figures == ["τ 0.77", "77 %", "κ 0.58", "58 %", "τ 0.63"]


@pytest.mark.parametrize(
    ("tau", "words"),
    [
        (0.9, "almost the same way"),
        (0.896, "almost the same way"),  # it is shown as 0.90
        (0.894, "alike"),
        (0.7, "alike"),
        (0.69, "somewhat alike"),
        (0.5, "somewhat alike"),
        (0.49, "differently"),
        (-0.5, "differently"),
        (-0.51, "in opposite ways"),
    ],
)
def test_the_words_follow_tau(tau: float, words: str):
    assert f"rank the runs {words}: τ {tau:.2f} " in said(result(tau))


def test_who_is_stricter_follows_the_side_of_the_diagonal():
    assert "gpt-4o is stricter 75 % of the time" in said(result(above=0.1, below=0.3))
    assert "gpt-4o is more lenient 75 % of the time" in said(result(above=0.3, below=0.1))
    assert "people are more lenient 75 % of the time" in said(result(above=0.3, below=0.1), "gpt-4o", "people")
    assert "where they differ" not in said(result(above=0.1, below=0.3), are_graded=False)
    assert "where they differ" not in said(result(above=0.0, below=0.0))


def test_a_topic_is_trusted_less_only_where_its_tau_is_lower():
    assert "On a single topic, the order agrees as much: τ 0.80." in said(result(0.77, 0.8))
    assert "single topic" not in said(result(0.77, None))


def test_few_topics_are_a_caution():
    caution = "Only 4 topics, too few to rank runs by. Between people and gpt-4o: τ 0.77 [0.62, 0.79]. They give "
    assert said(result(topics=4)).startswith(caution)
    assert "single topic" not in said(result(topics=4))
    assert said(result(topics=1)).startswith("Only 1 topic, ")
    assert "too few" not in said(result(topics=5))


def test_what_was_not_compared_is_not_claimed():
    scores, labels = result(), result()
    scores["labels"] = None
    assert said(scores).split(". ")[1] == "They have no labels of the same items"
    labels["scores"] = None
    assert said(labels).startswith("People and gpt-4o give the same label to 77 % of 13,158 items, κ 0.58;")
    assert "rank" not in said(labels)
    assert said(result(None)).startswith(
        "The rankings of people and gpt-4o can't be compared: τ is undefined. They give"
    )
    assert said({"scores": None, "labels": None}) == ""
    two_scales = result()
    two_scales["labels"]["unweighted"] = statistic(None)
    assert "κ" not in said(two_scales)


def test_the_key_figures_and_the_runs_that_moved():
    assert [(one.label, one.value, one.below) for one in key_figures(result())] == [
        ("Rankings of runs", "τ 0.77", "0.62 to 0.79"),
        ("Within a topic", "τ 0.63", "mean of 21 topics"),
        ("Single answers", "τ 0.65", "945 answers"),
        ("Equal labels", "77 %", "of 13,158"),
        ("Beyond chance", "κ 0.58", "unweighted"),
        ("Largest move", "3 places", "a"),
    ]
    # b and c tie for the second place; d has no score on the first side, so it moved nowhere.
    assert [(one.run, one.first, one.second, one.words) for one in moves(result())] == [
        ("a", 1, 4, "↓ 3"),
        ("b", 2, 1, "↑ 1"),
    ]
    assert moves({"scores": None}) == []


def point(k: int, tau: float | None, low: float | None = None, high: float | None = None) -> dict[str, Any]:
    return {"k": k, "runs": k, "pairs": k, "tau": tau, "equal_noise": 0.5, "low": low, "high": high}


def at_the_top(first: list[dict[str, Any]], second: list[dict[str, Any]], topics: int = 21) -> str:
    found = result(topics=topics)
    found["scores"]["measures"]["vstrict"]["top"] = {"first": first, "second": second, "best": {}}
    told = said(found)
    return told[told.index(" Among") :] if " Among" in told else ""


def test_the_best_runs_are_told_of_only_where_tau_leaves_the_band_of_equal_noise():
    within = [point(5, -1), point(10, 0.2, 0.2, 0.8), point(15, 0.8, 0.2, 0.8), point(45, 0.1, 0.4, 0.8)]
    assert at_the_top(within, within) == ""
    below = [point(5, -1), point(10, 0.5, 0.2, 0.8), point(15, 0.19, 0.2, 0.8), point(20, 0.9, 0.4, 0.8), within[-1]]
    assert at_the_top(below, within) == (
        " Among the best 15 runs by people, the rankings agree less than under equal noise: "
        "τ 0.19, against 0.20 to 0.80."
    )
    above = [point(10, 0.81, 0.2, 0.8), within[-1]]
    assert at_the_top(within, above).startswith(" Among the best 10 runs by gpt-4o, the rankings agree more than under")
    means_alone = [point(10, -1), point(45, None)]
    assert at_the_top(means_alone, means_alone) == ""
    assert at_the_top(below, within, topics=4) == ""


def test_lines_of_tau_have_both_intervals():
    found = result()
    statistics = found["scores"]["measures"]["vstrict"]["statistics"]
    statistics["tau_run"]["interval"]["bca"] = {"low": 0.701, "high": 0.839}
    statistics["tau_topic"]["interval"] = {"low": 0.5, "high": 0.6, "mean": 0.55}
    statistics["tau_topic"]["interval"]["bca"] = {"low": None, "high": None, "why": "all draws lie below the value"}
    run, topic, cell = spans(found, 0)
    assert (run.interval, run.bca, run.why) == ("0.62 to 0.79", "0.70 to 0.84", "")
    assert run.words == "τ 0.77, interval 0.62 to 0.79, BCa 0.70 to 0.84"
    assert (topic.bca, topic.why) == ("", "all draws lie below the value")
    assert (cell.interval, cell.bca, cell.why) == ("", "", "")


def test_lines_of_tau_begin_at_0_or_below():
    found = result()
    assert span_start(found) == 0
    first = spans(found, 0)[0]
    assert (first.measure, first.level, first.value) == ("Vital, strict", "45 runs", "0.77")
    assert (first.point, first.low, first.high, first.mean) == ("77.0%", "62.0%", "79.0%", "70.5%")
    below = result(-0.2)
    assert span_start(below) == -1
    assert spans(below, -1)[0].point == "40.0%"


def test_small_figures_have_a_dot_for_each_run_that_both_score():
    [one] = multiples(result())
    assert (one.title, one.tau, one.scale) == ("Vital, strict", "τ 0.77", "1")
    assert one.dots == "M90.0 90.0h0M50.0 30.0h0M50.0 40.0h0"
