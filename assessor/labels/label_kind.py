"""What all kinds of label have to say of themselves: each label app has one object of it, in its label_kind.py."""

from collections.abc import Sequence

from assessor.collection.condition_kinds import ConditionKind, condition_kinds


class LabelKind(ConditionKind):
    """A kind of label: its vocabulary, its work on a screen, and how its labels are scored, exported and studied."""

    labels: Sequence[str]  # in ascending order
    items: str  # what gets a label: "nuggets"
    job: str  # the kind of job in which a model gives them
    blind_method: str  # of conditions under which people give them and see no others


def label_kinds() -> list[LabelKind]:
    """Return all kinds of label, in the order of INSTALLED_APPS."""
    return [kind for kind in condition_kinds() if isinstance(kind, LabelKind)]


def label_kind(name: str) -> LabelKind:
    """Return the kind of label of this name. Raises KeyError."""
    return {kind.name: kind for kind in label_kinds()}[name]
