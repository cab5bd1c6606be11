"""Variants of a sensitivity study: which there are, what tells them apart, and the conditions that they are."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from itertools import product
from typing import Any, NamedTuple, TypeVar

from assessor.campaigns.models import Condition, Judge, Topic
from assessor.labels.label_kind import label_kind
from assessor.llm.job_kind import job_kind_named
from assessor.llm.models import Job
from assessor.studies.models import Sensitivity

Item = TypeVar("Item")

JUDGE, PROMPT_SET, BATCH, ORDER, REPLICATE = FACTORS = ("judge", "prompt_set", "batch", "order", "replicate")
ORDERS = BANK, REVERSED, SHUFFLED = ("bank", "reversed", "shuffled")
ORDER_WORDS = {BANK: "as in the nugget list", REVERSED: "reversed", SHUFFLED: "shuffled"}
FACTOR_WORDS = {PROMPT_SET: "prompts", BATCH: "nuggets a call", ORDER: "order", REPLICATE: "repetition"}
MOST_CROSSED = 16  # variants, with which all levels are combined
MOST = 40
MOST_LEVELS = 10


class Variant(NamedTuple):
    """One way of asking. judge, prompt_set: by name; batch: items in a call; order: of ORDERS; replicate: from 0."""

    judge: str
    prompt_set: str
    batch: int
    order: str
    replicate: int

    def differing(self, base: "Variant") -> list[str]:
        """Return the factors in which it differs from another variant."""
        return [name for name in FACTORS if getattr(self, name) != getattr(base, name)]

    def in_words(self, base: "Variant") -> str:
        """Say how it differs from the base."""
        words = {
            JUDGE: self.judge,
            PROMPT_SET: f"prompts {self.prompt_set}",
            BATCH: f"{self.batch} a call",
            ORDER: f"order {self.order}",
            REPLICATE: f"repetition {self.replicate}",
        }
        return ", ".join(words[name] for name in self.differing(base)) or "base"


def is_crossed(factors: Mapping[str, Sequence[Any]]) -> bool:
    """Say whether all levels of all factors are combined, and not one factor varied at a time."""
    count = 1
    for levels in factors.values():
        count *= len(levels)
    return count <= MOST_CROSSED


def variants_of(factors: Mapping[str, Sequence[Any]]) -> list[Variant]:
    """Return all variants, the base first: the first level of each factor."""
    levels = [factors[name] for name in FACTORS]
    if is_crossed(factors):
        return [Variant(*one) for one in product(*levels)]
    base = Variant(*(some[0] for some in levels))
    others = [base._replace(**{name: level}) for name in FACTORS for level in factors[name][1:]]
    return [base, *others]


def order_of(study: Sensitivity, variant: Variant) -> str:
    """Return the order of a variant as conditions have it: a shuffled one with its seed."""
    return f"{SHUFFLED} {study.seed}" if variant.order == SHUFFLED else variant.order


def settings_of(study: Sensitivity, variant: Variant) -> dict[str, Any]:
    """Return what the condition of a variant stores of it, beside judge and replicate."""
    return {PROMPT_SET: variant.prompt_set, BATCH: variant.batch, ORDER: order_of(study, variant)}


def conditions_of(study: Sensitivity) -> dict[Variant, Condition]:
    """Return the conditions of those variants that were launched."""
    made = study.campaign.conditions.filter(kind=study.kind, sample=study.name).select_related(*Condition.TOLD_WITH)
    known = {
        (one.judge.name, one.replicate, tuple(sorted(one.variant.items()))): one
        for one in made.order_by("-pk")
        if one.judge and one.variant
    }
    keys = {
        variant: (variant.judge, variant.replicate, tuple(sorted(settings_of(study, variant).items())))
        for variant in variants_of(study.factors)
    }
    return {variant: known[key] for variant, key in keys.items() if key in known}


def topics_of(study: Sensitivity) -> list[Topic]:
    """Return the topics of a study's sample, by id."""
    return list(study.campaign.topics.filter(qid__in=study.topics).order_by("qid"))


def is_labelled(study: Sensitivity) -> bool:
    """Say whether every variant has all labels of its sample, or a job that is at work or to be resumed."""
    made, topics = conditions_of(study), topics_of(study)
    at_work = Job.objects.filter(condition__in=made.values()).exclude(state__in=Job.OVER)
    open_ones = set(at_work.values_list("condition", flat=True))
    kind = job_kind_named(label_kind(study.kind).job)
    return all(
        variant in made
        and (made[variant].pk in open_ones or next(iter(kind.units(made[variant], topics)), None) is None)
        for variant in variants_of(study.factors)
    )


def factor_words(judges: Mapping[str, Judge], base: str) -> dict[str, str]:
    """Return what factors are called. judges: those of a study, by name; base: the first one's."""
    others = {name: judge.parameters for name, judge in judges.items() if name != base}
    own = judges[base].parameters if base in judges else {}
    differing = {name for one in others.values() for name in own.keys() | one.keys() if own.get(name) != one.get(name)}
    judge = "temperature" if differing == {"temperature"} else "model" if "model" in differing else "judge"
    return FACTOR_WORDS | {JUDGE: judge}


def in_order(items: Sequence[Item], order: str, text: Callable[[Item], str]) -> list[Item]:
    """Return items in the order in which a condition asks them: by hashes of their texts where it is shuffled."""
    if order.startswith(SHUFFLED):
        return sorted(items, key=lambda one: sha256(f"{order} {text(one)}".encode()).digest())
    return list(items)[::-1] if order == REVERSED else list(items)


def drawn(seed: int, names: Iterable[str]) -> list[str]:
    """Return names in an order of no meaning, the same in every database."""
    return sorted(names, key=lambda one: sha256(f"{seed} {one}".encode()).digest())
