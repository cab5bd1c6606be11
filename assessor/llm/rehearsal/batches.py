"""Batches: made, validated, answered line by line in a thread each, and ended in whatever way the knobs say."""

import json
import random
import threading
import time
import uuid
from pathlib import Path
from typing import IO, Any, Self

from assessor.llm.rehearsal.batch_input import ENDPOINT, BatchInput, check_input, error, read_lines
from assessor.llm.rehearsal.completions import Completions, refusal
from assessor.llm.rehearsal.files import Files
from assessor.llm.rehearsal.options import Knobs
from assessor.llm.rehearsal.request import Refused, read_request
from assessor.llm.rehearsal.request_log import Journal

_WINDOW = 24 * 3600  # seconds
_PORTION = 1_000  # lines
_RUNNING = ("validating", "in_progress")
_UNFINISHED = (*_RUNNING, "cancelling", "finalizing")
_UNANSWERED = {
    "batch_expired": "The request could not be executed before the completion window ended.",
    "batch_cancelled": "The batch was cancelled before this request executed.",
    "request_timeout": "The call to the model timed out.",
}
_ON_THE_WIRE = ("broken", "endless", "gzip_bomb", "drip")  # what befalls connections leaves lines right


class Batch:
    """number: the first batch has 1; content: as its address shows it; tokens: of its requests, once counted."""

    def __init__(self, wanted: dict[str, Any], number: int) -> None:
        now = int(time.time())
        self.number = number
        self.id = f"batch_{uuid.uuid4().hex}"
        self.cancelling = threading.Event()
        self.tokens = 0
        # All names from the beginning, since the content is read while a thread writes.
        states = ("in_progress", "finalizing", "completed", "failed", "expired", "cancelling", "cancelled")
        self.content: dict[str, Any] = {
            **{"id": self.id, "object": "batch", "status": "validating", "created_at": now},
            **{name: wanted.get(name) for name in ("endpoint", "completion_window", "input_file_id", "metadata")},
            **dict.fromkeys(f"{state}_at" for state in states),
            **dict.fromkeys(("model", "errors", "output_file_id", "error_file_id")),
            **{"expires_at": now + _WINDOW, "request_counts": {"total": 0, "completed": 0, "failed": 0}},
        }
        self.output_seconds = (wanted.get("output_expires_after") or {}).get("seconds")

    @property
    def status(self) -> str:
        return str(self.content["status"])

    def move(self, status: str, **more: Any) -> None:
        self.content |= {"status": status, f"{status}_at": int(time.time())} | more


class Batches:
    """The batches of an endpoint, by their id."""

    def __init__(self, knobs: Knobs, completions: Completions, files: Files, journal: Journal) -> None:
        self._knobs = knobs
        self._completions = completions
        self._files = files
        self._journal = journal
        self._batches: dict[str, Batch] = {}
        self._lock = threading.Lock()  # over every change of a state
        self._asked_for = 0
        self._made = 0

    def create(self, wanted: dict[str, Any]) -> dict[str, Any]:
        """Make a batch and begin with it. Raises Refused."""
        record = {
            "start": time.time(),
            "input_file_id": wanted.get("input_file_id"),
            "metadata": wanted.get("metadata"),
        }
        self._asked_for += 1
        try:
            if self._asked_for <= self._knobs.batch_create_429:
                raise Refused(429, "Too many batches for a rehearsal.", "rate_limit_exceeded", "requests")
            _check(wanted)
            input = self._files.open(wanted["input_file_id"])
        except Refused as refused:
            self._journal.write("batch_created", record | {"batch": None, "status": refused.status})
            raise
        self._made += 1
        batch = Batch(wanted, self._made)
        self._batches[batch.id] = batch
        self._journal.write("batch_created", record | {"batch": batch.id, "status": 200})
        made = dict(batch.content)
        threading.Thread(target=self._carry_out, args=(batch, input), daemon=True).start()
        return made

    def contents(self) -> list[dict[str, Any]]:
        """Return the batches, oldest first."""
        return [batch.content for batch in list(self._batches.values())]

    def content(self, id: str) -> dict[str, Any]:
        """Raises Refused."""
        return self._find(id).content

    def cancel(self, id: str) -> dict[str, Any]:
        """Raises Refused."""
        batch = self._find(id)
        with self._lock:
            is_late = batch.status not in (*_RUNNING, "cancelling")
            if batch.status in _RUNNING:
                batch.move("cancelling")
                batch.cancelling.set()
        self._journal.write("batch_cancelled", {"start": time.time(), "batch": id, "status": 409 if is_late else 200})
        if is_late:
            raise Refused(409, f"A batch can't be cancelled when it is {batch.status}.")
        return batch.content

    def _find(self, id: str) -> Batch:
        try:
            return self._batches[id]
        except KeyError:
            raise Refused(404, "There is no such batch.") from None

    def _carry_out(self, batch: Batch, input: IO[bytes]) -> None:
        with input:
            if not self._begin(batch, check_input(input)):
                return
            output, wrong = self._new_file(batch, "output"), self._new_file(batch, "error")
            with output, wrong:
                stopped = self._answer_all(batch, input, output, wrong)
        with self._lock:  # from here on it is too late to cancel it
            if batch.status == "cancelling":
                stopped = "batch_cancelled"
            else:
                batch.move("finalizing")
        output_id, error_id = self._keep(output, batch), self._keep(wrong, batch)
        if error_id is None and self._knobs.batch_empty_error_id:
            error_id = ""
        end = {"batch_cancelled": "cancelled", "batch_expired": "expired"}.get(stopped, "completed")
        with self._lock:
            batch.move(end, output_file_id=output_id, error_file_id=error_id)

    def _begin(self, batch: Batch, checked: BatchInput) -> bool:
        """Return whether the batch is to be answered."""
        with self._lock:
            batch.tokens = checked.tokens
            if errors := checked.errors or self._excess():
                batch.move("failed", errors={"object": "list", "data": errors})
                return False
            batch.content["model"] = checked.model
            batch.content["request_counts"]["total"] = checked.total
            if batch.status == "validating":
                batch.move("in_progress")
            if batch.number <= self._knobs.batch_vanishes:
                del self._batches[batch.id]
                return False
        return True

    def _excess(self) -> list[dict[str, Any]]:
        limit = self._knobs.batch_token_limit
        enqueued = sum(batch.tokens for batch in list(self._batches.values()) if batch.status in _UNFINISHED)
        if not 0 < limit < enqueued:
            return []
        message = f"Enqueued token limit reached: {enqueued} of {limit}. Try again once batches have been completed."
        return [error("token_limit_exceeded", message)]

    def _answer_all(self, batch: Batch, input: IO[bytes], output: "_OutputFile", wrong: "_OutputFile") -> str:
        """Write the answers, and return why some are missing."""
        begun, counts, stopped = time.monotonic(), batch.content["request_counts"], ""
        pause = self._knobs.batch_seconds / counts["total"]
        for place, (_, line) in enumerate(read_lines(input), start=1):
            if not stopped and batch.cancelling.wait(max(0.0, begun + place * pause - time.monotonic())):
                stopped = "batch_cancelled"
            if not stopped and 0 < self._knobs.batch_expires_after < place:
                stopped = "batch_expired"
            if stopped:
                wrong.write(_output_line(line["custom_id"], stopped))
                continue
            status, answer = self._answer(batch, line)
            is_right = status == 200 and not self._knobs.batch_all_errors
            counts["completed" if is_right else "failed"] += 1
            (output if is_right else wrong).write(answer, self._knobs.batch_doubled_rate)
        return stopped

    def _answer(self, batch: Batch, line: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Answer a line as its request would be answered alone, and write the log."""
        id, number, now = line["custom_id"], self._completions.number(), time.time()
        record: dict[str, Any] = {"id": number, "start": now, "batch": batch.id, "custom_id": id, "what": "refused"}
        status, body, code = 200, None, ""
        try:
            outcome = self._completions.outcome(read_request(line["body"]))
            if outcome.drawn.what in _ON_THE_WIRE:
                outcome = outcome._replace(drawn=outcome.drawn._replace(what="ok"))
            record |= outcome.record
            if drawn := refusal(outcome.drawn.what):
                raise drawn
            if outcome.drawn.what == "hang":
                status, code = 408, "request_timeout"
            else:
                body = self._completions.content(outcome, record)
        except Refused as refused:
            status, body = refused.status, {"error": refused.error}
        self._journal.write("batched", record | {"status": status, "end": time.time()})
        return status, _output_line(id, code, status, body)

    def _new_file(self, batch: Batch, name: str) -> "_OutputFile":
        chance = random.Random(f"{name} {self._knobs.seed} {batch.number}")  # noqa: S311  # for faults, no secret
        return _OutputFile(self._files.new_path(), f"{batch.id}_{name}.jsonl", chance, self._knobs.batch_unordered)

    def _keep(self, file: "_OutputFile", batch: Batch) -> str | None:
        """Return the file's id; an empty file has none."""
        if not file.path.stat().st_size:
            file.path.unlink()
            return None
        return str(self._files.add(file.path, file.name, "batch_output", batch.output_seconds)["id"])


class _OutputFile:
    """Writes lines in portions: in order or not, and some of them twice."""

    def __init__(self, path: Path, name: str, chance: random.Random, unordered: bool) -> None:
        self.path = path
        self.name = name
        self._chance = chance
        self._unordered = unordered
        self._lines: list[bytes] = []

    def __enter__(self) -> Self:
        self._file = self.path.open("wb")
        return self

    def __exit__(self, *_: object) -> None:
        self._flush()
        self._file.close()

    def write(self, line: dict[str, Any], doubled_rate: float = 0.0) -> None:
        times = 2 if self._chance.random() < doubled_rate else 1
        self._lines += [json.dumps(line).encode() + b"\n"] * times
        if len(self._lines) >= _PORTION:
            self._flush()

    def _flush(self) -> None:
        if self._unordered:
            self._chance.shuffle(self._lines)
        self._file.writelines(self._lines)
        self._lines.clear()


def _output_line(id: str, code: str, status: int = 0, body: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the line of an answer, or of the code that tells why there is none."""
    number = uuid.uuid4().hex
    return {
        "id": f"batch_req_{number}",
        "custom_id": id,
        "response": None if code else {"status_code": status, "request_id": f"req_{number}", "body": body},
        "error": {"code": code, "message": _UNANSWERED[code]} if code else None,
    }


def _check(wanted: dict[str, Any]) -> None:
    """Raises Refused."""
    if not isinstance(wanted.get("input_file_id"), str):
        raise Refused(400, "Name the input file.")
    if wanted.get("endpoint") != ENDPOINT:
        raise Refused(400, f"The endpoint must be {ENDPOINT}.")
    if wanted.get("completion_window") != "24h":
        raise Refused(400, "The completion window must be 24h.")
    metadata = wanted.get("metadata")
    metadata = {} if metadata is None else metadata
    if not isinstance(metadata, dict) or len(metadata) > 16:
        raise Refused(400, "The metadata must be an object of at most 16 pairs.")
    if any(len(name) > 64 or not isinstance(text, str) or len(text) > 512 for name, text in metadata.items()):
        raise Refused(400, "Metadata are texts of at most 512 characters under names of at most 64.")
    expiry = wanted.get("output_expires_after")
    if expiry is not None and not _is_expiry(expiry):
        raise Refused(400, "Output expires 3,600 to 2,592,000 seconds after the anchor created_at.")


def _is_expiry(value: Any) -> bool:
    if not isinstance(value, dict) or value.get("anchor") != "created_at":
        return False
    seconds = value.get("seconds")
    return type(seconds) is int and 3_600 <= seconds <= 2_592_000
