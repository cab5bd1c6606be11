"""All that differs where nuggets are tried."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.urls import reverse

from assessor.campaigns.condition_kind import UnassignedKind, labelling_kinds

if TYPE_CHECKING:
    from datetime import datetime

    from django.db.models import Model

    from assessor.accounts.models import Person
    from assessor.campaigns.models import Condition
    from assessor.exportables import Chosen
    from assessor.labels.cutoff import Cell

AUTO = "AutoTrial"


class Trials(UnassignedKind):
    """Nuggets of banks that people still edit, tried against all answers to the topic by a judge.

    It is beside the banks and outside of all that is scored, compared and frozen.
    """

    name = "trials"
    title = "Nuggets tried"
    instruction = "Say whether answers state a nugget."
    counted = "trials"
    done = "tried"
    methods = (AUTO,)
    builds_on = ("nuggets",)

    @property
    def labels_nuggets(self) -> bool:
        """No: what is said here counts nowhere."""
        return False

    def in_words(self, condition: Condition) -> str:
        return f"{self.nuggets_called.capitalize()} of {condition.nuggets} tried by {condition.maker} while people edit"

    def exposed_kinds(self, condition: Condition) -> Collection[str]:
        """What a model says of nuggets in answers is what people are to say blind."""
        assert condition.nuggets is not None, "nuggets are tried"
        return labelling_kinds(condition.nuggets.kind)

    def bank_section(self, person: Person, bank: Any) -> str:
        from assignment.trials.access import may_try

        return reverse("nugget_trials", args=[bank.pk]) if may_try(person, bank) else ""

    def cells(self, chosen: Chosen, at: datetime) -> Iterator[Cell]:
        """Nothing is planned here, and nothing is given that counts."""
        return iter(())

    def missing(self, condition: Condition) -> Iterator[str]:
        """Nothing is ever finished here."""
        return iter(())

    def has_work(self) -> Q:
        from assignment.trials.models import NuggetTrial

        return Q(Exists(NuggetTrial.objects.filter(nugget__bank__topic=OuterRef("pk"))))

    def archived(self) -> Mapping[type[Model], str]:
        from assignment.trials.models import NuggetTrial, TrialLabel, TrialSetting

        return {TrialSetting: "condition", NuggetTrial: "condition", TrialLabel: "trial"}

    def records(self, condition: Condition) -> QuerySet[Any]:
        from assignment.trials.models import NuggetTrial

        return NuggetTrial.objects.filter(condition=condition).order_by()


TRIALS = Trials()
