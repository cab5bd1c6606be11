"""What templates of jobs need."""

from decimal import Decimal

from django import template

from assessor.formats.values import to_json
from assessor.llm.job_kind import job_kinds

register = template.Library()


@register.filter
def money(amount: Decimal) -> str:
    """Return an amount without the zeros at its end."""
    text = f"{amount:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


@register.filter
def usd(amount: Decimal | str) -> str:
    """Return money with cents; less than ten of them with two figures, so that little is not nothing."""
    if amount == "":  # a job that was made without an estimate
        return "—"
    value = Decimal(amount)
    if not value or value >= Decimal("0.1"):
        return f"{value:,.2f}"
    return money(Decimal(f"{value:.1e}"))


@register.filter
def job_title(name: str) -> str:
    """Return what a job of a kind does, in words; its name where no app has the kind any more."""
    kind = job_kinds().get(name)
    return kind.title if kind else name


_PARAMETERS = {
    "max_tokens": "longest reply, tokens",
    "limit_name": "limit sent as",
    "structured": "structured output",
    "presence_penalty": "presence penalty",
    "frequency_penalty": "frequency penalty",
    "reasoning_effort": "reasoning effort",
    "extra": "further fields",
}


@register.filter
def parameter(name: str) -> str:
    """Return what a parameter of a judge is called."""
    return _PARAMETERS.get(name, name)


@register.filter
def parameter_value(value: object) -> str:
    """Return what a parameter of a judge is."""
    if value is None:
        return "not sent"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return to_json(value) if isinstance(value, dict) else str(value)


@register.filter
def thousands(number: int | None) -> str:
    """Return a whole number in groups of three digits."""
    return f"{number:,}" if isinstance(number, int) else "—"


@register.filter
def duration(seconds: int) -> str:
    """Return a time to come: "40 s", "12 min", "2 h 05 min"."""
    if seconds < 60:
        return f"{seconds} s"
    hours, rest = divmod(seconds // 60, 60)
    return f"{hours} h {rest:02d} min" if hours else f"{rest} min"
