"""All that differs where sentences of answers are looked for in banks."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from assessor.campaigns.condition_kind import UnassignedKind, labelling_kinds

if TYPE_CHECKING:
    from datetime import datetime

    from assessor.campaigns.models import Condition
    from assessor.exportables import Chosen
    from assessor.labels.cutoff import Cell

AUTO = "AutoCandidates"


class Candidates(UnassignedKind):
    """Sentences of answers that a citation fully supports, and which nuggets of a bank each states.

    What states none is a candidate that the bank lacks, for organizers alone: it shows what runs answered and what a
    model said of it, and enters no bank by itself.
    """

    name = "candidates"
    title = "Candidates for banks"
    instruction = "Say which nuggets of a bank a sentence states."
    counted = "sentences"
    done = "looked for"
    methods = (AUTO,)
    builds_on = ("nuggets", "questions")
    support = "support"
    results = ("See the candidates", "candidates")

    def in_words(self, condition: Condition) -> str:
        return (
            f"Sentences that {condition.support} calls supported, looked for in the {self.nuggets_called} of "
            f"{condition.nuggets} by {condition.maker}"
        )

    def exposed_kinds(self, condition: Condition) -> Collection[str]:
        """Candidates tell what a bank could have, and which nuggets answers state."""
        assert condition.nuggets is not None, "a bank is looked in"
        return (condition.nuggets.kind, *labelling_kinds(condition.nuggets.kind))

    def cells(self, chosen: Chosen, at: datetime) -> Iterator[Cell]:
        """A topic has the sentences that were asked about, of its bank as it is now."""
        from assessor.exportables import of_chosen
        from assessor.labels.cutoff import Cell

        rows = of_chosen(chosen, self.records(chosen.record).filter(edition__edition=F("edition__bank__edition")))
        found: dict[str, dict[tuple[int, int], datetime]] = {}
        for qid, answer, sentence, made in rows.values_list("answer__topic__qid", "answer", "sentence", "at"):
            found.setdefault(qid, {})[answer, sentence] = made
        for qid, made_at in sorted(found.items()):
            known = sum(made <= at for made in made_at.values())
            yield Cell(qid, "", len(made_at), known, len(made_at) - known)

    def missing(self, condition: Condition) -> Iterator[str]:
        from nuggets.candidates.queries import open_places

        topics = list(condition.campaign.topics.filter(is_practice=False).order_by("qid"))
        qids = {topic.pk: topic.qid for topic in topics}
        for topic, places in open_places(condition, topics).items():
            some = "sentence was" if len(places) == 1 else "sentences were"
            yield f"{qids[topic]}: {len(places):,} supported {some} not looked for in the bank."

    def has_work(self) -> Q:
        from nuggets.candidates.models import SentenceMatch

        return Q(Exists(SentenceMatch.objects.filter(answer__topic=OuterRef("pk"))))

    def records(self, condition: Condition) -> QuerySet[Any]:
        from nuggets.candidates.models import SentenceMatch

        return SentenceMatch.objects.filter(condition=condition).order_by()


CANDIDATES = Candidates()
