"""From names, as addresses, commands and records have them, to what is to be exported."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from django.utils import timezone

from assessor.campaigns.models import Campaign, Topic
from assessor.campaigns.queries import by_names
from assessor.exportables import ChoiceError, Chosen, Exportable, Subject
from assessor.exports.registry import BY_NAME
from metaeval.stats.means import Policy

Options = Mapping[str, Any]


def exportable_called(name: str) -> Exportable:
    """Return what can be exported under this name. Raises ChoiceError."""
    try:
        return BY_NAME[name]
    except KeyError as error:
        raise ChoiceError(f"There is no export {name}. There are: {', '.join(BY_NAME)}.") from error


def choose(campaign: Campaign, kind: Exportable, options: Options) -> Chosen:
    """Return what these options name; of those that are missing, all of it. Raises ChoiceError.

    of: the record's name; form; topics and runs: ids and tags; policy and allow_incomplete, of scores; what
    else of the kind can be chosen and asked.
    """
    record = _record(campaign, kind.subject, str(options.get("of") or "")) if kind.subject else None
    form = options.get("form") or (kind.usual_form(campaign) if kind.usual_form else next(iter(kind.forms)))
    if form not in (forms := kind.forms_of(record)):
        whose = f" of {record}" if form in kind.forms else ""
        raise ChoiceError(f"There is no form {form}{whose}. There are: {', '.join(forms)}.")
    for name in ("topics", "runs"):
        if options.get(name) and name not in kind.filters:
            raise ChoiceError(f"{kind.title}: {name} can't be chosen.")
    policy = Policy(_one_of(Policy, "policy", options)) if kind.has_policy else Policy.ZERO
    topics = _topics(campaign, options.get("topics"), is_of_labels=kind.of_labels(record))
    runs = _named(campaign.runs, "tag", options["runs"], "run") if options.get("runs") else None
    at = _moment(options.get("at")) if kind.has_moment else None
    offered = {name: list(there_are(record)) for name, there_are in kind.choices.items()}
    asked = {name: _one_of(known, name, options) for name, known in offered.items() if known or options.get(name)}
    asked |= {name: str(options[name]) for name in kind.asks if options.get(name)}
    return Chosen(campaign, record, form, topics, runs, policy, bool(options.get("allow_incomplete")), at, asked)


def _one_of(there_are: Iterable[str], name: str, options: Options) -> str:
    """Return what an option says, or the first there is. Raises ChoiceError."""
    known = list(there_are)
    value = str(options.get(name) or known[0])
    if value not in known:
        raise ChoiceError(f"There is no {name} {value}. There are: {', '.join(known)}.")
    return value


def _moment(text: Any) -> datetime:
    """Return the moment of a text in ISO 8601, a day being its end; by UTC where it says nothing else. Now for none."""
    if not text:
        return timezone.now()
    try:
        found = datetime.fromisoformat(str(text))
        if len(str(text)) == len("2026-01-31"):
            found = found.replace(hour=23, minute=59, second=59, microsecond=999_999)
        # By UTC, where the first and the last day there is may be none.
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except (ValueError, OverflowError) as error:
        raise ChoiceError(f"{text} is no moment: write 2026-01-31 or 2026-01-31T12:00.") from error


def _record(campaign: Campaign, subject: Subject, name: str) -> Any:
    records = subject.records(campaign)
    # What can't be in a database is the name of nothing.
    record = None if "\x00" in name else records.filter(**{subject.field: name}).first()
    if record is None:
        known = ", ".join(records.values_list(subject.field, flat=True)) or "none"
        raise ChoiceError(f"There is no {subject.what} {name}. There are: {known}.")
    return record


def _topics(campaign: Campaign, wanted: Sequence[str] | None, *, is_of_labels: bool) -> list[Topic] | None:
    """Return the topics of these ids; without any, all, but for practice topics where it is of labels."""
    if wanted:
        topics: list[Topic] = _named(campaign.topics, "qid", wanted, "topic")
        if is_of_labels and (practice := [topic.qid for topic in topics if topic.is_practice]):
            raise ChoiceError(f"Labels on practice topics are not exported: {', '.join(practice)}.")
        return topics
    if is_of_labels and campaign.topics.filter(is_practice=True).exists():
        return list(campaign.topics.filter(is_practice=False))
    return None


def _named(records: Any, field: str, names: Sequence[str], what: str) -> list[Any]:
    found, unknown = by_names(records, field, names)
    if unknown:
        raise ChoiceError(f"There is no {what} {', '.join(unknown)} in this campaign.")
    return found


def kept_options(options: Options, chosen: Chosen) -> dict[str, Any]:
    """Return options as a record keeps them: those that say something, the form that is meant, and what was chosen."""
    return {name: value for name, value in options.items() if value} | {"form": chosen.form, **chosen.asked}
