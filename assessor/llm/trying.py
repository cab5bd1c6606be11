"""Trying a judge with one small request."""

import asyncio
from decimal import Decimal
from typing import NamedTuple

from django.db import IntegrityError, transaction

from assessor.llm import gateway, ledger, questions
from assessor.llm.gateway import Failed, Gateway, Reply, Setting, Unusable
from assessor.llm.ledger import Asked, Entry
from assessor.llm.models import ModelJudge
from assessor.llm.prompt_sets import PromptSetError, prompt_set
from assessor.llm.replies import WrongAnswer

_LONGEST_WAIT = 30.0  # seconds: a person waits for the page
_QUERY = "why do leaves turn yellow in autumn"
_NUGGETS = ("Chlorophyll breaks down in autumn", "Trees are plants")


class Tried(NamedTuple):
    """What came of a try. problem: why the judge can't be used like this, or ""; answer: what was read."""

    problem: str
    answer: str
    reply: Reply | None
    cost: Decimal


def ask_once(judge: ModelJudge) -> Tried:
    """Ask a judge for the importance of two nuggets; the ledger notes the request, but never answers it."""
    try:
        question = questions.importance(prompt_set(judge.prompt_set), query=_QUERY, nuggets=_NUGGETS)
        setting = gateway.setting_of(judge)
    except (PromptSetError, Unusable) as error:
        return Tried(str(error), "", None, Decimal(0))
    body = gateway.request_body(question, question.messages, setting.parameters)
    came = asyncio.run(_send(setting._replace(timeout=min(setting.timeout, _LONGEST_WAIT)), body))
    problem = answer = ""
    if isinstance(came, Reply):
        try:
            answer = ", ".join(question.read(came.text or ""))
        except WrongAnswer as error:
            problem = came.problem or str(error)
    else:
        problem = str(came)
    asked = Asked(gateway.request_hash(body), 0, 0)
    _record(judge, Entry(None, question.name, asked, came, problem, None))
    reply = came if isinstance(came, Reply) else None
    return Tried(problem, answer, reply, judge.cost(reply.tokens_in, reply.tokens_out) if reply else Decimal(0))


def _record(judge: ModelJudge, entry: Entry) -> None:
    try:
        with transaction.atomic():
            ledger.record(judge, None, [entry])
    except IntegrityError:
        with transaction.atomic():  # somebody tried it at the same moment, and was first
            ledger.record(judge, None, [entry])


async def _send(setting: Setting, body: dict[str, object]) -> Reply | Failed:
    way = Gateway(setting, 1)
    try:
        return await way.send(body)
    except Failed as error:
        return error
    finally:
        await way.close()
