"""Finished nuggets and answers, as the tests of assignment have them."""

from tests.assignment.conftest import answered, finished, manual, nugget_ids, task

__all__ = ["answered", "finished", "manual", "nugget_ids", "task"]
