"""Trials: a judge is asked one small question by a worker, and its page shows what came back."""

import asyncio
from typing import Any, NamedTuple

from django.db import transaction
from django.utils import timezone

from assessor.llm import gateway, ledger
from assessor.llm.gateway import Failed, Gateway, Reply, Setting, Unusable, storable
from assessor.llm.job_kind import job_prompts
from assessor.llm.ledger import Asked, Entry
from assessor.llm.models import Call, ModelJudge, Trial
from assessor.llm.prompt_sets import prompt_set
from assessor.llm.prompts import PromptRequest, PromptSetError
from assessor.llm.replies import WrongAnswer

_LONGEST_WAIT = 30.0  # seconds: a person waits for it
_LONGEST_SHOWN = 20_000  # characters of a reply


class _Outcome(NamedTuple):
    """What came of a trial. entry: for the ledger, None where nothing was sent; problem: why the judge is of no use."""

    entry: Entry | None
    problem: str = ""
    answer: str = ""
    reply: str = ""


def carry_out(trial_id: int) -> None:
    """Try a judge, unless another worker has this trial or nobody waits for it any more."""
    since = timezone.now() - Trial.TAKEN_UP_WITHIN
    waiting = Trial.objects.filter(pk=trial_id, begun_at=None, place__isnull=False, created_at__gt=since)
    if not waiting.update(begun_at=timezone.now()):
        return
    judge = ModelJudge.objects.select_related("judge").get(trial=trial_id)
    entry, problem, answer, reply = _ask(judge)
    with transaction.atomic():
        ModelJudge.objects.select_for_update(no_key=True).get(pk=judge.pk)
        call = None
        if entry:
            ledger.record(judge, None, [entry])
            call = Call.objects.filter(judge=judge, job=None).latest("pk")
        ended = Trial.objects.filter(pk=trial_id)
        ended.update(place=None, call=call, problem=problem, answer=answer, reply=reply)


def _ask(judge: ModelJudge) -> _Outcome:
    """Send a judge one small request; the ledger notes it, but never answers it."""
    try:
        request = _request(judge)
        setting = gateway.setting_of(judge)
    except (PromptSetError, Unusable) as error:
        return _Outcome(None, str(error))
    body = gateway.request_body(request, request.messages, setting.parameters)
    came = asyncio.run(_send(setting._replace(timeout=min(setting.timeout, _LONGEST_WAIT)), body))
    problem = answer = reply = ""
    if isinstance(came, Reply):
        text = storable(came.raw if came.text is None else came.text)
        reply = text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]} …"
        try:
            answer = _spelled(request.read(came.text or ""))
        except WrongAnswer as error:
            problem = storable(came.problem or str(error))
    else:
        problem = str(came)
    asked = Asked(gateway.request_hash(body), 0, 0)
    return _Outcome(Entry(None, request.name, asked, came, problem, None), problem, answer, reply)


def _request(judge: ModelJudge) -> PromptRequest[Any]:
    """Return the trial of the first prompt that has one. Raises PromptSetError."""
    prompts = prompt_set(judge.prompt_set, judge.campaign)
    for name in prompts.texts:
        if request := job_prompts()[name].trial(prompts):
            return request
    raise PromptSetError(
        f"The prompt set {prompts.name} has no prompt with which a judge can be tried. Its jobs may still run."
    )


def _spelled(answer: Any) -> str:
    return ", ".join(map(str, answer)) if isinstance(answer, list) else str(answer)


async def _send(setting: Setting, body: dict[str, object]) -> Reply | Failed:
    way = Gateway(setting, 1)
    try:
        return await way.send(body)
    except Failed as error:
        return error
    finally:
        await way.close()
