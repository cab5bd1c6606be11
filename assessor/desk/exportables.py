"""What can be exported of what a campaign lacks, of alarms, and of its history."""

from collections.abc import Iterator

from assessor.campaigns.exports import event_lines
from assessor.desk.alarms import alarm_lines, alarms
from assessor.desk.completeness import KINDS, SLOW
from assessor.desk.history import HistoryForm
from assessor.desk.overview import state_of
from assessor.exportables import CSV, Chosen, Exportable, Form, Order, Page
from assessor.formats.tables import write_table

_GAPS = KINDS | SLOW


def _missing_lines(chosen: Chosen) -> Iterator[str]:
    kind = _GAPS[chosen.form]
    return write_table(kind.columns, kind.rows(chosen.campaign))


def _form(chosen: Chosen) -> HistoryForm:
    return HistoryForm(chosen.campaign, chosen.asked)


EXPORTABLES = (
    Exportable(
        "missing",
        "Missing parts",
        {name: Form(kind.what, f"{name}.csv", heads=1) for name, kind in _GAPS.items()},
        _missing_lines,
        lambda it: 0,
        Order.WORK,
        page=Page("export_missing", "missing/<slug:name>.csv"),
    ),
    Exportable(
        "alarms",
        "Alarms on people's labels, and all that is watched",
        CSV,
        lambda it: alarm_lines(alarms(it.campaign, state_of(it.campaign).name)),
        lambda it: 0,
        Order.WORK,
        label="Alarms (what is watched of people's labels)",
        page=Page("export_alarms", "alarms/alarms.csv"),
    ),
    Exportable(
        "history",
        "History",
        CSV,
        lambda it: event_lines(_form(it).events()),
        lambda it: _form(it).events().count(),
        Order.HISTORY,
        asks=tuple(HistoryForm.base_fields),
        page=Page("export_history", "history.csv"),
    ),
)
