"""Once: a write is carried out for its key and its person, whole or not at all."""

from uuid import UUID

import pytest
from django.db import IntegrityError
from django.test import RequestFactory

from assessor.accounts.models import Person
from assessor.work.models import Task, Write
from assessor.work.write_protocol import BadWrite, Result, Sent, once, sent

KEY = UUID(int=77)
WRITE = Sent(KEY, 0, "what is asked")


class Counted:
    """Something to carry out, which counts how often it was."""

    def __init__(self, fails: Exception | None = None) -> None:
        self.times = 0
        self.fails = fails

    def __call__(self) -> Result:
        self.times += 1
        if self.fails:
            raise self.fails
        return {"version": self.times}


def test_a_key_is_carried_out_once(task: Task):
    work = Counted()
    assert [once(task, WRITE, work) for _ in range(3)] == [{"version": 1}] * 3
    assert (work.times, Write.objects.count()) == (1, 1)
    assert once(task, WRITE._replace(key=UUID(int=78)), work) == {"version": 2}
    assert (work.times, Write.objects.count()) == (2, 2)


def test_the_version_that_was_seen_is_part_of_what_is_asked_and_not_compared_again(task: Task):
    work = Counted()
    once(task, WRITE, work)
    assert once(task, WRITE._replace(seen=1), work) == {"version": 1}


@pytest.mark.parametrize("what", ["person", "request"])
def test_a_known_key_is_refused_for_anything_else(task: Task, anna: Person, ben: Person, what: str):
    work = Counted()
    once(task, WRITE, work)
    write = WRITE if what == "person" else WRITE._replace(request="another thing")
    if what == "person":
        task.person = ben
    with pytest.raises(BadWrite, match=r"^This key was used for another write\.$"):
        once(task, write, work)
    assert (work.times, Write.objects.get().person) == (1, anna)
    task.person = anna
    assert once(task, WRITE, work) == {"version": 1}


@pytest.mark.parametrize("error", [BadWrite("no"), IntegrityError("no"), ZeroDivisionError("no")])
def test_what_fails_leaves_no_key_and_can_be_sent_again(task: Task, error: Exception):
    with pytest.raises(type(error), match=r"^no$"):
        once(task, WRITE, Counted(error))
    assert Write.objects.count() == 0
    assert once(task, WRITE, Counted()) == {"version": 1}


def test_equal_requests_ask_the_same_and_others_do_not():
    def ask(path: str = "/a/", **changed: str) -> str:
        fields = {"key": str(KEY), "version": "1", "text": "a"} | changed
        write = sent(RequestFactory().post(path, fields))
        assert write[:2] == (KEY, int(fields["version"]))
        return write.request

    assert ask() == ask() == ask(csrfmiddlewaretoken="x" * 64)
    others = [ask("/b/"), ask(text="b"), ask(text=""), ask(version="2"), ask(more="1"), ask(text="a', 'b")]
    assert len({ask(), *others}) == len(others) + 1
