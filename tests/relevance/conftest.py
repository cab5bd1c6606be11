"""A pool to grade, and UMBRELA to grade it with."""

import pytest

from assessor.collection.actions import create_condition
from assessor.collection.models import Campaign, Condition, Judge, Person
from assessor.llm.models import Job, ModelJudge
from assessor.llm.prompt_sets import PromptSet, prompt_set

# t1 pools d1, d2, d3 and d4, whose text is not loaded; t2 pools d5. The third of each ranking is beyond depth 2.
RANKINGS = {
    "one": "t1 Q0 d2 1 9 one\nt1 Q0 d1 2 8 one\nt1 Q0 d5 3 7 one\nt2 Q0 d5 1 9 one\n",
    "two": "t1 Q0 d4 1 9 two\nt1 Q0 d3 2 8 two\nt1 Q0 d1 3 7 two\n",
}


@pytest.fixture
def pooled(campaign: Campaign, import_file) -> Campaign:
    """The campaign with two retrieval runs and a pool of depth 2."""
    protocol = campaign.protocol
    protocol.pool_depth = 2
    protocol.save()
    for content in RANKINGS.values():
        assert import_file(campaign, "retrieval", content).state == "done"
    return campaign


@pytest.fixture
def model(pooled: Campaign) -> ModelJudge:
    """A model as a judge. Nobody calls it here."""
    judge = Judge.objects.create(kind=Judge.Kind.MODEL, name="Mia", parameters={"model": "mia"})
    return ModelJudge.objects.create(judge=judge, campaign=pooled, base_url="http://127.0.0.1:9/v1")


@pytest.fixture
def prompts() -> PromptSet:
    return prompt_set("assay-1")


@pytest.fixture
def umbrela(pooled: Campaign, model: ModelJudge, prompts: PromptSet, olga: Person) -> Condition:
    """UMBRELA by Mia, with nothing graded yet."""
    condition = Condition(
        campaign=pooled,
        name="UMBRELA",
        kind=Condition.Kind.RELEVANCE,
        method=Condition.Method.UMBRELA,
        judge=model.judge,
        prompt_set=prompts.sha256,
    )
    return create_condition(condition, acting_user=olga)


@pytest.fixture
def job(umbrela: Condition, model: ModelJudge) -> Job:
    return Job.objects.create(campaign=umbrela.campaign, kind="UMBRELA", condition=umbrela, judge=model)
