"""Hints to look at what waits in the database. A queue keeps few of them, whatever its machines' clocks say."""

from typing import Any

from django.utils.module_loading import import_string

MOST = 20  # messages; Celery's own `expires` goes by the clocks of sender and worker


def send(task: str, *args: Any) -> None:
    """Send a task, given by its path: Celery is loaded with the first (5 MiB, 0.1 s), and not at each start (7 MiB)."""
    import_string(task).delay(*args)


def is_full(queue: str) -> bool:
    """Say whether so many messages wait in a queue that one more would tell its workers nothing new."""
    from assessor.celery import app

    with app.connection_for_write() as connection:
        channel: Any = connection.channel()  # kombu's types don't know what every transport's has
        return bool(channel.queue_declare(queue=queue, durable=True, auto_delete=False).message_count >= MOST)
