"""What one campaign costs where nine others of a track's size are in the database too, on PostgreSQL.

    python -m bench.ten_tracks --database URL [--scale 0.01] [--tracks 10]

A track gets a label of each nugget in each answer by a model, and a hundred assessors who have the same answers to
label. It is measured alone, then with copies of it, of its people too, under other keys. Pages and scores are measured
by the blocks that their queries read, which no neighbour on the machine changes; saving, by a real server. Last, the
labels are copied into tables that are partitioned by campaign and by answer, and the same is asked of these. The role
of the database must be its administrator, who may copy without checks of foreign keys.
"""

import os
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bench import assigning, house, people, scores, track
from bench.people import Pace, Work

if TYPE_CHECKING:
    from assessor.campaigns.models import Campaign
    from assessor.work.models import Task

PEOPLE = 100
APART = 10**9  # between the keys of two copies
PACE = Pace("one assessor", 1, 10, 0, 1)
PARTITIONS = 16


class Cost(NamedTuple):
    """Of a page: queries, the blocks of 8 KiB that they read, and CPU milliseconds of the web process."""

    queries: int
    blocks: int
    cpu: float


def prepare(folder: Path, scale: float) -> "tuple[Campaign, list[Task]]":
    """Fill the database with a track; return it, and the tasks of its people."""
    from assignment.actions import create_manual_assign

    campaign = house.new_campaign()
    for part in track.write(folder / "track", scale):
        if part.kind in ("topics", "runs", "run_list"):
            house.load(campaign, part)
    scores.add_items(campaign, folder)
    scores.label(campaign)
    nuggets = campaign.conditions.get(name=scores.NUGGETS.name)
    manual = create_manual_assign(nuggets=nuggets, name="by hand", acting_user=None)
    return campaign, house.give(manual, [house.person(f"assessor-{number}", "assessor") for number in range(PEOPLE)])


def copy(number: int) -> None:
    """Copy all that belongs to the track, and its people, under keys and names of their own."""
    from django.db import connection

    from assessor.accounts.models import Person
    from assessor.archive.registry import OF_CAMPAIGN

    # Without what each judge has once, whom campaigns share.
    models = [Person, *(kept.model for kept in OF_CAMPAIGN if kept.label != "llm.modeljudge")]
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        for model in models:
            into, taken = [], []
            for field in model._meta.concrete_fields:
                column = connection.ops.quote_name(str(field.column))
                into.append(column)
                if field.primary_key or field.related_model in models:
                    taken.append(f"{column} + {number * APART}")
                elif field.unique:
                    is_uuid = field.get_internal_type() == "UUIDField"
                    taken.append("gen_random_uuid()" if is_uuid else f"{column} || '-{number}'")
                else:
                    taken.append(column)
            table = connection.ops.quote_name(model._meta.db_table)
            first = f"{connection.ops.quote_name(str(model._meta.pk.column))} < {APART}"
            cursor.execute(
                f"INSERT INTO {table} ({', '.join(into)}) SELECT {', '.join(taken)} FROM {table} WHERE {first}"
            )
        cursor.execute("SET session_replication_role = DEFAULT")


@contextmanager
def queries_of() -> "Iterator[list[str]]":
    """Yield what will be the texts of all queries that are asked meanwhile."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    asked: list[str] = []
    with CaptureQueriesContext(connection) as captured:
        yield asked
    asked += [one["sql"] for one in captured.captured_queries]


def blocks_of(sql: str) -> tuple[int, float]:
    """Return how many blocks a query reads, and the milliseconds that it takes; what it writes is taken back."""
    from django.db import connection, transaction

    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {sql}")
        [told] = cursor.fetchone()[0]
        transaction.set_rollback(True)
    return told["Plan"]["Shared Hit Blocks"] + told["Plan"]["Shared Read Blocks"], told["Execution Time"]


def cost(do: Callable[[], object]) -> Cost:
    """Return what it costs to do something in this process, the second time."""
    do()
    worked = time.process_time()
    do()
    worked = time.process_time() - worked
    with queries_of() as asked:
        do()
    selects = [sql for sql in asked if sql.startswith("SELECT") and "pg_current_snapshot" not in sql]
    return Cost(len(asked), sum(blocks_of(sql)[0] for sql in selects), 1000 * worked)


def costs(campaign: "Campaign", task: "Task") -> dict[str, Cost]:
    """Return what pages and scores of a campaign cost, of home and of an assessor's next answer too."""
    from assessor.runtime.process_cache import cache
    from assessor.scores.cache import condition_scores

    organizer, assessor = house.client(campaign.created_by), house.client(task.person)  # type: ignore[arg-type]
    labels = campaign.conditions.get(name=scores.NUGGETS.labels_name)
    base, sheet = f"/campaigns/{campaign.slug}/", task.answer_sheets.filter(by_rule=False).earliest("place").pk

    def get(client: Any, address: str) -> Callable[[], object]:
        def do() -> None:
            assert client.get(address, follow=True).status_code == 200, address

        return do

    def score() -> None:
        cache.clear()
        condition_scores(labels)

    found = {"organizer's home": cost(get(organizer, "/")), "assessor's home": cost(get(assessor, "/"))}
    for name in ("", "progress/", "scores/", "exports/", "conditions/", "history/", "topics/", "plan/"):
        found[name or "overview"] = cost(get(organizer, base + name))
    found["an answer"] = cost(get(assessor, f"/assign/{task.pk}/answers/{sheet}/"))
    found["all scores of a condition"] = cost(score)
    return found


def saving(tasks: "list[Task]") -> None:
    """Print how long an answer and a label take."""
    from assignment.models import AnswerSheet

    work = Work("/assign/{}/", "nugget", assigning.LABELS, AnswerSheet)
    own = [(task, assigning.items(task)[:2_000]) for task in tasks[:1]]
    people.measure(work, PACE, people.Limits(), own)


def sizes(table: str) -> None:
    """Print how large a table and its indexes are, for each row, and how long it takes to look through it."""
    from django.db import connection

    with connection.cursor() as cursor:
        started = time.perf_counter()
        cursor.execute(f"VACUUM (ANALYZE) {table}")
        took = time.perf_counter() - started
        cursor.execute(f"SELECT count(*) FROM {table}")
        rows = cursor.fetchone()[0]
        cursor.execute(
            "SELECT sum(pg_relation_size(oid)), sum(pg_indexes_size(oid)) FROM pg_class "
            "WHERE oid = %s::regclass OR oid IN (SELECT relid FROM pg_partition_tree(%s))",
            [table, table],
        )
        heap, indexes = cursor.fetchone()
    each = f"{heap / rows:.0f} + {indexes / rows:.0f} bytes of table and indexes for each"
    print(f"{table}: {rows:,} rows, {each}; VACUUM ANALYZE {took:.1f} s; load {os.getloadavg()[0]:.1f}", flush=True)


def partition() -> list[str]:
    """Copy the labels into partitioned tables; return their names, with that of the product's own first."""
    from django.db import connection

    from assignment.models import AnswerSheet, Assignment

    table, sheets = Assignment._meta.db_table, AnswerSheet._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(
            f"CREATE TABLE by_campaign (LIKE {table}, campaign_id bigint NOT NULL) PARTITION BY LIST (campaign_id)"
        )
        cursor.execute(f"CREATE TABLE by_answer (LIKE {table}) PARTITION BY HASH (sheet_id)")
        cursor.execute("SELECT id FROM campaigns_campaign ORDER BY id")
        for [key] in cursor.fetchall():
            cursor.execute(f"CREATE TABLE by_campaign_{key} PARTITION OF by_campaign FOR VALUES IN ({key})")
        for part in range(PARTITIONS):
            cursor.execute(
                f"CREATE TABLE by_answer_{part} PARTITION OF by_answer "
                f"FOR VALUES WITH (MODULUS {PARTITIONS}, REMAINDER {part})"
            )
        cursor.execute(f"INSERT INTO by_answer SELECT * FROM {table}")
        cursor.execute(
            f"INSERT INTO by_campaign SELECT label.*, condition.campaign_id FROM {table} label "
            f"JOIN {sheets} sheet ON sheet.id = label.sheet_id "
            "JOIN campaigns_condition condition ON condition.id = sheet.condition_id"
        )
        for name, key in {"by_campaign": "campaign_id", "by_answer": "sheet_id"}.items():
            cursor.execute(f"ALTER TABLE {name} ADD PRIMARY KEY (id, {key})")
            cursor.execute(
                f"CREATE UNIQUE INDEX ON {name} (sheet_id, nugget_id{', campaign_id' * (key == 'campaign_id')})"
            )
            cursor.execute(
                "SELECT indexdef FROM pg_indexes WHERE tablename = %s AND indexdef NOT LIKE '%%UNIQUE%%'", [table]
            )
            for [definition] in cursor.fetchall():
                cursor.execute(f"CREATE INDEX ON {name} {definition.split(f' ON public.{table} ')[1]}")
    return [table, "by_campaign", "by_answer"]


def compare(tables: list[str], campaign: "Campaign", task: "Task") -> None:
    """Print what the same queries of labels cost in each table."""
    from django.db import connection

    condition = campaign.conditions.get(name=scores.NUGGETS.labels_name)
    sheets = "SELECT id FROM assignment_answersheet WHERE condition_id"
    with connection.cursor() as cursor:
        cursor.execute(f"{sheets} = %s ORDER BY id LIMIT 1", [condition.pk])
        sheet = cursor.fetchone()[0]
    for table in tables:
        named = f" AND campaign_id = {campaign.pk}" if table == "by_campaign" else ""
        asked = {
            "labels of an answer": f"SELECT * FROM {table} WHERE sheet_id = {sheet}",
            "labels of a condition": f"SELECT * FROM {table} WHERE sheet_id IN ({sheets} = {condition.pk})",
            "a label changed": f"UPDATE {table} SET seconds = 1 WHERE sheet_id = {sheet} AND nugget_id IN "
            f"(SELECT min(nugget_id) FROM {table} WHERE sheet_id = {sheet})",
        }
        if named:
            asked |= {f"{what}, campaign named": sql + named for what, sql in asked.items()}
        for what, sql in asked.items():
            blocks_of(sql)
            blocks, took = blocks_of(sql)
            print(f"{table}: {what}: {blocks:,} blocks, {took:.2f} ms", flush=True)


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--database", required=True, help="The DATABASE_URL of an empty PostgreSQL database.")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--tracks", type=int, default=10)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as name:
        house.open_house(Path(name), chosen.database)
        house.collect_static_files()
        campaign, tasks = prepare(Path(name), chosen.scale)
        from assessor.runtime.analyze import look_at_grown_tables
        from assignment.models import Assignment

        table = Assignment._meta.db_table
        sizes(table)
        saving(tasks)
        alone = costs(campaign, tasks[-1])
        for number in range(1, chosen.tracks):
            copy(number)
            print(f"{number + 1} tracks", flush=True)
        look_at_grown_tables()
        sizes(table)
        saving(tasks[len(tasks) // 2 :])
        for what, one in costs(campaign, tasks[-1]).items():
            before = alone[what]
            print(
                f"{what}: {before.queries} -> {one.queries} queries, {before.blocks:,} -> {one.blocks:,} blocks, "
                f"{before.cpu:.0f} -> {one.cpu:.0f} ms CPU",
                flush=True,
            )
        tables = partition()
        for each in tables:
            sizes(each)
        compare(tables, campaign, tasks[-1])


if __name__ == "__main__":
    main()
