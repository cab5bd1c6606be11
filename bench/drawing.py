"""Do people who race for the next topic ever get one that somebody else has?

    python -m bench.drawing [--database URL] [--requests 10000] [--passages]

Ten people in two tabs each ask for the next topic of a queue of 100, without a pause and from threads of their own,
10,000 times in all. Now and then one finishes what they have, or their lease runs out; the last eight topics are never
finished, so that they go from hand to hand. In the end each topic must be one person's, handed out only while it was
free, and nobody may have two at once.

With --passages twenty people draw the passages of one topic for relevance instead (assessor.relevance.leases), judge
some of what they hold, and lose the lease of some. A passage must never be in the hands of two, and be judged once.
"""

import argparse
import json
import os
import random
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from bench import house, track

if TYPE_CHECKING:
    from assessor.accounts.models import Person
    from assessor.campaigns.models import Condition
    from assessor.work.models import Task

TOPICS, PASSAGES, UNFINISHED, PEOPLE, TABS = 100, 400, 8, 10, 2
FINISHES, LAPSES = 0.03, 0.2  # of the requests: after so many a topic is finished, or its lease runs out


def prepare(folder: Path) -> "tuple[Condition, list[Person]]":
    """Make a campaign whose topics wait for whoever writes their nuggets, and the people who will draw them."""
    from assessor.work.actions import put_in_queue
    from nuggets.actions import create_manual_nuggets

    campaign = house.new_campaign()
    topics, qrels = folder / "topics.tsv", folder / "qrels.txt"
    topics.write_text("".join(f"q{number}\twhat is {number}\n" for number in range(TOPICS)))
    qrels.write_text("".join(f"q{number} 0 d{number} 1\n" for number in range(TOPICS)))
    house.load(campaign, track.Part("topics", topics, {}, TOPICS))
    house.load(campaign, track.Part("qrels", qrels, {"source": track.PEOPLE, "by": "people"}, TOPICS))
    source = campaign.qrels_sources.get()
    condition = create_manual_nuggets(campaign=campaign, name="Nuggets", qrels_source=source, acting_user=None)
    put_in_queue(topics=list(campaign.topics.order_by("qid")), condition=condition, acting_user=None)
    return condition, [house.person(f"assessor-{number}", "assessor") for number in range(PEOPLE)]


def race(condition: "Condition", people: "list[Person]", requests: int) -> tuple[float, list[str]]:
    """Have all of them ask at once; return the seconds it took, and what went wrong there and then."""
    from django.db import OperationalError, connections

    from assessor.work.actions import PlanError, draw_next
    from assessor.work.models import Task

    wrong: list[str] = []
    refused: list[str] = []
    endless = set(condition.waiting.order_by("-pk").values_list("topic", flat=True)[:UNFINISHED])
    ready = threading.Barrier(len(people) * TABS)

    def ask(number: int) -> None:
        person, chance = people[number % len(people)], random.Random(number)
        try:
            ready.wait()
            for _ in range(requests // (len(people) * TABS)):
                try:
                    task = draw_next(condition=condition, person=person)
                except PlanError:
                    continue
                except OperationalError as error:  # waited too long for SQLite's one writer: nothing was handed out
                    refused.append(str(error))
                    continue
                if task.person_id != person.pk:
                    wrong.append(f"{person} was handed {task}")
                mine = Task.objects.filter(pk=task.pk, state=Task.State.OPEN)
                if chance.random() < LAPSES:
                    mine.update(leased_until=task.created_at)
                elif chance.random() < FINISHES and task.topic_id not in endless:
                    mine.update(state=Task.State.FINISHED, leased_until=None)
        except Exception as error:
            wrong.append(f"{type(error).__name__}: {error}")
        finally:
            connections.close_all()

    threads = [threading.Thread(target=ask, args=[number]) for number in range(len(people) * TABS)]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if refused:
        print(f"{len(refused)} requests were refused: {', '.join(set(refused))}")
    return time.perf_counter() - started, wrong


def prepare_passages(folder: Path) -> "list[Task]":
    """Make a campaign with a topic whose pool of passages is drawn from, and the tasks of those who draw."""
    from assessor.relevance.actions import create_relevance
    from assessor.work.actions import give_tasks

    campaign = house.new_campaign()
    protocol = campaign.protocol
    protocol.pool_depth = PASSAGES
    protocol.save()
    topics, segments, ranking = folder / "topics.tsv", folder / "segments.jsonl", folder / "ranking.txt"
    topics.write_text("q\twhat is it\n")
    segments.write_text(
        "".join(json.dumps({"docid": f"d{number}", "segment": f"It is {number}."}) + "\n" for number in range(PASSAGES))
    )
    ranking.write_text("".join(f"q Q0 d{number} {number + 1} {PASSAGES - number} r\n" for number in range(PASSAGES)))
    house.load(campaign, track.Part("topics", topics, {}, 1))
    house.load(campaign, track.Part("segments", segments, {}, PASSAGES))
    house.load(campaign, track.Part("retrieval", ranking, {}, PASSAGES))
    condition = create_relevance(campaign=campaign, name="Grades", shown=None, from_queue=True, acting_user=None)
    people = [house.person(f"assessor-{number}", "assessor") for number in range(PEOPLE * TABS)]
    by = {"campaign": campaign, "topics": list(campaign.topics.all()), "condition": condition, "acting_user": None}
    return [task for person in people for task in give_tasks(person=person, **by)]


def race_for_passages(tasks: "list[Task]", requests: int) -> tuple[float, list[str]]:
    """Have all of them draw at once; return the seconds it took, and what went wrong.

    Who holds what is kept here too, beside the database: whoever lets go is told here before it is done there.
    """
    from django.db import OperationalError, connections, transaction
    from django.utils import timezone

    from assessor.relevance.actions import judge
    from assessor.relevance.leases import at_hand
    from assessor.relevance.models import LabelEvent, RelevanceJudgment

    wrong: list[str] = []
    refused: list[str] = []
    holders: dict[int, int] = {}
    lock = threading.Lock()
    handed = Counter[int]()
    endless = set(RelevanceJudgment.objects.order_by("-pk").values_list("pk", flat=True)[:UNFINISHED])
    ready = threading.Barrier(len(tasks))

    def let_go(item: int, person: int) -> None:
        with lock:
            if holders.get(item) == person:
                del holders[item]

    def draw(task: "Task", chance: random.Random) -> None:
        person = task.person_id
        items = at_hand(task)
        with lock:
            for item in items:
                if holders.setdefault(item.pk, person) != person:
                    wrong.append(f"passage {item.pk} is in the hands of {holders[item.pk]} and {person}")
                handed[item.pk] += 1
        for item in items:
            if chance.random() < LAPSES:
                let_go(item.pk, person)
                RelevanceJudgment.objects.filter(pk=item.pk, holder=person, state="open").update(
                    held_until=timezone.now()
                )
            elif chance.random() < FINISHES * 5 and item.pk not in endless:
                seen = RelevanceJudgment.objects.get(pk=item.pk).version
                grade = {"item_id": item.pk, "grade": 2, "reason": "", "seconds": None}
                with transaction.atomic():
                    judge(task, **grade, acting_user=task.person, seen=seen)
                let_go(item.pk, person)

    def work(number: int) -> None:
        task, chance = tasks[number], random.Random(number)
        try:
            ready.wait()
            for _ in range(requests // len(tasks)):
                try:
                    draw(task, chance)
                except OperationalError as error:  # waited too long for SQLite's one writer: nothing was handed out
                    refused.append(str(error))
        except Exception as error:
            wrong.append(f"{type(error).__name__}: {error}")
        finally:
            connections.close_all()

    threads = [threading.Thread(target=work, args=[number]) for number in range(len(tasks))]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took = time.perf_counter() - started
    judged = Counter(LabelEvent.objects.values_list("judgment__docid", flat=True))
    wrong += [f"{docid} was judged {count} times" for docid, count in judged.items() if count > 1]
    several = sum(count > 1 for count in handed.values())
    print(f"{len(handed)} passages handed out, {several} of them more than once in turn; {len(judged)} judged")
    if refused:
        print(f"{len(refused)} requests were refused: {', '.join(set(refused))}")
    return took, wrong


def shared(condition: "Condition") -> list[str]:
    """Return what no race may leave: topics of two people, people with two topics, more handed out than recorded."""
    from assessor.campaigns.models import Event
    from assessor.work.models import Task

    held = Task.objects.filter(condition=condition).exclude(state=Task.State.WITHDRAWN)
    topics = Counter(held.values_list("topic__qid", flat=True))
    unfinished = held.filter(state=Task.State.OPEN).values_list("person__username", flat=True)
    drawn, lapsed = (Event.objects.filter(verb=verb).count() for verb in ("task drawn", "lease ran out"))
    found = [f"{qid} is {count} people's" for qid, count in topics.items() if count > 1]
    found += [f"{name} has {count} topics" for name, count in Counter(unfinished).items() if count > 1]
    if drawn - lapsed != held.count():
        found.append(f"{drawn} drawn, {lapsed} taken over, but {held.count()} are somebody's")
    print(f"{drawn} topics drawn, {lapsed} of them from somebody whose lease ran out")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", default="", help="The URL of an empty PostgreSQL database; else SQLite.")
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--passages", action="store_true", help="Race for passages of a topic, not for topics.")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as name:
        folder = Path(name)
        os.environ["ASSAY_DATABASE_POOL"] = str(PEOPLE * TABS + 1)
        house.open_house(folder, chosen.database)
        if chosen.passages:
            seconds, wrong = race_for_passages(prepare_passages(folder), chosen.requests)
        else:
            condition, people = prepare(folder)
            seconds, wrong = race(condition, people, chosen.requests)
            wrong += shared(condition)
        print(f"{chosen.requests} requests in {seconds:.0f} s, {chosen.requests / seconds:.0f} a second")
        if wrong:
            print(f"WRONG: {len(wrong)}:", *wrong[:5], sep="\n  ")
        raise SystemExit(len(wrong))


if __name__ == "__main__":
    main()
