"""python -m tests.mutations [WORD]: break rules on purpose, one at a time, and see that tests fail.

Each is broken in a copy of the project, and there the tests run that must fail then. WORD: only those in whose names it
stands. What survived is named; the exit code is 1 then.
"""

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent


class Mutation(NamedTuple):
    """A rule, where it stands, and what it is replaced by. killed_by: files of tests that fail then; -k: a part."""

    rule: str
    file: str
    old: str
    new: str
    killed_by: str


MUTATIONS = [
    Mutation(
        "vital nuggets come first",
        "nuggets/drafting.py",
        'key=lambda nugget: nugget.importance != "vital"',
        "key=lambda nugget: nugget.place",
        "tests/nuggets/test_drafting.py tests/nuggets/test_auto.py",
    ),
    Mutation(
        "the list is carried from window to window",
        "nuggets/auto_nuggets.py",
        "                nuggets=nuggets,\n                most=work.most,",
        "                nuggets=[],\n                most=work.most,",
        "tests/nuggets/test_auto.py",
    ),
    Mutation(
        "importance is asked for in batches of 10",
        "nuggets/auto_nuggets.py",
        "in_batches(nuggets, work.batch)",
        "in_batches(nuggets, work.batch + 1)",
        "tests/nuggets/test_auto.py",
    ),
    Mutation(
        "strict counts support alone",
        "assignment/measures.py",
        "labels == SUPPORT,",
        "labels >= PARTIAL,",
        "tests/assignment/test_scores.py",
    ),
    Mutation(
        "an okay nugget weighs a half",
        "assignment/measures.py",
        "(importance == OKAY) / 2",
        "(importance == OKAY)",
        "tests/assignment/test_scores.py",
    ),
    Mutation(
        "recall is over all sentences",
        "support/measures.py",
        "self._sums(~self._leaves)",
        "self._sums(self._judged > 0)",
        "tests/support/test_scores.py",
    ),
    Mutation(
        "who has seen a model's labels does no blind work",
        "assessor/work/access.py",
        "if record.keeps_blind and record.has_seen and task.condition.is_blind():",
        "if False:",
        "tests/work/test_blindness.py",
    ),
    Mutation(
        "what a page writes that was opened on another database is refused",
        "assessor/work/middleware.py",
        "if told is None or told == str(Installation.present()):",
        "if True:",
        "tests/relevance/test_installation.py",
    ),
    Mutation(
        "a label that was given on an older version is refused",
        "assessor/work/write_protocol.py",
        "if sheet.version != seen:",
        "if False:",
        "tests/labels/test_label_behaviour.py -k stale_write",
    ),
    Mutation(
        "no archive holds a key of the database",
        "assessor/archive/registry.py",
        'Kept(work.Write, without=("result",)),',
        "Kept(work.Write),",
        "tests/archive/test_keys.py",
    ),
    Mutation(
        "a grade that was given on an older version is refused",
        "assessor/relevance/actions/judging.py",
        "if seen is not None and now.version != seen:",
        "if False:",
        "tests/labels/test_label_behaviour.py -k stale_write",
    ),
    Mutation(
        "a passage that nobody handed out is not to be read",
        "assessor/relevance/access.py",
        "items_of(task).filter(theirs(task), pk=pk)",
        "items_of(task).filter(pk=pk)",
        "tests/relevance/test_queue.py",
    ),
    Mutation(
        "a second annotation is somebody else's",
        "assessor/labels/manual_setups.py",
        "    if has_labelled(person, sheets.filter(under)):",
        "    if False:",
        "tests/support/test_opinions.py",
    ),
    Mutation(
        "a sentence counts by its first citation",
        "support/measures.py",
        "np.diff(of_sentence, prepend=-1) > 0",
        "np.diff(of_sentence, append=sentences) > 0",
        "tests/support/test_scores.py",
    ),
    Mutation(
        "answers come in shuffled order",
        "assignment/actions/preparation.py",
        "    order(setup.seed, task).shuffle(new)\n",
        "    order(setup.seed, task)\n",
        "tests/assignment/test_preparation.py",
    ),
    Mutation(
        "an edited draft is not a kept one",
        "nuggets/draft_outcomes.py",
        "drafts[nugget.draft - 1] else Fate.EDITED",
        "drafts[nugget.draft - 1] else Fate.KEPT",
        "tests/nuggets/test_fates.py",
    ),
    Mutation(
        "a reply has a label for each nugget",
        "assessor/llm/replies.py",
        '    if len(found) != count:\n        raise WrongAnswer(f"There are {len(found)} labels',
        '    if not found:\n        raise WrongAnswer(f"There are {len(found)} labels',
        "tests/llm/test_replies.py",
    ),
    Mutation(
        "scores of runs are means",
        "metaeval/stats/means.py",
        "    there = ~np.isnan(values)\n    size = there.sum(axis=axis)\n",
        "    return np.nanmedian(values, axis=axis)\n    there = ~np.isnan(values)\n    size = there.sum(axis=axis)\n",
        "tests/assignment/test_scores.py",
    ),
    Mutation(
        "a question is covered from the least grade on",
        "assignment/grading/measures.py",
        "(answers.grades >= self.least).mean(axis=1)",
        "(answers.grades > self.least).mean(axis=1)",
        "tests/assignment/grading/test_measures.py",
    ),
    Mutation(
        "a question can ask for all of its answers",
        "assignment/argue/measures.py",
        "all(given) if question.aggregator == AND else any(given)",
        "any(given)",
        "tests/assignment/argue/test_measures.py",
    ),
    Mutation(
        "a missing judgment is not no",
        "assignment/argue/measures.py",
        "return math.nan if None in judgments else float",
        "return float",
        "tests/assignment/argue/test_measures.py",
    ),
    Mutation(
        "what follows from a judgment goes with it",
        "assignment/argue/actions/judging.py",
        "{**said, **vanished}",
        "dict(said)",
        "tests/assignment/argue/test_judging.py",
    ),
    Mutation(
        "of a part of a report there is no score",
        "assignment/argue/score_arrays.py",
        "UNKNOWN if is_part else counts_of",
        "counts_of",
        "tests/assignment/argue/test_judging.py",
    ),
    Mutation(
        "rows of a confusion matrix are the first judge's",
        "metaeval/stats/agreement.py",
        "rows * labels + columns",
        "columns * labels + rows",
        "tests/metaeval/stats/test_agreement.py",
    ),
    Mutation(
        "no more than 20 nuggets are kept",
        "nuggets/drafting.py",
        'nugget.importance != "vital")[:most]',
        'nugget.importance != "vital")',
        "tests/nuggets/test_drafting.py tests/nuggets/test_auto.py",
    ),
    Mutation(
        "what a model gave is recorded as seen",
        "assessor/work/blindness.py",
        "    Exposure.objects.bulk_create(",
        "    (lambda _: None)(",
        "tests/work/test_blindness.py",
    ),
    Mutation(
        "a write of one key is carried out once",
        "assessor/work/write_protocol.py",
        '"key": write.key,',
        '"key": __import__("uuid").uuid4(),',
        "tests/work/test_writes.py",
    ),
    Mutation(
        "of preferences, two orders that disagree are a tie",
        "assessor/preference/verdicts.py",
        "return found.pop() if len(found) == 1 else TIE",
        "return min(found)",
        "tests/preference/test_verdicts.py",
    ),
    Mutation(
        "a missing preference is none",
        "assessor/preference/scores.py",
        "        states[one, at] = INCOMPLETE\n        scores[one, at] = np.nan\n",
        "        pass\n",
        "tests/preference/test_scores.py",
    ),
    Mutation(
        "net wins by preferences are over decided pairs",
        "metaeval/stats/preferences.py",
        "    points, decided = borda(wins), count_decided(wins)",
        "    points, decided = borda(wins), np.full(len(wins), len(wins) - 1.0)",
        "tests/metaeval/stats/test_preferences.py",
    ),
    Mutation(
        "questions from preferences of a round see the same list",
        "nuggets/questions/answer_questions.py",
        "texts=texts, questions=given)",
        "texts=texts, questions=listed.texts)",
        "tests/preference/test_answer_questions.py",
    ),
    Mutation(
        "a bank from preferences is marked where it scores the runs",
        "assessor/campaigns/models/judges.py",
        "return (self.nuggets or self).preferences_id is not None",
        "return False",
        "tests/preference/test_answer_questions.py",
    ),
    Mutation(
        "it is the start of kappa's interval that has to reach a gate",
        "metaeval/calibrations.py",
        '    low = kappa["low"]\n',
        '    low = kappa["value"]\n',
        "tests/metaeval/test_calibrations.py",
    ),
    Mutation(
        "a gate asks for labels and topics too",
        "metaeval/calibrations.py",
        "return is_sure and labels >= gate.least_labels and topics >= gate.least_topics",
        "return is_sure",
        "tests/metaeval/test_calibrations.py",
    ),
    Mutation(
        "a calibration counts for no judge with other prompts or another model",
        "metaeval/calibrations.py",
        "if (one.identity, _things(one.judged)) == bound_to",
        "if _things(one.judged) == bound_to[1]",
        "tests/metaeval/test_calibrations.py",
    ),
    Mutation(
        "a judge without a calibration is called uncalibrated",
        "metaeval/calibrations.py",
        "if not (newest := newest_of(made, one)) or not passes(newest, gate)",
        "if (newest := newest_of(made, one)) and not passes(newest, gate)",
        "tests/metaeval/test_calibrations.py",
    ),
    Mutation(
        "who judges again sees neither label",
        "assessor/studies/actions.py",
        "Condition.ADJUDICATED if study.is_adjudication else",
        "Condition.ADJUDICATED if study.is_adjudication or study.is_rejudging else",
        "tests/studies/test_rejudging.py",
    ),
    Mutation(
        "who judges again labelled neither side",
        "assessor/studies/actions.py",
        "        if has_labelled(task.person, sheets.filter(condition=other)):",
        "        if False:",
        "tests/studies/test_rejudging.py",
    ),
    Mutation(
        "what differs is judged again among as many that agree",
        "assessor/studies/actions.py",
        "most = min(len(differing), len(alike)) if study.is_rejudging else len(differing)",
        "most = len(differing)",
        "tests/studies/test_rejudging.py",
    ),
    Mutation(
        "a study is registered before the first label",
        "assessor/studies/actions.py",
        "if labelled := [condition.name for condition in named if _has_labels(condition)]:",
        "if labelled := []:",
        "tests/metaeval/test_registrations.py",
    ),
    Mutation(
        "imported labels are never registered",
        "assessor/studies/queries.py",
        "campaign.conditions.exclude(method=Condition.IMPORTED)",
        "campaign.conditions",
        "tests/metaeval/test_registrations.py",
    ),
    Mutation(
        "a registration whose text was changed covers nothing",
        "assessor/studies/models.py",
        "return hash_of(self.document) == self.sha256",
        "return True",
        "tests/metaeval/test_registrations.py",
    ),
    Mutation(
        "a job stops where the endpoint names another model",
        "assessor/llm/prompt_requests.py",
        'if before not in ("", name):',
        "if False:",
        "tests/llm/test_jobs.py",
    ),
    Mutation(
        "a batch is looked for at the provider before it is sent again",
        "assessor/llm/batches.py",
        "    if batch.attempts > 1:\n",
        "    if False:\n",
        "tests/llm/test_batches_killed.py -k wherever",
    ),
    Mutation(
        "a batch under way counts towards the budget of money",
        "assessor/llm/batches.py",
        "spent = job.cost + reserved(job, judge)",
        "spent = job.cost",
        "tests/llm/test_batches.py",
    ),
    Mutation(
        "a paused job sends no batch",
        "assessor/llm/batches.py",
        "if told is None and batch.job.state not in Job.ACTIVE:",
        "if False:",
        "tests/llm/test_batches.py",
    ),
    Mutation(
        "what a cancelled job has paid for stands in the ledger",
        "assessor/llm/batches.py",
        "                _record(batch, _unread(batch))\n",
        "                pass\n",
        "tests/llm/test_batches.py",
    ),
    Mutation(
        "an answer that comes twice counts as answered twice",
        "assessor/llm/batches.py",
        "            if request in self._seen:",
        "            if False:",
        "tests/llm/test_batches.py",
    ),
    Mutation(
        "both files of a batch are read",
        "assessor/llm/batches.py",
        "names = [name for name in (told.output_file, told.error_file) if name]",
        "names = [name for name in (told.output_file,) if name]",
        "tests/llm/test_batches.py",
    ),
    Mutation(
        "batches cost half",
        "assessor/llm/models.py",
        "price_in = price_in / 2 if self.price_in_batch is None",
        "price_in = price_in if self.price_in_batch is None",
        "tests/llm/test_batches.py",
    ),
    Mutation(
        "what a script sends adds to what came by its token alone",
        "assessor/imports/loaders/base.py",
        "return not sender or (",
        "return True or (",
        "tests/api/test_imports.py",
    ),
    Mutation(
        "a token does what it may alone",
        "assessor/api/authentication.py",
        "if found.may != self._may:",
        "if False:",
        "tests/api/test_imports.py",
    ),
    Mutation(
        "a file that breaks off is none",
        "assessor/api/bodies.py",
        "if _write(request, path) < length:",
        "if _write(request, path) < 0:",
        "tests/api/test_served.py",
    ),
    Mutation(
        "what others sent is not there",
        "assessor/api/routes/imports.py",
        "if import_record.options.get(SENDER) != request.auth.prefix:",
        "if False:",
        "tests/api/test_imports.py",
    ),
    Mutation(
        "what expired waits for the next batch",
        "assessor/llm/batches.py",
        "    else:\n        left.update(batch=None)\n",
        "",
        "tests/llm/test_batches.py",
    ),
]


def survives(mutation: Mutation, folder: Path) -> bool:
    """Say whether all tests pass in a copy of the project in which a rule is broken."""
    file = folder / mutation.file
    as_it_is = file.read_text()
    assert as_it_is.count(mutation.old) == 1, f"{mutation.file} does not have it once: {mutation.old}"
    file.write_text(as_it_is.replace(mutation.old, mutation.new))
    try:
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *mutation.killed_by.split()]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    finally:
        file.write_text(as_it_is)
    if done.returncode not in (0, 1):  # neither passed nor failed
        raise RuntimeError(done.stdout[-3000:] + done.stderr[-3000:])
    return done.returncode == 0


def main(word: str = "") -> None:
    survivors = []
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made) / "assay"
        shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(".venv", ".git", "var", "__pycache__"))
        for mutation in MUTATIONS:
            if word in mutation.rule:
                start = time.monotonic()
                if lives := survives(mutation, folder):
                    survivors.append(mutation.rule)
                told = "SURVIVED" if lives else "killed"
                print(f"{told}  {mutation.rule} ({time.monotonic() - start:.0f} s)", flush=True)
    if survivors:
        sys.exit(f"{len(survivors)} survived.")


if __name__ == "__main__":
    main(*sys.argv[1:])
