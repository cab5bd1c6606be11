"""What the screens of labelling have in common."""

from collections.abc import Sequence
from typing import Any

from assessor.work.actions.guidelines import shown_guidelines
from assessor.work.models import MAX_REASON, Task
from assessor.work.queries import minutes, place


def workbench_context(task: Task, scripts: Sequence[str]) -> dict[str, Any]:
    """Return what labels/workbench.html shows around the answers of a task, which its access returned."""
    return {
        "task": task,
        "max_reason": MAX_REASON,
        "scripts": scripts,
        "guidelines": shown_guidelines(task.campaign_id, task.kind, task.guidelines_version),
        "place": place(task),
        "time": minutes(task.seconds),
    }
