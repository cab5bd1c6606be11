"""Tries jobs on OpenAI-compatible servers that others wrote: LiteLLM's proxy, and LLMock.

    python -m tests.endpoints [PROGRAMS]

PROGRAMS: the folder with the servers' programs; `make endpoints` installs them in .venv/endpoints/bin. Each kind of job
is done on each server by a worker that is killed meanwhile; then each server refuses requests in its own words.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from tests.endpoints.servers import LiteLLM, LLMock, Server
from tests.faults.killed_jobs import DOCUMENTS, FLIGHT, TOPICS, fill
from tests.llm.endpoint import ROOT
from tests.llm.house import House, kill_all_of

_BEGINS = 90.0  # seconds within which a worker must have begun with a job
KEY, WRONG = "sk-right-0123456789abcdef", "sk-wrong-fedcba9876543210"
QUESTIONS = '["Why do cats purr?", "Who barks?"]'
QRELS, ASKED, PAIRS = ["--qrels=Q"], ["--nuggets=Asked"], ["--preferences=PrefJudge"]
# By kind of job, in an order in which each finds what it builds on: its command, and the one reply of its model, which
# must satisfy each of its prompts.
KINDS = {
    "UMBRELA": (["run_umbrela"], "##final score: 2"),
    "PrefJudge": (["run_pref_judge"], "Label: 1"),
    "AutoNuggets": (["run_auto_nuggets", *QRELS], '["vital", "okay"]'),  # nuggets, and then their labels
    "Drafts": (["run_drafts", *QRELS], '["Cats purr.", "Dogs bark."]'),
    "QueryQuestions": (["run_query_questions"], QUESTIONS),
    "AutoQuestions": (["run_auto_questions", *QRELS], QUESTIONS),
    "QuestionDrafts": (["run_question_drafts", *QRELS], QUESTIONS),
    "PrefQuestions": (["run_pref_questions", *PAIRS], QUESTIONS),
    "GroundedQuestions": (["run_grounded_questions", *PAIRS], QUESTIONS),
    "RandomPairQuestions": (["run_random_pair_questions", *PAIRS], QUESTIONS),
    "PrefQuestionDrafts": (["run_pref_question_drafts", *PAIRS, *QRELS], QUESTIONS),
    "GroundedQuestionDrafts": (["run_grounded_question_drafts", *PAIRS, *QRELS], QUESTIONS),
    "AutoMatch": (["run_matching", *ASKED, "--other-nuggets=QueryQuestions"], '["same", "different"]'),
    "AutoAssign": (["run_auto_assign", "--nuggets=AutoNuggets"], '["support", "not_support"]'),
    "AutoGrade": (["run_auto_grade", *ASKED], "Grade: 4"),
    "GradePassages": (["run_grade_passages", *ASKED], "Grade: 4"),
    "Report": (["run_report", *ASKED, *QRELS], '{"extracted": "Dogs bark.", "condensed": "Dogs.", "confidence": 3}'),
    "AutoArgue": (["run_auto_argue", *ASKED], "YES"),
    "Support": (["run_support"], "Full Support"),
    "AutoCandidates": (["run_candidates", "--nuggets=AutoNuggets", "--support=Support"], '["stated", "absent"]'),
}
ASKED_BEHIND = ("behind", "wrong key behind")  # models of LiteLLM that LLMock answers for


class Refusal(NamedTuple):
    """A judge that is refused, and what an organizer must read of it. halts: all requests would be refused."""

    judge: str
    base_url: str
    words: str
    halts: bool = True
    variable: str = "RIGHT_API_KEY"


class Trial:
    """An installation in a folder, with a judge for each kind of job on one server."""

    def __init__(self, folder: Path, server: Server) -> None:
        folder.mkdir()
        (folder / "data").mkdir()
        self._folder, self.server = folder, server
        self._launched: subprocess.Popen[str] | None = None
        self.house = House(folder / "data", "embedded://", "")
        self.house.env |= {"RIGHT_API_KEY": KEY, "WRONG_API_KEY": WRONG}
        self.house.manage("migrate", "--verbosity=0")
        fill(self.house, folder, server.base_url)
        ranked = ((f"t{topic}", number) for topic in range(TOPICS) for number in range(DOCUMENTS))
        lines = (f"{qid} Q0 {qid}-d{number} {number} 1.0 run\n" for qid, number in ranked)
        (folder / "ranked").write_text("".join(lines))
        judges = [self._judge(kind, server.base_url) for kind in KINDS]
        pool = [["import_retrieval_run", "study", str(folder / "ranked")], ["add_passages", "study"]]
        self.house.manage_all([*pool, *judges])
        # Who always names the first answer decides a pair only where its answers change places for nobody.
        one_order = "from assessor.campaigns.models import Protocol; Protocol.objects.update(preference_orders='one')"
        self.house.run(one_order)

    def _judge(self, name: str, base_url: str, variable: str = "RIGHT_API_KEY") -> list[str]:
        """Return the command that makes a judge; its model is called as it is."""
        options = [f"--model={name}", f"--base-url={base_url}", f"--key-variable={variable}"]
        return ["create_judge", "study", name, f"--concurrency={FLIGHT}", *options]

    def launch(self, command: Sequence[str], judge: str, *options: str) -> "subprocess.Popen[str]":
        words = [*command[:1], "study", *command[1:], f"--judge={judge}", *options]
        self._launched = self.house.start(*words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return self._launched

    def do_jobs(self) -> None:
        """Do a job of each kind; kill the worker once it has begun with it, and see what is there in the end."""
        kills, worker = 0, self.house.start_worker()
        for kind, (command, _) in KINDS.items():
            begun = time.monotonic()
            launched = self.launch(command, kind, f"--name={kind}")
            counted = f"select units_done, units_failed, units_total, calls from llm_job where kind = '{kind}'"
            until = time.monotonic() + _BEGINS
            while not any(row[0] for row in self.house.rows(counted)):
                assert launched.poll() is None, launched.communicate()[0]
                assert time.monotonic() < until, f"{kind} does not begin"
                time.sleep(0.02)
            [(was_done, *_)] = self.house.rows(counted)
            kill_all_of(worker)
            kills, worker = kills + 1, self.house.start_worker()
            out, _ = launched.communicate(timeout=300)
            assert launched.returncode == 0, out
            [(done, failed, total, calls)] = self.house.rows(counted)
            assert (failed, done) == (0, total), out
            assert was_done < total, f"{kind} was over before the kill"
            told(f"{self.server.name}: {kind}, {done} units, {calls} calls, killed at {was_done}", begun)
        kill_all_of(worker)
        good = [request for (request,) in self.house.rows("select request from llm_call where outcome = 'good'")]
        assert len(good) == len(set(good)), "an answer was paid and kept twice"
        assert self.house.rows("select count(*) from llm_call where outcome <> 'good'") == [(0,)]
        grades = self.house.rows("select value, count(*) from relevance_relevancejudgment group by value")
        assert grades == [("2", TOPICS * DOCUMENTS)]
        if isinstance(self.server, LLMock):
            sent = self.server.sent()
            assert set(sent.values()) <= {1, 2}, "what was in flight at a kill is sent once more"
            answered = sum(sent.values())
            assert len(sent) == len(good)
        else:
            assert isinstance(self.server, LiteLLM)
            answered = self.server.answered()
        assert len(good) <= answered <= len(good) + kills * FLIGHT
        told(f"{self.server.name}: {kills} kills, {len(good)} answers kept, {answered - len(good)} lost in flight")

    def be_refused(self, refusals: Sequence[Refusal]) -> None:
        """Try each judge as *Send a test request* does, and with a job; see what an organizer can read."""
        judges = [self._judge(one.judge, one.base_url, one.variable) for one in refusals]
        self.house.manage_all(judges)
        problems = json.loads(self.house.run(TRY.format(names=[one.judge for one in refusals])))
        for one in refusals:
            assert one.words in problems[one.judge], (one, problems[one.judge])
            told(f"{self.server.name}: {one.judge}: {problems[one.judge]!r}")
            if not one.halts:
                continue
            out, _ = self.launch(["run_umbrela"], one.judge, "--here", f"--name={one.judge}").communicate(timeout=300)
            [(made,)] = self.house.rows("select calls from llm_job order by id desc limit 1")
            assert "is halted" in out, out
            assert one.words in out, out
            assert made <= FLIGHT, f"{made} calls, though the first one says that all will fail"

    def wait_as_told(self, judge: str, refusing: LLMock) -> None:
        """Do a job whose requests are told to wait at first; the server says whether they did."""
        refused = {"status": 429, "retry_after": 2, "times": 12}
        refusing.tell([{"type": "fail", **refused}, {"type": "reply", "text": "##final score: 2", "times": None}])
        self.house.manage_all([self._judge(judge, self.server.base_url)])
        out, _ = self.launch(["run_umbrela"], judge, "--here", f"--name={judge}").communicate(timeout=300)
        units = TOPICS * DOCUMENTS
        assert f"{units}/{units}, {units + 12} calls" in out, out
        assert refusing.faults_of_clients() == []
        told(f"{self.server.name}: {judge}: waited after 12 times 429, and done")

    def close(self) -> None:
        """End its processes."""
        if self._launched:
            self._launched.kill()
        self.house.close()

    def hold_no_key(self) -> None:
        """See that no key is anywhere in what was kept or logged."""
        for path in self._folder.rglob("*"):
            held = path.read_bytes() if path.is_file() else b""
            assert KEY.encode() not in held, path
            assert WRONG.encode() not in held, path


TRY = """
import json
from assessor.accounts.models import Person
from assessor.llm import actions, trials

person = Person.objects.create_user("anna")
problems = {{}}
for judge in ModelJudge.objects.filter(judge__name__in={names}):
    actions.try_judge(judge=judge, acting_user=person)
    trials.carry_out(judge.trial.pk)
    problems[judge.judge.name] = Trial.objects.get(judge=judge).problem
print(json.dumps(problems))
"""
_begun = time.monotonic()


def told(what: str, since: float = _begun) -> None:
    print(f"{time.monotonic() - since:7.1f} s  {what}", flush=True)


def always(what: str, model: str, **more: object) -> dict[str, object]:
    """Return what LLMock is to do whenever a model is asked."""
    return {"type": what, "match": {"model": model}, "times": None, **more}


def try_llmock(programs: Path, folder: Path) -> None:
    with (
        closing(LLMock(programs, folder)) as server,
        closing(LLMock(programs, folder, "--context-window", "20")) as narrow,
        closing(Trial(folder / "llmock", server)) as trial,
    ):
        server.tell([always("reply", kind, text=reply) for kind, (_, reply) in KINDS.items()])
        trial.do_jobs()
        assert server.faults_of_clients() == []
        echo = {"status": 401, "code": "invalid_api_key", "message": f"Incorrect API key provided: {WRONG}."}
        unknown = {"status": 404, "code": "model_not_found", "message": "The model `none` does not exist."}
        wrong = ("wrong key", "wrong key, Mistral")
        server.tell([*(always("fail", model, **echo) for model in wrong), always("fail", "none", **unknown)])
        refused = "The endpoint answered 401: Incorrect API key provided: [key]."
        trial.be_refused(
            [
                Refusal("wrong key", server.base_url, refused, variable="WRONG_API_KEY"),
                Refusal("wrong key, Mistral", f"{server.at}/mistral/v1", refused, variable="WRONG_API_KEY"),
                Refusal("none", server.base_url, "404: The model `none` does not exist."),
                Refusal("no room", narrow.base_url, "400: This model's maximum context length is 20 tokens", False),
            ]
        )
        trial.wait_as_told("limited", server)
        trial.hold_no_key()


def try_litellm(programs: Path, folder: Path) -> None:
    failing = {
        "too long": "litellm.ContextWindowExceededError",
        "too fast": "litellm.RateLimitError",
        "broken": "litellm.InternalServerError",
    }
    replies = {kind: reply for kind, (_, reply) in KINDS.items()} | failing
    with (
        closing(LLMock(programs, folder)) as behind,
        closing(LiteLLM(programs, folder, KEY, replies, dict.fromkeys(ASKED_BEHIND, behind.base_url))) as server,
        closing(Trial(folder / "litellm", server)) as trial,
    ):
        trial.do_jobs()
        behind.tell([always("fail", "wrong key behind", status=401, code="invalid_api_key")])
        no_database = "400: No connected db. (so says a LiteLLM proxy without a database to a wrong key)"
        trial.be_refused(
            [
                Refusal("wrong key", server.base_url, no_database, variable="WRONG_API_KEY"),
                Refusal("no key", server.base_url, "500: Internal Server Error", False, variable=""),
                Refusal("none", server.base_url, "Invalid model name passed in model=none."),
                Refusal("wrong key behind", server.base_url, "401: litellm.AuthenticationError"),
                Refusal("too long", server.base_url, "400: litellm.ContextWindowExceededError", False),
                Refusal("too fast", server.base_url, "429: litellm.RateLimitError", False),
                Refusal("broken", server.base_url, "500: litellm.InternalServerError", False),
            ]
        )
        trial.wait_as_told("behind", behind)
        trial.hold_no_key()


def main() -> None:
    programs = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / ".venv" / "endpoints" / "bin").absolute()
    with tempfile.TemporaryDirectory(prefix="assay-endpoints-") as name:
        for trial in (try_llmock, try_litellm):
            trial(programs, Path(name))
    told("all is well")


if __name__ == "__main__":
    main()
