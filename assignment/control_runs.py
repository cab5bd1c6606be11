"""Control runs, to see at once whether a judge works: one that says all nuggets, one that says nothing, and canaries.

They are written as files like those of any run, and come in like these: checked whole, imported whole or not at all.
"""

from collections.abc import Collection

from assessor.accounts.models import Person
from assessor.campaigns.models import CANARY, CITING_CANARY, CONTROL, CONTROL_TAG, Campaign, Condition, Run
from assessor.campaigns.queries import cited_docids, lacking_docids
from assessor.formats.values import to_json
from assessor.imports.made_files import NotImported, declare_control_run, free_tag, import_lines
from assessor.scores.canaries import WRONG_CITATIONS
from assignment.canaries import CANARIES, Answers, answers_of, answers_with, changed_topics
from assignment.queries import ALL_NUGGETS, EMPTY_RUN, control_runs
from nuggets.queries import banks_by_topic, present_editions

_NAMED = 10  # topics in a message


class ControlError(Exception):
    """There can be no such control run; the text says why, and what to do."""


def make_control_runs(
    *, nuggets: Condition, canaries: bool = False, anew: bool = False, acting_user: Person | None
) -> dict[str, int]:
    """Have a run answer each topic with all of its finished nuggets, a sentence each, and another one with nothing.

    canaries: and a run for each of CANARIES. Return how many answers were added, by the run's tag: what a run answers
    already stays. Where nuggets were changed since, that is an error; anew: there will be another run of them. Raises
    ControlError.
    """
    campaign = nuggets.campaign
    banks = list(banks_by_topic(nuggets, campaign.topics.all()).values())
    if not banks:
        raise ControlError(f"No topic has finished nuggets under {nuggets}.")
    editions = present_editions(banks)
    said = {bank.topic.qid: [nugget["text"] for nugget in editions[bank.pk].nuggets] for bank in banks}
    titles = {bank.topic.qid: bank.topic.title for bank in banks}
    empty = campaign.runs.filter(tag=EMPTY_RUN).first()
    if empty and empty.task != CONTROL:
        raise ControlError(f"There is a run {EMPTY_RUN} already that is no control run: say in runs.csv that it is.")
    made = control_runs(nuggets)
    wanted: dict[str, Answers] = {ALL_NUGGETS: said}
    elsewhere: dict[str, str] = {}
    if canaries:
        wanted |= {canary.name: answers_with(says, said, titles) for canary, says in CANARIES.items()}
        elsewhere = passages_elsewhere(campaign, said.keys())
        wanted[WRONG_CITATIONS.name] = {qid: wanted[WRONG_CITATIONS.name][qid] for qid in elsewhere}
    runs: list[tuple[Run | None, str, str, Answers]] = []
    for name, answers in wanted.items():
        run = made.get(name)
        if run and (changed := changed_topics(answers_of(run), answers)):
            if not anew:
                raise ControlError(
                    f"The nuggets of {', '.join(changed[:_NAMED])}{', …' if len(changed) > _NAMED else ''} were "
                    f"changed since {run} was made of them, and answers never change. Ask for control runs anew: then "
                    "there will be another one, of all nuggets as they are now."
                )
            run = None
        runs.append((run, run.tag if run else _new_tag(nuggets, name), nuggets.name, answers))
    runs.append((empty, EMPTY_RUN, "", {qid: [] for qid in said}))
    added = {}
    for known, tag, team, answers in runs:
        there = answers_of(known) if known else {}
        cited = elsewhere if tag.startswith(CITING_CANARY) else {}
        new = sorted(answers.keys() - there.keys())
        lines = [_line(tag, qid, titles[qid], answers[qid], cited.get(qid)) for qid in new]
        try:
            if known is None:
                declare_control_run(campaign, tag, team, acting_user)
            if lines:
                import_lines(campaign, "runs", f"{tag}.jsonl", lines, acting_user)
        except NotImported as error:
            raise ControlError(str(error)) from error
        added[tag] = len(lines)
    return added


def passages_elsewhere(campaign: Campaign, qids: Collection[str]) -> dict[str, str]:
    """Return for each topic, by id, a passage that answers to others cite and none to it; none where there is none."""
    topics = {topic.pk: topic.qid for topic in campaign.topics.all()}
    cited: dict[str, set[str]] = {qid: set() for qid in topics.values()}
    for topic, docid in cited_docids(list(campaign.topics.all())):
        cited[topics[topic]].add(docid)
    all_cited = set().union(*cited.values())
    loaded = sorted(all_cited - lacking_docids(campaign, all_cited))
    found = {qid: next((docid for docid in loaded if docid not in cited[qid]), None) for qid in sorted(qids)}
    return {qid: docid for qid, docid in found.items() if docid}


def _new_tag(nuggets: Condition, name: str) -> str:
    """Return the tag of a new run: "control.nuggets.Edits", or with a number where there is such a run."""
    first = CONTROL_TAG if name == ALL_NUGGETS else CANARY
    return free_tag(nuggets.campaign, f"{first}{name}." + "-".join(nuggets.name.split()))


def _line(tag: str, qid: str, title: str, sentences: list[str], cited: str | None) -> str:
    """Return a line of a run in the form of 2024. cited: what each sentence cites."""
    references = [cited] if cited else []
    answer = [{"text": text, "citations": list(range(len(references)))} for text in sentences]
    words = len(" ".join(sentences).split())
    names = {"run_id": tag, "topic_id": qid, "topic": title}
    return to_json(names | {"references": references, "response_length": words, "answer": answer}) + "\n"
