"""Uids in an archive: where a bank or report, an edit or an edition names an item, it is one of that list."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import Model

from assessor.archive.errors import wrong
from nuggets.models import BankEdit, BankEdition, Nugget, NuggetBank
from nuggets.reports.models import EditedReport, EditedSentence, ReportEdit


class NuggetNames:
    """What an archive has of nuggets, record after record in their order; banks by the numbers of their lines."""

    def __init__(self) -> None:
        self._uids: dict[int, set[str]] = defaultdict(set)
        self._listed: list[list[str]] = []  # of each bank its order
        self._made_from: list[tuple[int, list[str]]] = []  # of each nugget its bank and its parents
        self._under: list[tuple[int, str]] = []  # of each nugget its bank and the question that it is a part of, or ""

    def look_at(self, model: type[Model], number: int, values: Mapping[str, Any]) -> None:
        """Look at a record, whose JSON has the shapes of json_checks. Raises ArchiveError."""
        if model is NuggetBank:
            self._listed.append(values["order"])
        elif model is Nugget:
            self._uids[values["bank_id"]].add(str(values["uid"]))
            self._made_from.append((values["bank_id"], values["parents"]))
            self._under.append((values["bank_id"], str(values["under"] or "")))
        elif model is BankEdit:
            changes, bank = values["changes"], values["bank_id"]
            named = {*changes.get("nuggets", ()), *(uid for listed in changes.get("order", ()) for uid in listed)}
            self._require(named, bank, "nuggets.bankedit.jsonl", number, "changes")
        elif model is BankEdition:
            bank, file = values["bank_id"], "nuggets.bankedition.jsonl"
            self._require([nugget["uid"] for nugget in values["nuggets"]], bank, file, number, "nuggets")
            changed = [uid for uids in values["consequences"].values() for uid in uids]
            self._require(changed, bank, file, number, "consequences")

    def end(self) -> None:
        """Look at what names nuggets that come later. Raises ArchiveError."""
        for number, listed in enumerate(self._listed, 1):
            self._require(listed, number, "nuggets.nuggetbank.jsonl", number, "order")
        for number, (bank, parents) in enumerate(self._made_from, 1):
            self._require(parents, bank, "nuggets.nugget.jsonl", number, "parents")
        for number, (bank, under) in enumerate(self._under, 1):
            self._require([under] if under else [], bank, "nuggets.nugget.jsonl", number, "under")

    def _require(self, uids: Iterable[str], bank: int, file: str, number: int, field: str) -> None:
        if unknown := set(uids) - self._uids[bank]:
            raise wrong(file, number, field, min(unknown), "uids of nuggets of the bank")


class SentenceNames:
    """What an archive has of reports that people edit, record after record in their order."""

    def __init__(self) -> None:
        self._uids: dict[int, set[str]] = defaultdict(set)
        self._named: list[tuple[int, set[str], str, int, str]] = []

    def look_at(self, model: type[Model], number: int, values: Mapping[str, Any]) -> None:
        """Look at a record, whose JSON has the shapes of json_checks."""
        if model is EditedReport:
            self._named.append((number, set(values["order"]), "reports.editedreport.jsonl", number, "order"))
        elif model is EditedSentence:
            self._uids[values["report_id"]].add(str(values["uid"]))
        elif model is ReportEdit:
            changes = values["changes"]
            named = {*changes.get("sentences", ()), *(uid for listed in changes.get("order", ()) for uid in listed)}
            self._named.append((values["report_id"], named, "reports.reportedit.jsonl", number, "changes"))

    def end(self) -> None:
        """Look at what names sentences. Raises ArchiveError."""
        for report, named, file, number, field in self._named:
            if unknown := named - self._uids[report]:
                raise wrong(file, number, field, min(unknown), "uids of sentences of the report")
