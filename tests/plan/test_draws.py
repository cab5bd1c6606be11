"""Topics drawn at random for a condition: the page of draws, further batches, and plan.csv, which says so."""

import csv
import re
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign, Condition
from assessor.plan.actions import draw_topics, plan_work
from assessor.plan.exports import plan_lines
from assessor.plan.random_allocation import draw
from assessor.work.actions import PlanError
from assessor.work.models import Draw, Task
from tests.conftest import client_of
from tests.support.judging_helpers import from_scratch
from tests.support.scores_helpers import import_answers, judge, support_condition

PAGE = "/campaigns/study/plan/draws/"
TOPICS = [f"t{number}" for number in range(1, 9)]
SAID = {"run.a": {qid: ["f"] for qid in TOPICS}}


@pytest.fixture
def study(campaign: Campaign, import_file) -> Campaign:
    assert import_file(campaign, "topics", "".join(f"{qid}\tabout {qid}\n" for qid in TOPICS[2:])).state == "done"
    import_answers(campaign, import_file, SAID)
    return campaign


@pytest.fixture
def people(study: Campaign) -> Condition:
    return from_scratch(study, "People")


@pytest.fixture
def client(olga: Person) -> Client:
    return client_of(olga)


def post(client: Client, condition: Condition, **asked: object) -> str:
    response = client.post(PAGE, {"condition": condition.pk, "drawn": 0} | asked, follow=True)
    return re.sub(r"\s+", " ", response.content.decode())


def hidden(section: str, name: str) -> list[str]:
    return re.findall(rf'<input type="hidden" name="{name}" value="(\d+)">', section)


def test_topics_are_drawn_on_the_page_and_are_on_record(client: Client, people: Condition, olga: Person):
    text = client.get(PAGE).content.decode()
    assert f'href="{PAGE.removesuffix("draws/")}" aria-current="true"' in text
    assert re.search(r'<input type="number" name="seed" value="\d+"', text), "a seed, so that twice is not drawn twice"
    text = post(client, people, number=3, seed=7)
    assert "Drawn under People: 3 of 8 topics, seed 7." in text
    made = Draw.objects.get()
    assert (made.condition, made.seed, made.frame, made.created_by) == (people, 7, TOPICS, olga)
    assert made.topics == draw(7, TOPICS, 3)
    assert "<dt>Seed</dt><dd>7</dd>" in text
    assert "<dt>Probability</dt><dd>0.375, of each topic of the frame</dd>" in text
    assert f"<p>olga, {made.created_at:%Y-%m-%d}" in text
    assert 'Frame: 8 topics</summary> <p class="any">' + ", ".join(TOPICS) in text
    drawn = text.split("<dt>Drawn now</dt>")[1].split("</dd>")[0]
    assert re.findall(r">(t\d)</a>", drawn) == made.topics
    # They can be given to somebody from here.
    keys = {topic.qid: str(topic.pk) for topic in people.campaign.topics.all()}
    form = text.split('action="/campaigns/study/plan/give/"')[1].split("</form>")[0]
    assert hidden(form, "topics") == [keys[qid] for qid in made.topics]
    assert hidden(form, "condition") == [str(people.pk)]
    assert not people.waiting.exists()


def test_the_same_form_twice_draws_once(client: Client, people: Condition):
    post(client, people, number=3, seed=7)
    text = post(client, people, number=3, seed=7)
    assert "3 topics were drawn with seed 7 under People. Draw more of them, or use another seed." in text
    assert Draw.objects.count() == 1


def test_a_further_batch_keeps_the_frame_and_what_was_drawn(client: Client, people: Condition, import_file):
    post(client, people, number=3, seed=7, in_queue="on")
    assert import_file(people.campaign, "topics", "t9\tnew\n").state == "done"
    import_answers(people.campaign, import_file, {"run.b": {"t9": ["f"]}})
    judge(support_condition(people.campaign, "Model"), SAID)
    text = client.get(PAGE).content.decode()
    [form] = [one for one in text.split("<form") if ">Draw more</button>" in one]
    assert (hidden(form, "seed"), hidden(form, "drawn"), hidden(form, "condition")) == (["7"], ["3"], [str(people.pk)])
    assert 'max="5"' in form
    text = post(client, people, number=2, seed=7, drawn=3, in_queue="on")
    first, second = Draw.objects.order_by("pk")
    assert second.topics == draw(7, TOPICS, 5)
    assert second.topics[:3] == first.topics
    assert (second.frame, second.probability) == (TOPICS, 5 / 8)
    # What comes next was decided before there were scores, and no other seed was used.
    assert second.scored_models == []
    assert ">drawn again<" not in text
    assert ">drawn after scores<" not in text
    assert sorted(one.topic.qid for one in people.waiting.all()) == sorted(second.topics)
    assert text.count(">Draw more</button>") == 1
    drawn = text.split("<dt>Drawn now</dt>")[1].split("</dd>")[0]
    assert re.findall(r">(t\d)</a>", drawn) == second.topics[3:]
    with pytest.raises(PlanError, match="9 topics are wanted, and there are 8"):
        draw_topics(condition=people, number=9, seed=7, acting_user=None)


def test_another_seed_is_drawn_again_and_after_scores(client: Client, people: Condition):
    post(client, people, number=3, seed=7)
    judge(support_condition(people.campaign, "Model"), SAID)
    text = post(client, people, number=3, seed=8)
    assert text.count(">drawn again<") == text.count(">drawn after scores<") == 1
    assert '<dt>Scores by a model were there</dt><dd class="any">Model</dd>' in text
    assert 'People, draw 2</h2> <span class="chip warn">drawn again</span>' in text


def test_what_cannot_be_drawn_is_refused(client: Client, people: Condition):
    model = support_condition(people.campaign, "Model")
    assert f'<option value="{model.pk}"' not in client.get(PAGE).content.decode()
    assert "9 topics are wanted, and there are 8." in post(client, people, number=9, seed=1)
    assert 'role="alert"' in post(client, model, number=1, seed=1)
    for wrong in ({"number": 0}, {"seed": -1}, {"number": ""}):
        assert 'role="alert"' in post(client, people, **({"number": 1, "seed": 1} | wrong))
    assert not Draw.objects.exists()


def test_the_plan_says_from_which_draw_a_topic_came(people: Condition, import_file, ben: Person):
    campaign = people.campaign
    first = draw_topics(condition=people, number=2, seed=7, acting_user=None)
    second = draw_topics(condition=people, number=4, seed=7, acting_user=None)
    undrawn = next(qid for qid in TOPICS if qid not in second.topics)
    wanted = [campaign.topics.get(qid=qid) for qid in (*second.topics, undrawn)]
    plan_work(condition=people, topics=wanted[:3], person=ben, acting_user=None)
    plan_work(condition=people, topics=wanted[3:], person=None, acting_user=None)
    written = "".join(plan_lines(campaign))
    rows = {row["topic"]: row for row in csv.DictReader(StringIO(written))}
    assert {qid: row["draw"] for qid, row in rows.items()} == {
        **dict.fromkeys(first.topics, "1"),
        **dict.fromkeys(second.topics[2:], "2"),
        undrawn: "",
    }
    # Read back, it changes nothing.
    again = import_file(campaign, "plan", written, name="plan.csv")
    assert again.report["counts"] == {"lines": 6, "pieces of work already so": 5}
    assert "".join(plan_lines(campaign)) == written


def test_a_file_says_no_draw_that_does_not_have_the_topic(people: Condition, import_file, ben: Person):
    made = draw_topics(condition=people, number=2, seed=7, acting_user=None)
    undrawn = next(qid for qid in TOPICS if qid not in made.topics)
    header = "topic,support,assessor,draw\n"
    why = "the number of a draw that has the topic, under a condition of the line; draw topics first"
    for qid, number in ((undrawn, "1"), (made.topics[0], "2"), (made.topics[0], "0"), (made.topics[0], "first")):
        refused = import_file(people.campaign, "plan", f"{header}{qid},People,ben,{number}\n", name="plan.csv")
        [problem] = refused.report["errors"]
        assert list(problem.values())[:4] == [2, "draw", number, why]
    assert not Task.objects.exists()
    done = import_file(people.campaign, "plan", f"{header}{made.topics[0]},People,ben,1\n", name="plan.csv")
    assert done.state == "done", done.report
    assert Task.objects.get().topic.qid == made.topics[0]


def test_work_of_two_draws_on_a_topic_is_on_two_lines(people: Condition, manual: Condition, ben: Person, import_file):
    campaign = people.campaign
    topic = campaign.topics.get(qid="t2")
    for one in (people, manual):
        plan_work(condition=one, topics=[topic], person=ben, acting_user=None)
    Draw.objects.create(condition=people, seed=1, frame=TOPICS, topics=["t2"])

    def rows() -> list[tuple[str, str, str]]:
        found = csv.DictReader(StringIO("".join(plan_lines(campaign))))
        of_ben = [row for row in found if (row["topic"], row["assessor"]) == ("t2", "ben")]
        return [(row["assignment"], row["support"], row["draw"]) for row in of_ben]

    assert rows() == [("Manual/Manual", "People", "1")]
    for drawn in (["t1"], ["t1", "t2"]):
        Draw.objects.create(condition=manual, seed=1, frame=["t1", "t2"], topics=drawn)
    assert rows() == [("Manual/Manual", "", "2"), ("", "People", "1")]
    written = "".join(plan_lines(campaign))
    assert import_file(campaign, "plan", written, name="plan.csv").state == "done"
    assert "".join(plan_lines(campaign)) == written


def test_the_command_draws_further_topics(people: Condition, capsys):
    call_command("draw_topics", "study", condition="People", n=2, seed=7, queue=True)
    call_command("draw_topics", "study", condition="People", n=3, seed=7, queue=True)
    assert capsys.readouterr().out.split() == [*draw(7, TOPICS, 2), *draw(7, TOPICS, 3)]
    assert people.waiting.count() == 3
    with pytest.raises(CommandError, match="3 topics were drawn with seed 7"):
        call_command("draw_topics", "study", condition="People", n=3, seed=7)


def test_only_further_topics_wait_in_the_queue(people: Condition, ben: Person):
    first = draw_topics(condition=people, number=2, seed=7, acting_user=None)
    given = list(people.campaign.topics.filter(qid__in=first.topics))
    plan_work(condition=people, topics=given, person=ben, acting_user=None)
    second = draw_topics(condition=people, number=3, seed=7, in_queue=True, acting_user=None)
    assert [one.topic.qid for one in people.waiting.all()] == second.topics[2:]


def test_draws_are_organizers_alone(people: Condition, otto: Person, anna: Person):
    for person in (otto, anna):
        assert client_of(person).get(PAGE).status_code == 404
        assert client_of(person).post(PAGE, {"condition": people.pk, "number": 1, "seed": 1}).status_code == 404
    assert not Draw.objects.exists()
