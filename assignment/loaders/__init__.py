"""Loaders: from a file's records to rows of a campaign."""

from assignment.loaders.assignments import AssignmentLoader

__all__ = ["AssignmentLoader"]
