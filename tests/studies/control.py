"""Control sets without an endpoint: for tests that only look at the records."""

from assessor.campaigns.models import Answer, Condition
from assessor.llm.actions import MOST_REPLICATES
from assessor.llm.job_kind import job_kind_named
from assessor.llm.models import Job, ModelJudge, StoredPrompt
from assessor.llm.prompt_sets import prompt_set
from assessor.llm.prompts import sha256_of
from assessor.studies.models import ControlCheck, ControlSet, SampledItem, Study
from assessor.studies.sampling import sampling_of
from nuggets.models import NuggetBank
from nuggets.queries import present_editions


def make_control_set(condition: Condition, name: str = "Weekly", passes: int = 1) -> ControlSet:
    """Have a condition in which a model assigns be AutoAssign's, and draw its nuggets in answers, asked so often."""
    campaign, judge = condition.campaign, condition.judge
    assert judge is not None
    judge.parameters = {"model": "m", "max_tokens": 100}
    judge.save()
    model, _ = ModelJudge.objects.get_or_create(
        judge=judge, defaults={"campaign": campaign, "base_url": "http://127.0.0.1:9/v1"}
    )
    for text in prompt_set("assay-1").texts.values():
        StoredPrompt.objects.get_or_create(sha256=sha256_of(text), defaults={"text": text})
    prompts = prompt_set("assay-1").hashes(job_kind_named("AutoAssign").prompts)
    condition.prompts, condition.method = prompts, "AutoAssign"
    condition.save()
    sides = {"first": condition, "second": condition}
    study = Study.with_controls.create(
        campaign=campaign, name=name, kind=condition.kind, purpose=Study.Purpose.CONTROL, seed=1, **sides
    )
    bank = NuggetBank.objects.filter(condition=condition.nuggets, edition__gt=0).order_by("pk")[0]
    nuggets = [nugget["id"] for nugget in present_editions([bank])[bank.pk].nuggets]
    answers = Answer.objects.filter(topic=bank.topic, apart=False).exclude(run__task="control")
    keys = [(answer.pk, str(pk)) for answer in answers for pk in nuggets]
    labels = {"first_label": "support", "second_label": "support"}
    for (answer, _), item in sampling_of(condition.kind).names(keys).items():
        SampledItem.objects.create(study=study, answer_id=answer, item=item, **labels)
    control = ControlSet.objects.create(study=study)
    for number in range(1, passes + 1):
        asked = Condition.objects.create(
            campaign=campaign,
            name=f"{name} #{number}",
            kind=condition.kind,
            method="AutoAssign",
            nuggets=condition.nuggets,
            judge=judge,
            prompts=prompts,
            replicate=MOST_REPLICATES + Condition.with_controls.filter(is_control=True).count() + 1,
            sample=name,
            is_control=True,
            protocol=condition.protocol,
        )
        Job.objects.create(
            campaign=campaign, kind="AutoAssign", condition=asked, judge=model, state="done", scope={"topics": 1}
        )
        found = {"cells": 1, "labels": 1, "flips": 0, "expected": 0.0, "kappa": 1.0, "p": 1.0}
        ControlCheck.objects.create(control=control, condition=asked, model="m", is_alarm=True, **found)
    return control
