"""Units of jobs and drawn items in an archive: each is about what its kind is about."""

from collections.abc import Mapping
from typing import Any

from django.db.models import Model

from assessor.archive.errors import wrong
from assessor.llm.job_kind import job_kind_named
from assessor.llm.models import Job, Unit
from assessor.studies.models import SampledItem, Study
from assessor.studies.sampling import Sampling, sampling_of
from nuggets.models import Nugget


class ItemNames:
    """What an archive has of jobs, studies and nuggets, which come before what is about them."""

    def __init__(self) -> None:
        self._about_answers: list[bool] = []  # of each job
        self._samplings: list[Sampling] = []  # of each study
        self._uids: set[str] = set()

    def look_at(self, model: type[Model], number: int, values: Mapping[str, Any]) -> None:
        """Look at a record. Raises ArchiveError."""
        if model is Job:
            self._about_answers.append(job_kind_named(values["kind"]).about_answers)
        elif model is Unit:
            about_answers, answer = self._about_answers[values["job_id"] - 1], values["answer_id"]
            if (answer is not None) != about_answers:
                expected = "an answer: its job is about answers" if about_answers else "none: its job is about topics"
                raise wrong("llm.unit.jsonl", number, "answer", answer, expected)
        elif model is Nugget:
            self._uids.add(str(values["uid"]))
        elif model is Study:
            self._samplings.append(sampling_of(values["kind"]))
        elif model is SampledItem:
            uid = self._samplings[values["study_id"] - 1].nugget_of(values["item"])
            if uid is not None and uid not in self._uids:
                raise wrong("studies.sampleditem.jsonl", number, "item", values["item"], "uids of nuggets")

    def end(self) -> None:
        """Everything was looked at when it came."""
