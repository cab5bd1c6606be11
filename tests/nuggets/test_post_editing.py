"""AutoNuggets+Edits: drafts come to a person without importance and in no telling order, and nothing else does."""

import html
import re
from collections.abc import Callable
from uuid import UUID, uuid4

import pytest
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from assessor.accounts.models import Person
from assessor.campaigns.actions import change_protocol
from assessor.campaigns.models import Campaign, Condition, Topic
from assessor.llm.models import ModelJudge
from assessor.work.actions import PlanError, give_tasks, withdraw_task
from assessor.work.blindness import has_seen
from assessor.work.models import Exposure, Task
from nuggets import actions
from nuggets.actions.drafts import store_drafting
from nuggets.drafting import Step, shuffled
from nuggets.editing import FIELDS, NuggetList, apply
from nuggets.models import Nugget, NuggetBank
from nuggets.queries import findings, nuggets_in_order
from tests.conftest import client_of
from tests.nuggets.conftest import NEW, NEWER, do, fill, known_list, listed, send, shown, url
from tests.nuggets.model import draft, make_condition, make_job, make_model, run, says

DRAFTS = [f"fact {chr(97 + number % 26)}{number}" for number in range(30)]


@pytest.fixture
def model(campaign: Campaign, import_file) -> ModelJudge:
    """A model, in a campaign where every relevant segment of t1 has its text."""
    import_file(campaign, "segments", [{"docid": "d4", "segment": "Purring heals."}])
    return make_model(campaign)


@pytest.fixture
def edits(model: ModelJudge) -> Condition:
    return make_condition(model)


Give = Callable[..., list[Task]]


@pytest.fixture
def give(campaign: Campaign, anna: Person, olga: Person) -> Give:
    def do_it(condition: Condition, *qids: str, person: Person = anna) -> list[Task]:
        topics = list(campaign.topics.filter(qid__in=qids or ["t1"]).order_by("qid"))
        return give_tasks(campaign=campaign, topics=topics, condition=condition, person=person, acting_user=olga)

    return do_it


@pytest.fixture
def drafted(edits: Condition, topic: Topic, give: Give) -> NuggetBank:
    """Anna's bank with the thirty drafts, just given."""
    draft(edits, [topic], DRAFTS)
    [task] = give(edits)
    return NuggetBank.objects.get(task=task)


def bank_of(task: Task) -> NuggetBank:
    return NuggetBank.objects.select_related("condition__protocol", "drafting").get(task=task)


# Giving


def test_without_drafts_nothing_is_given_and_the_topics_are_named(edits: Condition, campaign: Campaign, give: Give):
    with pytest.raises(PlanError) as refused:
        give(edits, "t1", "t2")
    reason = "Under Telltale condition there are no drafts yet on {}: have them made first."
    assert str(refused.value) == reason.format("t1, t2")
    draft(edits, [campaign.topics.get(qid="t2")], ["a"])
    with pytest.raises(PlanError) as refused:
        give(edits, "t1", "t2")
    assert str(refused.value) == reason.format("t1")
    assert (Task.objects.count(), NuggetBank.objects.count()) == (0, 0)
    assert len(give(edits, "t2")) == 1


def test_drafts_of_another_condition_are_not_taken(edits: Condition, model: ModelJudge, topic: Topic, give: Give):
    other = make_condition(make_model(model.campaign, "Other judge"), name="Other")
    draft(other, [topic], ["other"])
    with pytest.raises(PlanError, match="no drafts yet on t1"):
        give(edits)
    [task] = give(other)
    assert [nugget.text for nugget in nuggets_in_order(bank_of(task))] == ["other"]


@pytest.mark.parametrize("method", ["AutoNuggets", "imported"])
def test_nobody_is_given_what_people_do_not_write(model: ModelJudge, give: Give, method: str):
    condition = make_condition(model, method)
    with pytest.raises(PlanError) as refused:
        give(condition)
    assert str(refused.value) == ("Nobody can be given Telltale condition: its nuggets are not written by people here.")


def test_the_plan_offers_conditions_of_people_alone(drafted: NuggetBank, condition: Condition, olga: Person):
    model = drafted.condition.judge.model
    make_condition(model, "AutoNuggets", name="By the model alone")
    page = client_of(olga).get("/campaigns/study/plan/").content.decode()
    offered = re.findall(
        r"<option value=\"\d+\">([^<]+)</option>", page.split('name="condition"')[1].split("</select>")[0]
    )
    assert sorted(offered) == ["ManualNuggets", "Telltale condition"]
    draft(drafted.condition, [Topic.objects.get(qid="t2")], ["a"])
    task = drafted.task
    data = {"condition": drafted.condition.pk, "person": task.person.pk, "topics": [Topic.objects.get(qid="t2").pk]}
    assert client_of(olga).post("/campaigns/study/plan/give/", data).status_code == 302
    assert Task.objects.filter(topic__qid="t2", condition=drafted.condition).count() == 1


def test_the_drafts_stand_on_the_list_in_the_order_of_the_stored_seed(drafted: NuggetBank, model: ModelJudge):
    nuggets = nuggets_in_order(drafted)
    assert drafted.draft_seed is not None
    order = shuffled(30, drafted.draft_seed)
    assert [nugget.draft for nugget in nuggets] == order != sorted(order)
    assert [nugget.text for nugget in nuggets] == [DRAFTS[place - 1] for place in order]
    kept = {(nugget.origin, nugget.importance, nugget.made_by, len(nugget.evidence)) for nugget in nuggets}
    assert kept == {("drafted", "", model.judge, 0)}
    assert drafted.maker == drafted.task.person.judge
    assert drafted.drafting == drafted.condition.draftings.get()


def test_neither_keys_nor_uids_tell_the_models_order(drafted: NuggetBank):
    in_order = [nugget.pk for nugget in nuggets_in_order(drafted)]
    assert in_order == sorted(in_order)
    by_uid = [nugget.draft for nugget in drafted.nuggets.order_by("uid")]
    assert by_uid != sorted(by_uid)
    assert {nugget.uid.version for nugget in drafted.nuggets.all()} == {4}


def test_each_person_gets_an_order_of_their_own(drafted: NuggetBank, give: Give, ben: Person, olga: Person):
    withdraw_task(task=drafted.task, acting_user=olga)
    [task] = give(drafted.condition, person=ben)
    bens = bank_of(task)
    assert bens.draft_seed != drafted.draft_seed
    texts = [[nugget.text for nugget in nuggets_in_order(bank)] for bank in (drafted, bens)]
    assert texts[0] != texts[1]
    assert sorted(texts[0]) == sorted(texts[1]) == sorted(DRAFTS)
    assert bens.drafting == drafted.drafting


def test_the_protocol_may_keep_the_models_order(
    campaign: Campaign, model: ModelJudge, topic: Topic, give: Give, olga: Person
):
    change_protocol(campaign=campaign, settings={"draft_order": "as_generated"}, acting_user=olga)
    condition = make_condition(model)
    draft(condition, [topic], DRAFTS)
    [task] = give(condition)
    bank = bank_of(task)
    assert [nugget.text for nugget in nuggets_in_order(bank)] == DRAFTS
    assert bank.draft_seed is None


def test_a_topic_that_comes_back_is_as_it_was_left(drafted: NuggetBank, give: Give, olga: Person):
    do(drafted, actions.delete_nugget, uid=nuggets_in_order(drafted)[0].uid)
    before = listed(drafted)
    withdraw_task(task=drafted.task, acting_user=olga)
    give(drafted.condition)
    assert listed(drafted) == before
    assert NuggetBank.objects.count() == 1


def test_who_works_on_another_topic_continues_there(drafted: NuggetBank, condition: Condition, give: Give, as_anna):
    assert (drafted.task.done, drafted.task.total, drafted.task.worked_at) == (0, 0, None)
    [task] = give(condition, "t2")
    fill(bank_of(task), (uuid4(), "a", ""))
    draft(drafted.condition, [task.topic], ["a"])
    give(drafted.condition, "t2")
    assert as_anna.get("/").context["next_task"].task == task


def test_a_draft_is_done_once_it_is_decided(drafted: NuggetBank):
    def done() -> int:
        return Task.objects.get(pk=drafted.task_id).done

    first, second, third, fourth, fifth = nuggets_in_order(drafted)[:5]
    assert done() == 0, "a model made them all, and nobody has looked"
    do(drafted, actions.set_reading, text="what is behind it")
    do(drafted, actions.move_nugget, uid=first.uid, to=3)
    do(drafted, actions.reword_nugget, uid=first.uid, text=first.text)
    do(drafted, actions.attach_evidence, uid=first.uid, evidence={"docid": "d1", "start": None, "end": None})
    assert done() == 0, "none is decided yet"
    do(drafted, actions.keep_draft, uid=fifth.uid)
    do(drafted, actions.reword_nugget, uid=first.uid, text="said otherwise")
    do(drafted, actions.delete_nugget, uid=second.uid)
    assert done() == 2
    fill(drafted, (NEW, "what the model left out", ""))
    do(drafted, actions.merge_nuggets, uids=[third.uid, fourth.uid], uid=NEWER, text="both")
    assert done() == 4, "what a person wrote or merged is theirs"
    for _ in range(4):
        do(drafted, actions.undo)
    assert done() == 1


# Deciding


def undecided(bank: NuggetBank) -> list[UUID]:
    return [nugget.uid for nugget in NuggetBank.objects.get(pk=bank.pk).undecided_drafts()]


@pytest.mark.parametrize(
    ("verb", "fields"),
    [
        ("keep", {}),
        ("reword", {"text": "said otherwise"}),
        ("importance", {"importance": "vital"}),
        ("delete", {}),
        ("split", {"uid1": str(NEW), "text1": "one", "uid2": str(NEWER), "text2": "two"}),
    ],
)
def test_each_decision_is_an_edit_that_undo_takes_back(
    drafted: NuggetBank, as_anna: Client, verb: str, fields: dict[str, str]
):
    first, *others = undecided(drafted)
    assert len(others) == 29
    key = uuid4()
    for _ in range(2):  # sent again, it is done once
        response = send(as_anna, drafted, verb, on=first, key=key, version=1, **fields)
        assert (response.status_code, response["X-Assay-Version"]) == (200, "2")
        assert undecided(drafted) == others
    told = {row["uid"]: row.get("undecided", False) for row in response.json()["nuggets"]}
    assert {uid for uid, is_undecided in told.items() if is_undecided} == set(map(str, others))
    assert drafted.edits.get(version=2).verb == fields.get("importance", verb)
    assert "1 of 30 drafts decided" in as_anna.get(url(drafted, "editor")).content.decode()
    send(as_anna, drafted, "undo")
    assert undecided(drafted) == [first, *others]
    assert "0 of 30 drafts decided" in as_anna.get(url(drafted, "editor")).content.decode()
    send(as_anna, drafted, "redo")
    assert undecided(drafted) == others


def test_a_merge_decides_all_that_it_takes(drafted: NuggetBank, as_anna: Client):
    first, second, *others = undecided(drafted)
    send(as_anna, drafted, "merge", uids=f"{first} {second}", uid=str(NEW), text="both")
    assert undecided(drafted) == others


def test_what_decides_nothing_leaves_a_draft_undecided(drafted: NuggetBank, as_anna: Client):
    before = undecided(drafted)
    send(as_anna, drafted, "move", on=before[0], to="4")
    send(as_anna, drafted, "attach", on=before[0], docid="d1")
    send(as_anna, drafted, "note", on=before[0], text="hm")
    send(as_anna, drafted, "reword", on=before[1], text=f" {drafted.nuggets.get(uid=before[1]).text} ")
    assert set(undecided(drafted)) == set(before)


def test_a_decided_draft_is_kept_once(drafted: NuggetBank, as_anna: Client):
    first = undecided(drafted)[0]
    for _ in range(2):
        assert send(as_anna, drafted, "keep", on=first).status_code == 200
    assert list(drafted.edits.values_list("verb", flat=True)) == ["drafts", "keep"]
    assert send(as_anna, drafted, "keep", on=NEW).status_code == 400


def test_undecided_drafts_are_not_handed_in_and_are_listed(drafted: NuggetBank, as_anna: Client):
    first, second, third, *others = nuggets_in_order(drafted)
    for nugget in others:
        do(drafted, actions.set_importance, uid=nugget.uid, importance="okay")
    do(drafted, actions.keep_draft, uid=third.uid)
    response = send(as_anna, drafted, "finish")
    assert response.status_code == 422
    assert [
        (finding.uid, finding.message, finding.is_undecided) for finding in findings(drafted, nuggets_in_order(drafted))
    ] == [
        (str(first.uid), f"Nugget 1: {first.text}", True),
        (str(second.uid), f"Nugget 2: {second.text}", True),
        (str(third.uid), "Nugget 3 is neither vital nor okay yet.", False),
    ]
    told = response.json()["findings"]
    assert "Keep these 2</button>" in told
    listed = told.partition('id="still-undecided"')[2]
    assert re.findall(r'href="#n-([^"]+)"', listed) == [str(first.uid), str(second.uid)]
    for nugget in (first, second):
        do(drafted, actions.keep_draft, uid=nugget.uid)
    told = send(as_anna, drafted, "finish").json()["findings"]
    assert "neither vital nor okay" in told
    assert "Keep these" not in told
    for nugget in (first, second, third):
        do(drafted, actions.set_importance, uid=nugget.uid, importance="vital")
    assert send(as_anna, drafted, "finish").status_code == 200


# The history


def test_the_story_begins_with_the_drafts_and_replays(drafted: NuggetBank):
    [first] = drafted.edits.all()
    assert (first.version, first.verb, first.judge, first.parent) == (1, "drafts", drafted.condition.judge, None)
    assert (drafted.version, drafted.head) == (1, None)
    given = list(drafted.order)
    uids = [nugget.uid for nugget in nuggets_in_order(drafted)]
    do(drafted, actions.merge_nuggets, uids=uids[:2], uid=NEW, text="merged")
    do(drafted, actions.reword_nugget, uid=uids[2], text="reworded")
    do(drafted, actions.undo)
    do(drafted, actions.delete_nugget, uid=uids[3])
    do(drafted, actions.redo)
    nuggets = {nugget.name: {name: getattr(nugget, name) for name in FIELDS} for nugget in drafted.nuggets.all()}
    story = NuggetList([], {pk: dict(fields) for pk, fields in nuggets.items()})
    for edit in drafted.edits.order_by("version"):
        apply(story, edit.about.changes if edit.about else edit.changes, backwards=edit.verb == "undo")
    assert (story.order, story.items) == (drafted.order, nuggets)
    for _ in range(9):
        do(drafted, actions.undo)
    assert (drafted.order, drafted.head) == (given, None)


def test_undo_does_not_take_the_drafts_back(drafted: NuggetBank, as_anna: Client):
    page = shown(as_anna.get(url(drafted, "editor")))
    assert (page.version, page.undo, page.redo) == (1, False, False)
    assert send(as_anna, drafted, "undo").status_code == 200
    assert len(listed(drafted)) == 30
    assert drafted.edits.count() == 1


# Who has seen them


def seen(person: Person) -> list[tuple[str, str, str]]:
    return list(Exposure.objects.filter(person=person).values_list("topic__qid", "kind", "where"))


SEEN = [("t1", "nuggets", "nuggets of Telltale condition")]


def test_who_opens_them_has_seen_a_models_nuggets_on_the_topic(drafted: NuggetBank, anna: Person, as_anna: Client):
    assert as_anna.get("/").status_code == 200
    assert seen(anna) == []
    for _ in range(3):
        assert as_anna.get(url(drafted, "editor")).status_code == 200
    assert seen(anna) == SEEN


@pytest.mark.parametrize("version", ["1", "0"])
def test_so_has_who_gets_them_by_a_write_alone(drafted: NuggetBank, anna: Person, as_anna: Client, version: str):
    response = send(as_anna, drafted, "add", uid=str(NEW), text="a", version=version)
    assert response.status_code == (200 if version == "1" else 409)
    assert DRAFTS[0] in response.content.decode()
    assert seen(anna) == SEEN


def test_others_who_look_have_not(drafted: NuggetBank, bank: NuggetBank, ben: Person, olga: Person, as_anna: Client):
    assert client_of(olga).get(url(drafted, "editor")).status_code == 200
    assert client_of(ben).get(url(drafted, "editor")).status_code == 404
    assert as_anna.get(url(bank, "editor")).status_code == 200
    assert not Exposure.objects.exists()


def test_who_has_seen_them_writes_no_nuggets_by_hand_there(
    drafted: NuggetBank, condition: Condition, campaign: Campaign, give: Give, anna: Person, as_anna: Client
):
    [manual] = give(condition)
    assert as_anna.get(url(bank_of(manual), "editor")).status_code == 200
    as_anna.get(url(drafted, "editor"))
    assert as_anna.get(url(bank_of(manual), "editor")).status_code == 403
    assert send(as_anna, bank_of(manual), "add", uid=str(NEW), text="a").status_code == 403
    topics = list(campaign.topics.order_by("qid"))
    assert has_seen(anna, topics, condition) == {drafted.topic_id}
    assert send(as_anna, drafted, "add", uid=str(NEW), text="a").status_code == 200
    assign = Condition(campaign=campaign, kind="assignment", method="ManualAssign")
    assert has_seen(anna, topics, assign) == set()


# What they see


def origins(response: HttpResponse) -> list[str]:
    """Return what a page, or the answer to a write, says of each nugget's origin; of both it is the same."""
    if response["Content-Type"] == "application/json":
        return [row["origin"] for row in response.json()["nuggets"]]
    return [row["origin"] for row in known_list(response)]


def test_a_chip_says_what_is_a_draft_and_what_became_of_it(drafted: NuggetBank, as_anna: Client):
    assert origins(as_anna.get(url(drafted, "editor"))) == ["draft"] * 30
    uids = [nugget.uid for nugget in nuggets_in_order(drafted)]
    text = nuggets_in_order(drafted)[0].text
    send(as_anna, drafted, "reword", on=uids[0], text="other")
    response = send(as_anna, drafted, "add", uid=str(NEW), text="new")
    assert origins(response) == ["edited"] + ["draft"] * 29 + ["added"]
    send(as_anna, drafted, "reword", on=uids[0], text=f"  {text} ")
    send(as_anna, drafted, "merge", uids=f"{uids[1]} {uids[2]}", uid=str(NEWER), text="both")
    parts = {"uid1": str(UUID(int=20)), "text1": "one", "uid2": str(UUID(int=21)), "text2": "two"}
    response = send(as_anna, drafted, "split", on=uids[3], **parts)
    assert origins(response) == ["kept", "merged from 2", "split", "split"] + ["draft"] * 26 + ["added"]
    page = origins(as_anna.get(url(drafted, "editor")))
    assert page == origins(response)
    template = as_anna.get(url(drafted, "editor")).content.decode().split('<template id="new-row">')[1]
    assert '<span class="chip origin">added</span>' in template.split("</template>")[0]


def test_where_nothing_was_drafted_only_merged_and_split_nuggets_say_so(bank: NuggetBank, as_anna: Client):
    fill(bank, (NEW, "a", "vital"), (NEWER, "b", "vital"), (UUID(int=22), "c d", "okay"))
    page = as_anna.get(url(bank, "editor"))
    assert origins(page) == ["", "", ""]
    assert '"draft":' not in html.unescape(page.content.decode())
    send(as_anna, bank, "merge", uids=f"{NEW} {NEWER}", uid=str(UUID(int=23)), text="both")
    parts = {"uid1": str(UUID(int=20)), "text1": "c", "uid2": str(UUID(int=21)), "text2": "d"}
    response = send(as_anna, bank, "split", on=UUID(int=22), **parts)
    assert origins(response) == ["merged from 2", "split", "split"]
    assert origins(as_anna.get(url(bank, "editor"))) == ["merged from 2", "split", "split"]


def comparable(response: HttpResponse) -> tuple[int, str, dict[str, str]]:
    """Return a response without what differs between any two banks: their keys, the nuggets' uids, tokens."""
    body = re.sub(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "UID", response.content.decode())
    body = re.sub(r'(data-bank="|/nuggets/|/work/)\d+', r"\1N", body)
    body = re.sub(r'(name="csrfmiddlewaretoken" value=")\w+', r"\1T", body)
    headers = {name: value for name, value in response.items() if name != "Expires"}
    headers["Content-Security-Policy"] = re.sub("'nonce-[^']+'", "", headers.get("Content-Security-Policy", ""))
    return response.status_code, body, headers


def test_two_models_pages_are_alike_but_for_the_drafts(
    campaign: Campaign, topic: Topic, give: Give, as_anna: Client, monkeypatch
):
    """Neither name nor order of a model shows anywhere, whatever it is answered: the texts are all that is told."""
    orders = {"First": [1, 2, 3], "Second": [3, 1, 2]}
    lists = {"First": ["x", "y", "z"], "Second": ["y", "z", "x"]}
    told = {}
    for name in ("First", "Second"):
        condition = make_condition(make_model(campaign, f"{name} judge", f"{name}-telltale"), name=f"{name} condition")
        draft(condition, [topic], lists[name])
        monkeypatch.setattr("nuggets.actions.preparation.shuffled", lambda count, seed, name=name: orders[name])
        [task] = give(condition)
        bank = bank_of(task)
        uids = [nugget.uid for nugget in nuggets_in_order(bank)]
        assert [nugget.text for nugget in nuggets_in_order(bank)] == ["x", "y", "z"]
        responses = [
            as_anna.get(url(bank, "editor")),
            send(as_anna, bank, "add", uid=str(uuid4()), text="new"),
            send(as_anna, bank, "reword", on=uids[1], text="other", version="0"),
            send(as_anna, bank, "finish"),
            send(as_anna, bank, "importance", on=uids[1], importance="maybe"),
            send(as_anna, bank, "merge", uids=f"{uids[0]} {uids[2]}", uid=str(uuid4()), text="both"),
            as_anna.get(url(bank, "editor")),
            as_anna.get(f"/nuggets/{bank.pk}/add/"),
            as_anna.get(f"/nuggets/{bank.pk + 1000}/"),
        ]
        assert [response.status_code for response in responses] == [200, 200, 409, 422, 400, 200, 200, 405, 404]
        home = as_anna.get("/")
        for response in [*responses, home]:
            everything = response.content.decode() + str(dict(response.items())) + str(response.cookies)
            for telltale in ("judge", "telltale", f"{name} condition", "127.0.0.1:9"):
                assert telltale not in everything
        told[name] = [comparable(response) for response in responses]
    assert told["First"] == told["Second"]


def test_a_models_own_bank_on_the_topic_leaves_no_trace(
    drafted: NuggetBank, model: ModelJudge, topic: Topic, as_anna: Client
):
    """What the same model thinks important, in a bank of its own on the same topic, is nowhere in a response."""

    def answers() -> list[tuple[int, str, dict[str, str]]]:
        uid = nuggets_in_order(drafted)[0].uid
        responses = [
            as_anna.get(url(drafted, "editor")),
            send(as_anna, drafted, "reword", on=uid, text=nuggets_in_order(drafted)[0].text),
            send(as_anna, drafted, "reword", on=uid, text="late", version="0"),
            send(as_anna, drafted, "finish"),
            as_anna.get("/"),
        ]
        assert [response.status_code for response in responses] == [200, 200, 409, 422, 200]
        return [comparable(response) for response in responses]

    before = answers()
    auto = make_condition(model, "AutoNuggets", name="Auto")
    _, failed = run(make_job(auto, [topic]), says(DRAFTS, ["vital", "okay"] * 15))
    assert failed == {}
    assert NuggetBank.objects.get(condition=auto).nuggets.filter(importance="vital").exists()
    assert answers() == before
    page = as_anna.get(url(drafted, "editor")).content.decode()
    assert " checked" not in page
    assert [importance for _, _, importance in shown(as_anna.get(url(drafted, "editor"))).rows] == [""] * 30


def test_even_with_a_models_importance_in_its_record_a_draft_has_none(
    edits: Condition, topic: Topic, give: Give, as_anna: Client
):
    """Were it ever asked, it would stay out of the bank."""
    store_drafting(make_job(edits, [topic]), topic.pk, [Step(["d1"], ["a", "b"])], [["vital", "okay"]])
    [task] = give(edits)
    assert listed(bank_of(task)) in ([("a", ""), ("b", "")], [("b", ""), ("a", "")])
    assert " checked" not in as_anna.get(url(bank_of(task), "editor")).content.decode()


def test_the_editor_has_only_attributes_that_tell_nothing(drafted: NuggetBank, as_anna: Client):
    page = as_anna.get(url(drafted, "editor")).content.decode()
    assert re.findall(r'<li class="nugget"([^>]*)>', page) == [' tabindex="-1"'], "of the blank row"
    rows = known_list(as_anna.get(url(drafted, "editor")))
    assert len(rows) == 30
    for row in rows:
        assert sorted(row) == ["draft", "evidence", "importance", "note", "origin", "text", "uid", "undecided"]


# Handing in


def test_as_many_as_there_were_drafts_can_be_handed_in(drafted: NuggetBank, as_anna: Client):
    page = as_anna.get(url(drafted, "editor")).content.decode()
    assert "of 30 at most" in page
    assert 'data-most="30"' in page
    assert len(findings(drafted, nuggets_in_order(drafted))) == 30
    assert all(finding.is_undecided for finding in findings(drafted, nuggets_in_order(drafted)))
    assert send(as_anna, drafted, "finish").status_code == 422
    Nugget.objects.filter(bank=drafted).update(importance="okay", is_undecided=False)
    fill(drafted, (NEW, "one more", "okay"))
    assert [finding.message for finding in findings(drafted, nuggets_in_order(drafted))] == [
        "There are 31 nuggets; at most 30 can be handed in."
    ]
    do(drafted, actions.delete_nugget, uid=NEW)
    assert send(as_anna, drafted, "finish").status_code == 200
    drafted.refresh_from_db()
    assert (drafted.state, drafted.edition) == ("finished", 1)
    drafted.task.refresh_from_db()
    assert (drafted.task.done, drafted.task.total) == (30, 30)


def test_by_hand_twenty_are_the_most(bank: NuggetBank, as_anna: Client):
    page = as_anna.get(url(bank, "editor")).content.decode()
    assert "of 20 at most" in page
    assert 'data-most="20"' in page
    fill(bank, *((uuid4(), f"n{number}", "okay") for number in range(21)))
    assert [finding.message for finding in findings(bank, nuggets_in_order(bank))] == [
        "There are 21 nuggets; at most 20 can be handed in."
    ]


def test_an_emptied_draft_cannot_be_handed_in(drafted: NuggetBank):
    Nugget.objects.filter(bank=drafted).update(importance="okay", is_undecided=False)
    do(drafted, actions.reword_nugget, uid=nuggets_in_order(drafted)[4].uid, text=" ")
    assert [finding.message for finding in findings(drafted, nuggets_in_order(drafted))] == ["Nugget 5 has no text."]


def test_a_finished_bank_can_be_reopened_and_edited_on(drafted: NuggetBank, olga: Person, as_anna: Client):
    Nugget.objects.filter(bank=drafted).update(importance="okay", is_undecided=False)
    do(drafted, actions.finish_bank)
    actions.reopen_bank(drafted, reason="too many", acting_user=olga)
    response = send(as_anna, drafted, "delete", on=nuggets_in_order(drafted)[0].uid)
    assert origins(response) == ["kept"] * 29
    do(drafted, actions.finish_bank)
    assert timezone.now() >= drafted.finished_at
