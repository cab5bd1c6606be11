"""Small things that templates say."""

from collections.abc import Mapping

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from assessor.campaigns.condition_kind import kind_of
from assessor.campaigns.models import Import
from assessor.formats.report import quantity
from assessor.imports.loaders import LOADERS
from assessor.work.models import Task

register = template.Library()


@register.filter
def task_url(task: Task) -> str:
    """Return where to go on with a task."""
    return kind_of(task).url(task)


@register.filter
def kind_label(kind: str) -> str:
    """Return what a kind of import is called."""
    return LOADERS[kind].label if kind else "Not recognised"


@register.filter
def needs_topics(kind: str) -> bool:
    """Say whether files of a kind can't be checked before topics are loaded."""
    return LOADERS[kind].needs_topics


@register.filter
def in_numbers(counts: Mapping[str, int]) -> str:
    """Return what an import's report counts: "6 topics added"."""
    return ", ".join(quantity(count, counted(name)) for name, count in counts.items() if name != "lines" and count)


_ON_PAGES = {"sheets": "labelled answers", "banks": "nugget lists"}


@register.filter
def counted(name: str) -> str:
    """Return what a report counts as pages call it."""
    what, _, then = name.partition(" ")
    return f"{_ON_PAGES.get(what, what)} {then}".rstrip()


_MARKS = {"done": "ok", "checked": "ok", "refused": "bad", "interrupted": "bad", "running": "run", "stopped": "off"}


@register.simple_tag
def import_state(import_record: Import) -> SafeString:
    """Return the chip of an import's state."""
    problems = import_record.report.get("error_count", 0)
    text = quantity(problems, "problems") if problems else import_record.get_state_display()
    mark = f"chip {_MARKS.get(import_record.state, '')}"
    return format_html('<span class="{}">{}</span>', mark.strip(), "imported" if text == "done" else text)
