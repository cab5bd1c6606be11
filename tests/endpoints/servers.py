"""OpenAI-compatible servers that others wrote, each a process on a port of its own, with a reply for each model."""

import json
import os
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

from tests.llm.house import kill_all_of, wait_until
from tests.ports import free_port

LATENCY = 0.3  # seconds, so that a job lasts long enough to be killed
_STARTS = 120.0  # seconds


class Server:
    """A server in a folder; its programs are those of an environment, its log is kept."""

    name: str
    ready: str  # a page that it answers once it is

    def __init__(self, programs: Path, folder: Path) -> None:
        self.port = free_port()
        self.at = f"http://127.0.0.1:{self.port}"
        self.base_url = f"{self.at}/v1"
        self.log = folder / f"{self.name}-{self.port}.log"
        self._programs = programs
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, program: str, *options: str, **env: str) -> None:
        command = [str(self._programs / program), *options, "--port", str(self.port)]
        with self.log.open("w") as log:
            self._process = subprocess.Popen(
                command, env=os.environ | env, cwd=self.log.parent, stdout=log, stderr=log, start_new_session=True
            )
        try:
            wait_until(self._answers, f"{self.name} answers", _STARTS)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        if self._process:
            kill_all_of(self._process)

    def _answers(self) -> bool:
        assert self._process, "it was not started"
        assert self._process.poll() is None, self.log.read_text()[-2_000:]
        try:
            return bool(urlopen(f"{self.at}{self.ready}", timeout=1).status == 200)
        except (URLError, OSError):
            return False


class LiteLLM(Server):
    """The proxy, which makes replies up itself (mock_response), or asks another server behind it."""

    name, ready = "LiteLLM", "/health/liveliness"

    def __init__(
        self, programs: Path, folder: Path, key: str, replies: Mapping[str, str], behind: Mapping[str, str]
    ) -> None:
        super().__init__(programs, folder)
        made_up = {model: {"mock_response": text, "mock_delay": LATENCY} for model, text in replies.items()}
        asked = {model: {"api_base": base_url} for model, base_url in behind.items()}
        listed = [
            {"model_name": model, "litellm_params": {"model": f"openai/{model}", "api_key": "none", **more}}
            for model, more in (made_up | asked).items()
        ]
        told = {
            "model_list": listed,
            # What fails is told, and not asked again: Assay does that.
            "router_settings": {"num_retries": 0, "disable_cooldowns": True},
            "general_settings": {"master_key": key},
        }
        config = folder / "litellm.yaml"
        config.write_text(json.dumps(told))  # which is YAML too
        self.start("litellm", "--config", str(config), "--host", "127.0.0.1", LITELLM_LOCAL_MODEL_COST_MAP="True")

    def answered(self) -> int:
        """Return how many requests were answered well so far: it keeps no account of which."""
        return self.log.read_text().count('"POST /v1/chat/completions HTTP/1.1" 200')


class LLMock(Server):
    """A server that does as it is told for each model, and says what its clients did wrong."""

    name, ready = "LLMock", "/health"

    def __init__(self, programs: Path, folder: Path, *options: str) -> None:
        super().__init__(programs, folder)
        self.start("llmock", "serve", "--host", "127.0.0.1", "--latency-ms", str(int(LATENCY * 1000)), *options)

    def tell(self, behaviors: Sequence[Mapping[str, Any]]) -> None:
        """Forget what was, and do this from now on."""
        self._ask("reset", {})
        self._ask("scenario", {"behaviors": behaviors})

    def sent(self) -> Counter[str]:
        """Return how often each request was answered well."""
        listed = self._ask("requests")["requests"]
        return Counter(one["fingerprint"] for one in listed if one["method"] == "POST" and one["status"] == 200)

    def faults_of_clients(self) -> list[Any]:
        """Return what it found wrong with how requests were sent again."""
        return list(self._ask("verdict")["findings"])

    def _ask(self, what: str, body: Mapping[str, Any] | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = Request(f"{self.at}/_llmock/{what}", data, {"Content-Type": "application/json"})
        return json.loads(urlopen(request, timeout=30).read())
