"""Manifests: what a file holds, of what, under which protocol, and its sum."""

import json
from typing import Any

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign, Condition, Protocol
from assessor.exportables import Chosen, Exportable
from assessor.runtime.version import program_version

FORMAT, FORMAT_VERSION = "assay-export", 1


def as_text(manifest: dict[str, Any]) -> str:
    """Return a manifest as it is written: the same for the same content."""
    return json.dumps(manifest, ensure_ascii=False, indent=1) + "\n"


def heading(what: str, campaign: Campaign, *, at: str, by: Person | None) -> dict[str, Any]:
    """Return how every manifest begins: what it is of, when, by whom."""
    return {
        "format": what,
        "format_version": FORMAT_VERSION,
        "program": program_version(),
        "made_at": at,
        "made_by": by.username if by else None,
        "campaign": {"slug": campaign.slug, "name": campaign.name},
    }


def condition_payload(condition: Condition) -> dict[str, Any]:
    """Return what makes a condition the one it is."""
    return {
        "name": condition.name,
        "kind": condition.kind,
        "method": condition.method,
        "identity": condition.identity,
        "judge": str(condition.judge) if condition.judge else None,
        "nuggets": condition.nuggets.identity if condition.nuggets else None,
        "prompts": condition.prompts,
        "is_rehearsed": condition.is_rehearsed,
    }


def protocol_payload(protocol: Protocol) -> dict[str, Any]:
    """Return a version of a protocol with all its settings."""
    settings = {name: getattr(protocol, name) for name in Protocol.SETTINGS}
    return {"version": protocol.version, "settings": settings}


def file_payload(name: str, *, records: int, size: int, sha256: str) -> dict[str, Any]:
    """Return what identifies a file."""
    return {"name": name, "records": records, "bytes": size, "sha256": sha256}


def manifest_of(
    kind: Exportable, chosen: Chosen, file: dict[str, Any], *, at: str, by: Person | None
) -> dict[str, Any]:
    """Return the manifest of a file that was exported."""
    record = chosen.record
    condition = record if isinstance(record, Condition) else getattr(record, "condition", None)
    told = {"what": kind.name, "title": kind.title, "form": chosen.form}
    if kind.subject:
        told[kind.subject.option] = str(record)
    filters: dict[str, Any] = {
        "topics": sorted(topic.qid for topic in chosen.topics) if chosen.topics is not None else "all",
        "runs": sorted(run.tag for run in chosen.runs) if chosen.runs is not None else "all",
        "practice_topics": "left out" if kind.of_labels(record) or kind.has_policy else "as all others",
    }
    if chosen.at:
        filters["at"] = chosen.at.isoformat()
    if kind.has_policy:
        filters |= {"policy": chosen.policy, "allow_incomplete": chosen.allow_incomplete}
    filters |= chosen.asked
    return {
        **heading(FORMAT, chosen.campaign, at=at, by=by),
        **told,
        "condition": condition_payload(condition) if condition else None,
        "protocol": protocol_payload(condition.protocol if condition else chosen.campaign.protocol),
        "filters": filters,
        "file": file,
    }
