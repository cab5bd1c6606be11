"""AutoTrial: a model says of each answer to a topic whether it states a nugget that a person tries."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from assessor.campaigns.models import Condition, Topic
from assessor.llm.job_kind import Ask, Expected, JobKind, UnitFailure
from assessor.llm.models import Job, Unit
from assessor.llm.prompts import PromptSet
from assignment.auto_assign import ASSIGNMENT_PROMPT
from assignment.formats import NOT_SUPPORT
from assignment.trials.condition_kind import AUTO, TRIALS
from assignment.trials.models import NuggetTrial, TrialLabel
from assignment.trials.queries import open_answers


class Work(NamedTuple):
    """What a unit needs."""

    query: str
    answer: str
    nugget: str


class TrialJob(JobKind):
    """The kind of job. A unit is an answer, by its key, and the key of the trial."""

    name = AUTO
    title = "Try a nugget"
    summary = "does the answer state a nugget that a person tries?"
    counted = "Answers labelled"
    condition_kind = TRIALS.name
    method = AUTO
    prompts = (ASSIGNMENT_PROMPT,)
    about_answers = True
    is_launched = False

    def called(self, condition: Condition) -> str:
        return f"{str(condition.nuggets)[:60]}, tried"

    def begin(self, condition: Condition, topics: Sequence[Topic]) -> int:
        """Say of empty answers that they do not state it."""
        empty = [
            TrialLabel(trial=trial, answer=answer, value=NOT_SUPPORT)
            for trial in _last(condition, topics)
            for answer in open_answers(trial)
            if not answer.text.strip()
        ]
        return len(TrialLabel.objects.bulk_create(empty))

    def units(self, condition: Condition, topics: Sequence[Topic]) -> Iterator[tuple[int, int, str]]:
        """Yield (topic's key, answer's key, the trial's) of the answers of which nothing was said in the last trial."""
        for trial in _last(condition, topics):
            for answer in open_answers(trial):
                if answer.text.strip():
                    yield answer.topic_id, answer.pk, str(trial.pk)

    def expected(self, condition: Condition, topics: Sequence[Topic], prompts: PromptSet) -> Expected:
        """Tell what the last trial will take."""
        calls = characters = tokens_out = 0
        for trial in _last(condition, topics):
            query = trial.nugget.bank.topic.title
            request = ASSIGNMENT_PROMPT.request(prompts, query=query, answer="", nuggets=[trial.text])
            texts = [answer.text for answer in open_answers(trial) if answer.text.strip()]
            calls += len(texts)
            characters += sum(request.characters + len(text) for text in texts)
            tokens_out += len(texts) * request.tokens_out
        return Expected(calls, characters, tokens_out)

    def prepare(self, job: Job, units: Sequence[Unit]) -> Mapping[int, Work | UnitFailure]:
        """Read the answers."""
        trials = NuggetTrial.objects.in_bulk({int(unit.item) for unit in units})
        return {
            unit.pk: Work(unit.topic.title, unit.answer.text, trials[int(unit.item)].text)
            for unit in units
            if unit.answer is not None
        }

    async def carry_out(self, work: Work, ask: Ask) -> str:
        """Ask for the label."""
        [label] = await ask(
            ASSIGNMENT_PROMPT.request(ask.prompts, query=work.query, answer=work.answer, nuggets=[work.nugget])
        )
        return label

    def store(self, job: Job, results: Sequence[tuple[Unit, str]]) -> None:
        """Write the labels."""
        TrialLabel.objects.bulk_create(
            [
                TrialLabel(trial_id=int(unit.item), answer=unit.answer, value=label)
                for unit, label in results
                if unit.answer is not None
            ]
        )


def _last(condition: Condition, topics: Sequence[Topic]) -> list[NuggetTrial]:
    """Return the last trial under a condition, if it is on one of the topics."""
    trials = condition.trials.select_related("nugget__bank__topic") if condition.pk else NuggetTrial.objects.none()
    last = trials.order_by("-pk").first()
    return [last] if last and last.nugget.bank.topic in topics else []
