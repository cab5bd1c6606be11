"""Hints to look at what waits in the database. A queue keeps few of them, whatever its machines' clocks say."""

from typing import Any

from celery import current_app

MOST = 20  # messages; Celery's own `expires` goes by the clocks of sender and worker


def is_full(queue: str) -> bool:
    """Say whether so many messages wait in a queue that one more would tell its workers nothing new."""
    with current_app.connection_for_write() as connection:
        channel: Any = connection.channel()  # kombu's types don't know what every transport's has
        return bool(channel.queue_declare(queue=queue, durable=True, auto_delete=False).message_count >= MOST)
