"""Alarms watch labels of every kind."""

import pytest

from assessor.accounts.models import Person
from assessor.labels.label_kind import label_kind
from assessor.runtime.process_cache import cache
from assessor.work.models import Task
from tests.conftest import client_of
from tests.labels.conftest import POST_EDITED
from tests.labels.screens import Screen


def test_labels_of_each_kind_are_watched(screen: Screen, anna: Person, olga: Person):
    client = client_of(anna)
    for item in screen.items:
        assert screen.label(client, item, screen.labels[0], seconds=1).status_code == 200
    cache.clear()
    response = client_of(olga).get("/campaigns/study/alarms/alarms.csv")
    lines = [line.split(",") for line in response.getvalue().decode().splitlines()[1:]]
    speed = [line for line in lines if line[:3] == ["anna", screen.kind, "speed"]]
    assert [(line[4], line[6]) for line in speed] == [(str(len(screen.items)), "1.0")]
    assert f"{len(screen.items)} labels of " in client_of(olga).get("/campaigns/study/alarms/").content.decode()
    is_graded = label_kind(screen.kind).is_graded
    checks = {line[2] for line in lines if line[1] == screen.kind}
    assert checks == {"agreement", "model", "speed", "equal"} | ({"shares", "drift"} if is_graded else set())


@pytest.mark.parametrize("any_screen", POST_EDITED, indirect=True)
def test_who_sees_a_model_s_labels_is_not_held_against_it(any_screen: Screen, anna: Person, olga: Person):
    client = client_of(anna)
    for item in any_screen.items:
        if any_screen.send(client, item, "show").status_code == 200:  # else the model gave none, and nobody can
            assert any_screen.label(client, item, any_screen.labels[0]).status_code == 200
    Task.objects.filter(pk=any_screen.task.pk).update(state=Task.State.FINISHED)
    cache.clear()
    response = client_of(olga).get("/campaigns/study/alarms/alarms.csv")
    lines = [line.split(",") for line in response.getvalue().decode().splitlines()[1:]]
    looked_at = {line[2]: line[4] for line in lines if line[:2] == ["anna", any_screen.kind]}
    assert looked_at["speed"] != "0"
    assert (looked_at["model"], looked_at["equal"], looked_at["drift"]) == ("0", "0", "0")
