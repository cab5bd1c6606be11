"""Assay beside doccano, Potato and Label Studio: rounds of one person, then of ten without a pause.

    python -m bench.peers [--programs .venv/peers] [--seconds 1.0]

A round fetches the next item and saves its label, by the requests of the tool's own page; what the page asks for
besides (in doccano the item's labels, and its confirmation) is left out. Servers run as their documentation says, on
the database they come with; Assay's rounds are bench.assigning's. Then each label sent is looked for in what is stored.
"""

import argparse
import json
import os
import re
import sqlite3
import statistics
import subprocess
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

from bench import assigning, house, people

ITEMS = [f"Item {number}" for number in range(200)]
LABELS = ("full", "partial", "none")
PASSWORD = "only-4-benchmarks"
PEOPLE = [f"person{number}@example.org" for number in range(11)]
WAYS = {"one": (PEOPLE[10:], 10.0), "ten": (PEOPLE[:10], 20.0)}  # who works, for how many seconds
FASTER, MORE = 3, 5  # goals: times doccano's median of one, and its rounds of ten

Labels = dict[tuple[str, str], str]  # by person and item


class Outcome(NamedTuple):
    """Seconds of each round and of all, labels not saved."""

    rounds: Sequence[float]
    seconds: float
    lost: int


class Browser:
    """A connection that is kept alive where the server does so, with its cookies."""

    def __init__(self, port: int) -> None:
        self._connection = HTTPConnection("127.0.0.1", port, timeout=60)
        self.close = self._connection.close  # until the next request
        self._cookies: dict[str, str] = {}

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> str:
        """Send JSON, or bytes of a form; return the answer's text."""
        headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in self._cookies.items())
        if body is not None:
            is_form = isinstance(body, bytes)
            headers["Content-Type"] = "application/x-www-form-urlencoded" if is_form else "application/json"
            headers["X-CSRFToken"] = self._cookies.get("csrftoken", "")
            body = body if is_form else json.dumps(body).encode()
        self._connection.request(method, path, body, headers)
        response = self._connection.getresponse()
        text = response.read().decode()
        for cookie in response.headers.get_all("Set-Cookie", []):
            name, _, value = cookie.split(";")[0].strip().partition("=")
            self._cookies[name] = value
        assert response.status < 400, f"{method} {path}: {response.status} {text[:300]}"
        return text

    def post(self, path: str, body: Any) -> Any:
        return json.loads(self.send("POST", path, body))

    def send_form(self, path: str, **fields: str) -> None:
        token = {"csrfmiddlewaretoken": self._cookies.get("csrftoken", "")}
        self.send("POST", path, urlencode(token | fields).encode())


class Peer:
    """A tool that runs in a folder: its commands, the last one the server's; its SQLite file, and a query of labels.

    prepare() makes accounts, a project and its items, and signs everybody in; label() labels a person's next item and
    returns it, where place is how many there were before.
    """

    commands: Sequence[str]
    environ: dict[str, str] = {}
    database: str
    query: str

    def __init__(self, programs: Path, folder: Path) -> None:
        self.programs, self.folder, self.port = programs.absolute(), folder, house.free_port()
        self.browsers = {person: Browser(self.port) for person in PEOPLE}
        folder.mkdir()

    def measure(self, times: float) -> list[Outcome]:
        for command in self.commands[:-1]:
            assert self._start(command).wait() == 0, (self.folder / "log").read_text()[-2000:]
        server = self._start(self.commands[-1])
        try:
            house.wait_for(self.port, server)
            self.prepare()
            return [self._drive(names, seconds * times) for names, seconds in WAYS.values()]
        finally:
            server.terminate()
            server.wait()

    def _start(self, command: str) -> "subprocess.Popen[bytes]":
        environment, program, *arguments = command.format(folder=self.folder, port=self.port).split()
        own = {name: value.format(folder=self.folder) for name, value in self.environ.items()}
        own |= {"HOME": str(self.folder), "PATH": os.environ["PATH"]}  # and nothing of Assay's
        parts = [self.programs / environment / "bin" / program, *arguments]
        with (self.folder / "log").open("ab") as log:
            return subprocess.Popen(parts, cwd=self.folder, env=own, stdout=log, stderr=log)

    def _drive(self, names: Sequence[str], seconds: float) -> Outcome:
        """Have people do rounds until the time is over or all items but one are labelled."""
        sent: Labels = {}

        def work(number: int) -> list[float]:
            took = []
            for place in range(len(ITEMS) - 1):
                began = time.perf_counter()
                if began > start + seconds:
                    break
                label = LABELS[(place + number) % len(LABELS)]
                try:
                    item = self.label(self.browsers[names[number]], place, label)
                    took.append(time.perf_counter() - began)
                except (AssertionError, OSError, HTTPException) as error:
                    item = f"{place}: {error}"  # which is not stored
                    self.browsers[names[number]].close()
                sent[names[number], item] = label
            return took

        start = time.perf_counter()
        with ThreadPoolExecutor(len(names)) as pool:
            rounds = [took for each in pool.map(work, range(len(names))) for took in each]
        elapsed, saved = time.perf_counter() - start, self.saved()
        lost = [key for key, label in sent.items() if saved.get(key) != label]
        for key in lost[:3]:
            print(f"{type(self).__name__} did not save:", *key)
        return Outcome(rounds, elapsed, len(lost))

    def saved(self) -> Labels:
        with sqlite3.connect(self.folder / self.database) as database:
            return {(person, str(item)): label for person, item, label in database.execute(self.query)}


class Doccano(Peer):
    account = f"--username admin --password {PASSWORD}"
    commands = (
        "doccano doccano init",
        f"doccano doccano createuser {account}",
        "doccano doccano webserver --port {port}",
    )
    environ = {"DEBUG": "False", "DOCCANO_HOME": "{folder}", "DATABASE_URL": "sqlite:///{folder}/db.sqlite3"}
    database = "db.sqlite3"
    query = """SELECT username, example_id, text FROM labels_category JOIN auth_user ON user_id = auth_user.id
        JOIN label_types_categorytype types ON label_id = types.id"""

    def prepare(self) -> None:
        admin = Browser(self.port)
        admin.post("/v1/auth/login/", {"username": "admin", "password": PASSWORD})
        project = {"name": "peers", "description": "peers", "project_type": "DocumentClassification"}
        project |= {"resourcetype": "TextClassificationProject", "single_class_classification": True}
        self._project = f"/v1/projects/{admin.post('/v1/projects', project)['id']}"
        roles = {role["name"]: role["id"] for role in json.loads(admin.send("GET", "/v1/roles"))}
        for person, browser in self.browsers.items():
            account = {"username": person, "password1": PASSWORD, "password2": PASSWORD}
            user = admin.post("/v1/users/create", account)["id"]
            admin.post(f"{self._project}/members", {"user": user, "role": roles["annotator"]})
            browser.post("/v1/auth/login/", {"username": person, "password": PASSWORD})
        self._types = {label: admin.post(f"{self._project}/category-types", {"text": label})["id"] for label in LABELS}
        for text in ITEMS:
            admin.post(f"{self._project}/examples", {"text": text})

    def label(self, browser: Browser, place: int, label: str) -> str:
        found = browser.send("GET", f"{self._project}/examples?limit=1&offset={place}&q=&confirmed=&ordering=")
        item = json.loads(found)["results"][0]["id"]
        browser.post(f"{self._project}/examples/{item}/categories", {"label": self._types[label]})
        return str(item)


class Potato(Peer):
    commands = ("potato-annotation potato start config.yaml --host 127.0.0.1 --port {port}",)

    def __init__(self, programs: Path, folder: Path) -> None:
        super().__init__(programs, folder)
        scheme = {"annotation_type": "radio", "name": "support", "description": "Support", "labels": LABELS}
        config = {"annotation_task_name": "peers", "task_dir": ".", "data_files": ["items.json"]}
        config |= {"item_properties": {"id_key": "id", "text_key": "text"}, "annotation_schemes": [scheme]}
        config |= {"output_annotation_dir": "out", "require_password": False}
        items = [{"id": str(number), "text": text} for number, text in enumerate(ITEMS)]
        (folder / "items.json").write_text(json.dumps(items))
        (folder / "config.yaml").write_text(json.dumps(config))  # which is YAML too

    def prepare(self) -> None:
        for person, browser in self.browsers.items():
            browser.send_form("/auth", email=person, **{"pass": ""})
            browser.send("GET", "/annotate")
        self._open = dict.fromkeys(self.browsers.values(), "0")

    def label(self, browser: Browser, place: int, label: str) -> str:
        """Label the item that is open, and open the next."""
        item = self._open[browser]
        labels = {"annotations": {f"support:{label}": label}, "span_annotations": []}
        browser.post("/updateinstance", {"instance_id": item, **labels})
        step = {"instance_id": item, "action": "next_instance"}
        browser.send("POST", "/annotate", step, **{"X-Potato-Navigation": "1"})
        opened = re.search(r'name="instance_id"[^>]* value="(\d+)"', browser.send("GET", "/annotate"))
        assert opened
        self._open[browser] = opened[1]
        return item

    def saved(self) -> Labels:
        states = [json.loads(file.read_text()) for file in self.folder.glob("out/*/user_state.json")]
        return {
            (state["user_id"], item): label
            for state in states
            for item, ((_, label), *_) in state["instance_id_to_label_to_value"].items()
        }


class LabelStudio(Peer):
    start = "label-studio label-studio start --no-browser --data-dir {folder} --internal-host 127.0.0.1 --port {port}"
    commands = (start,)
    # It tells nobody of the run.
    environ = {"COLLECT_ANALYTICS": "0", "LATEST_VERSION_CHECK": "0", "SENTRY_DSN": "", "FRONTEND_SENTRY_DSN": ""}
    database = "label_studio.sqlite3"
    query = """SELECT email, task_id, json_extract(result, '$[0].value.choices[0]')
        FROM task_completion JOIN htx_user ON completed_by_id = htx_user.id"""

    def prepare(self) -> None:
        for person, browser in self.browsers.items():
            browser.send("GET", "/user/signup/")
            browser.send_form("/user/signup/", email=person, password=PASSWORD)
        choices = "".join(f'<Choice value="{label}"/>' for label in LABELS)
        screen = f'<Text name="text" value="$text"/><Choices name="support" toName="text">{choices}</Choices>'
        project = {"title": "peers", "label_config": f"<View>{screen}</View>", "maximum_annotations": len(PEOPLE)}
        self._project = browser.post("/api/projects/", project)["id"]
        browser.post(f"/api/projects/{self._project}/import", [{"text": text} for text in ITEMS])

    def label(self, browser: Browser, place: int, label: str) -> str:
        item = browser.post(f"/api/dm/actions?id=next_task&project={self._project}", {})["id"]
        result = {"from_name": "support", "to_name": "text", "type": "choices", "value": {"choices": [label]}}
        browser.post(f"/api/tasks/{item}/annotations?project={self._project}", {"result": [result]})
        return str(item)


def measure_assay(folder: Path, times: float) -> list[Outcome]:
    house.open_house(folder)
    house.collect_static_files()
    tasks = assigning.prepare(folder, 0.1)
    from assignment.models import AnswerSheet

    work = people.Work("/assign/{}/", "nugget", assigning.LABELS, AnswerSheet)
    outcomes = []
    for name, (_, seconds) in WAYS.items():
        pace = assigning.WAYS[name][0]._replace(seconds=seconds * times)
        theirs, tasks = tasks[: pace.people], tasks[pace.people :]  # a topic is soon labelled to its end
        result, wrong = people.run(work, pace, [(task, assigning.items(task)) for task in theirs])
        rounds = [sum(parts.values()) for parts in result["rounds"]]
        outcomes.append(Outcome(rounds, result["seconds"], sum(wrong.values()) + len(result["errors"])))
    return outcomes


def report(outcomes: dict[str, list[Outcome]]) -> int:
    """Print a table; return how many goals were missed."""
    median = {name: 1000 * statistics.median(one.rounds) for name, (one, _) in outcomes.items()}
    rate = {name: len(ten.rounds) / ten.seconds for name, (_, ten) in outcomes.items()}
    print("||one: median, p95|Assay is faster|ten: rounds/s, p95|Assay does more|not saved|\n|---|---|---|---|---|---|")
    for name, ways in outcomes.items():
        high_one, high_ten = (1000 * house.percentile(way.rounds, 95) for way in ways)
        print(f"|{name}|{median[name]:.1f}, {high_one:.1f} ms|{median[name] / median['Assay']:.1f} times", end="")
        print(f"|{rate[name]:.1f}, {high_ten:.0f} ms|{rate['Assay'] / rate[name]:.1f} times", end="")
        lost, done = sum(way.lost for way in ways), sum(len(way.rounds) for way in ways)
        print(f"|{lost} of {done}|")
    missed = median["Doccano"] < FASTER * median["Assay"], rate["Assay"] < MORE * rate["Doccano"]
    if any(missed):
        print(f"Missed: {FASTER} times as fast as doccano for one, {MORE} times its rounds for ten")
    return sum(missed) + any(way.lost for way in outcomes["Assay"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=Path, default=Path(".venv/peers"))
    parser.add_argument("--seconds", type=float, default=1.0, help="Times the usual 10 and 20 seconds.")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as name:
        outcomes = {"Assay": measure_assay(Path(name), chosen.seconds)}
        for tool in (Doccano, Potato, LabelStudio):
            outcomes[tool.__name__] = tool(chosen.programs, Path(name) / tool.__name__).measure(chosen.seconds)
    raise SystemExit(report(outcomes))


if __name__ == "__main__":
    main()
