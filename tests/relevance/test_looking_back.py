"""What an organizer replied stands beside its passage, for who asked alone; and what was said, with its guidelines."""

import json
import re
from html import unescape

from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign
from assessor.labels.replies import reply
from assessor.relevance.models import RelevanceJudgment
from assessor.work.actions.guidelines import change_guidelines
from assessor.work.models import ReplyRead, Task
from tests.conftest import client_of, open_guidelines
from tests.relevance.conftest import give_relevance, judge_item, send


def answer(task: Task, docid: str, text: str, olga: Person) -> None:
    reply(task=task, sheet=None, item=docid, question="can't judge: in Latin", text=text, acting_user=olga)


def beside(client: Client, task: Task) -> dict[str, list[str]]:
    """Return what the page tells to be said beside passages, by docid."""
    text = client.get(f"/relevance/{task.pk}/").content.decode()
    named = dict(RelevanceJudgment.objects.values_list("pk", "docid"))
    [replies] = re.findall(r'data-replies="(.*?)"', text)
    return {named[int(pk)]: told[pk] for pk, told in json.loads(unescape(replies)).items()}


def test_a_reply_stands_beside_the_passage_that_it_is_about(task: Task, as_anna: Client, olga: Person):
    item = RelevanceJudgment.objects.get(docid="d1")
    assert send(as_anna, task, "judge", item=item.pk, reason="in Latin").status_code == 200
    answer(task, "d1", "Grade <b>it</b> 0.", olga)
    assert beside(as_anna, task) == {"d1": ["Grade <b>it</b> 0."]}
    assert not ReplyRead.objects.exists()  # as on the other screens: it may be about what is not on screen
    assert "Grade &lt;b&gt;it&lt;/b&gt; 0." in as_anna.get("/answers/").content.decode()
    assert ReplyRead.objects.count() == 1
    assert "d1" in beside(as_anna, task), "a reply that was read stays beside its passage"
    assert "olga" not in as_anna.get(f"/relevance/{task.pk}/").content.decode()


def test_who_has_the_passage_next_reads_no_reply_to_another(
    pooled: Campaign, anna: Person, ben: Person, as_anna: Client, olga: Person
):
    first, second = (give_relevance(pooled, person, from_queue=True) for person in (anna, ben))
    answer(first, "d1", "Grade it 0.", olga)
    answer(second, "d2", "Grade it 1.", olga)
    assert beside(client_of(ben), second) == {"d2": ["Grade it 1."]}
    assert beside(as_anna, first) == {"d1": ["Grade it 0."]}


def test_what_was_said_is_read_again_with_reply_and_guidelines(task: Task, anna: Person, as_anna: Client, olga: Person):
    items = {item.docid: item for item in RelevanceJudgment.objects.all()}
    assert send(as_anna, task, "judge", item=items["d1"].pk, reason="in Latin").status_code == 200
    campaign = task.campaign
    change_guidelines(campaign=campaign, kind="relevance", text="Second.", seen=1, acting_user=olga)
    open_guidelines(anna, campaign, "relevance")
    assert send(as_anna, task, "judge", item=items["d2"].pk, grade=3).status_code == 200
    for docid in ("d3", "d4"):
        judge_item(items[docid])
    answer(task, "d1", "Leave it.", olga)
    text = as_anna.get(f"/relevance/{task.pk}/").content.decode()
    said = {line.split("</a>")[0].split(">")[-1]: line for line in text.split("<li>")[1:]}
    assert ("guidelines v1" in said["d1"], "Leave it." in said["d1"]) == (True, True)
    assert ("guidelines v2" in said["d2"], "your organizer" in said["d2"]) == (True, False)
    assert "guidelines v" not in said["d3"], "who said it by no page had opened none"
    rows = client_of(olga).get(f"/relevance/{task.pk}/").content.decode().split("<tr>")
    assert ["v1" in row for row in rows if "d1" in row or "d2" in row] == [False, True]
