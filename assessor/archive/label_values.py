"""Labels in an archive: where kinds share tables, each label is one of its condition's kind."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

from django.db.models import Model

from assessor.archive.errors import wrong
from assessor.campaigns.condition_kind import kind_named
from assessor.campaigns.models import Condition
from assessor.labels.label_kind import label_kinds
from assessor.labels.models import AnswerLabel, JudgedAnswer, LabelEvent

_VALUES = ("value", "resolved_value", "shown_value", "value_before")


class LabelValues:
    """What an archive has of conditions and judged answers, which come before their labels; by the numbers of lines."""

    def __init__(self) -> None:
        counts = Counter(kind.sheets for kind in label_kinds() if kind.judges_answers)
        self._shared = {model for model, number in counts.items() if number > 1}
        self._labels: list[tuple[str, ...]] = []  # of each condition's kind
        self._conditions: dict[type[Model], list[int]] = defaultdict(list)  # of each judged answer

    def look_at(self, model: type[Model], number: int, values: Mapping[str, Any]) -> None:
        """Look at a record. Raises ArchiveError."""
        if model is Condition:
            self._labels.append(tuple(kind_named(values["kind"]).labels))
        elif issubclass(model, JudgedAnswer) and model in self._shared:
            self._conditions[model].append(values["condition_id"])
        elif issubclass(model, AnswerLabel | LabelEvent):
            self._look_at_label(model, number, values)

    def _look_at_label(self, model: type[Model], number: int, values: Mapping[str, Any]) -> None:
        of: Any = model._meta.get_field("sheet").related_model if "sheet_id" in values else None
        if of not in self._shared:
            return
        labels = self._labels[self._conditions[of][values["sheet_id"] - 1] - 1]
        for field in _VALUES:
            if values.get(field) and values[field] not in labels:
                raise wrong(
                    f"{model._meta.label_lower}.jsonl", number, field, values[field], f"one of {', '.join(labels)}"
                )

    def end(self) -> None:
        """Everything was looked at when it came."""
