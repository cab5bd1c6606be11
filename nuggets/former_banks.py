"""Loading banks of a former edition of a track, for people to edit: one file makes one condition."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from assessor.campaigns.models import Campaign
from assessor.formats import values
from assessor.formats.beginning import Beginning
from assessor.formats.report import Report
from assessor.imports.loaders.base import AddError, Options
from assessor.imports.loaders.conditions import MAKERS, check_name
from nuggets.condition_kind import INHERITED
from nuggets.formats import BankRecord
from nuggets.loaders import DraftLoader

_DATE = re.compile(r"[0-9]{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12][0-9]|3[01]))?)?")
_A_DATE = "a year, month or day, such as 2024, 2024-08 or 2024-08-31"
_LONGEST_EDITION = 100  # characters


class FormerBankLoader(DraftLoader):
    """Banks of a former edition: text and importance of the listed nuggets, as drafts are loaded.

    A line's "topic" is the topic's id here, where that is another one than its qid. What else it has stays behind:
    evidence is of passages that this campaign may not have, and the file stays what it was.
    """

    kind = "former_nuggets"
    label = "Nuggets of a former edition, for people to edit"
    brings = "former nuggets"
    asks: ClassVar[Sequence[str]] = ("condition", "source", "edition", "edition_date", "by", "invalid_labels")
    method = INHERITED

    @classmethod
    def recognises(cls, beginning: Beginning) -> bool:
        return False  # they look like other nuggets

    def __init__(self, campaign: Campaign, options: Options, report: Report) -> None:
        self.by = options["by"]
        super().__init__(campaign, options, report)
        if self.by not in MAKERS:
            report.error(0, "by", self.by, " or ".join(MAKERS))
        check_name(options["edition"], "edition", report)
        if len(options["edition"]) > _LONGEST_EDITION:
            found = f"{len(options['edition'])} characters"
            report.error(0, "edition", found, f"at most {_LONGEST_EDITION} characters")
        if not _DATE.fullmatch(options["edition_date"]):
            report.error(0, "edition date", options["edition_date"], _A_DATE)

    @classmethod
    def read_form(cls, filled_in: Mapping[str, Any], add_error: AddError) -> Options:
        name = cls.read_condition(filled_in, add_error)
        qrels, edition, date = (filled_in.get(field, "").strip() for field in ("source", "edition", "edition_date"))
        by = filled_in.get("by", "")
        if not qrels:
            add_error("source", "Name people's grades: the editor shows the passages that they found relevant.")
        if not edition:
            add_error("edition", "Name the edition that these nuggets come from.")
        if not _DATE.fullmatch(date):
            add_error("edition_date", f"Say when they were made: {_A_DATE}.")
        if not by:
            add_error("by", "Say whether people or a model made these nuggets.")
        return {"condition": name, "qrels": qrels, "edition": edition, "edition_date": date, "by": by}

    def read_maker(self, options: Options) -> str:
        return f"inherited from {options['edition']}"

    def read_topic(self, record: BankRecord) -> tuple[str, str]:
        here = values.topic_id(record.extras.get("topic", record.qid), "topic", record.line, self.report) or record.qid
        return here, record.qid if here != record.qid else ""

    def warn_of_keys(self, record: BankRecord) -> None:
        pass  # a bank has more than is inherited of it
