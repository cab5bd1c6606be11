"""Alarms watch labels of every kind."""

from assessor.accounts.models import Person
from assessor.labels.label_kind import label_kind
from assessor.runtime.process_cache import cache
from tests.conftest import client_of
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
    is_graded = label_kind(screen.kind).is_graded
    checks = {line[2] for line in lines if line[1] == screen.kind}
    assert checks == {"agreement", "model", "speed", "equal"} | ({"shares", "drift"} if is_graded else set())
