"""How the rehearsal endpoint behaves."""

from dataclasses import dataclass, field, fields
from typing import Any

# What can go wrong with a request, in the order in which it is drawn; each has a rate among the knobs.
TROUBLES = (
    *("failure", "rate_limit", "garbage", "short", "wrong_label", "hang", "broken", "fenced"),
    *("endless", "gzip_bomb", "drip"),
)


def _knob(default: Any, help: str) -> Any:
    return field(default=default, metadata={"help": help})


@dataclass(frozen=True)
class Knobs:
    """All of them; each is an option of serve_rehearsal_llm, too. Rates are shares of the requests, 0 to 1."""

    address: str = _knob("127.0.0.1", "Address to listen at; whoever reaches it may ask.")
    port: int = _knob(8900, "Port; 0 takes a free one.")
    latency: float = _knob(0.0, "Seconds that an answer takes.")
    jitter: float = _knob(0.0, "Seconds that it takes longer at most.")
    failure_rate: float = _knob(0.0, "Share answered with 500.")
    rate_limit_rate: float = _knob(0.0, "Share answered with 429, at once.")
    retry_after: float = _knob(1.0, "Seconds that a 429 tells to wait.")
    garbage_rate: float = _knob(0.0, "Share answered with text that is no list, grade or label.")
    short_rate: float = _knob(0.0, "Share whose list lacks its last entry; a single grade or label is left out.")
    wrong_label_rate: float = _knob(0.0, "Share with a label or grade outside the vocabulary, or an empty nugget.")
    hang_rate: float = _knob(0.0, "Share never answered.")
    broken_rate: float = _knob(0.0, "Share whose connection is closed half-way through the answer.")
    fenced_rate: float = _knob(0.0, "Share answered rightly, but in another form than asked for.")
    endless_rate: float = _knob(0.0, "Share answered without end, as fast as it is read.")
    gzip_bomb_rate: float = _knob(0.0, "Share answered with 2 MB of gzip that unpacks to 1 GB.")
    drip_rate: float = _knob(0.0, "Share answered a byte every fifth of a second.")
    batch_seconds: float = _knob(0.0, "Seconds that a batch takes; 0: as few as it can.")
    batch_unordered: bool = _knob(False, "Shuffle a batch's output, a thousand lines at a time.")
    batch_doubled_rate: float = _knob(0.0, "Share of a batch's output that is in its file twice.")
    batch_all_errors: bool = _knob(False, "Put all answers of a batch into its error file.")
    batch_empty_error_id: bool = _knob(False, "Name a missing error file by an empty text, not by null.")
    batch_expires_after: int = _knob(0, "Requests after which a batch expires; 0: it never does.")
    batch_vanishes: int = _knob(0, "Batches, the first ones, that are not found any more once in progress.")
    batch_create_429: int = _knob(0, "Batches, the first ones, whose making is answered with 429.")
    batch_token_limit: int = _knob(0, "Tokens of all unfinished batches; one that exceeds them fails; 0: no limit.")
    renamed_after: int = _knob(0, "Requests after which answers name another model; 0: they never do.")
    flip_rate: float = _knob(0.0, "Share of labels that change when the same request comes again.")
    drift: float = _knob(0.0, "Share of labels that are others from drift_after on, the same whenever it is asked.")
    drift_after: int = _knob(0, "Requests after which a judge drifts.")
    require_key: bool = _knob(False, "Refuse requests without a key. Any will do.")
    log: str = _knob("", "File that gets a line when a request begins and one when it ends.")
    seed: int = _knob(0, "Another seed, other requests that go wrong.")

    def __post_init__(self) -> None:
        below = [each.name for each in fields(self) if each.type is not str and getattr(self, each.name) < 0]
        if below:
            raise ValueError(f"{', '.join(below)}: less than 0.")
        if sum(self.rate(trouble) for trouble in TROUBLES) > 1:
            raise ValueError("The rates add up to more than 1.")

    def rate(self, trouble: str) -> float:
        """Return the share of requests that this happens to."""
        return float(getattr(self, f"{trouble}_rate"))
