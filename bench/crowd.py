"""Assessors at work over HTTP, as their browsers do it: the load of bench.load, in a process of its own.

Each has a browser's connections, a session, and tasks of four kinds between which they change: home, the page with its
static files the first time, the next answers fetched ahead, one save after another, active time every half minute, and
the sign-off where all is done. A save whose connection broke is sent again with the same key, as the outbox does. An
organizer looks now and then how far things are.

The plan can tell other pauses, for how long a request is sent again, and which answers are as a broken connection: the
faults of tests/faults have them.

Reads a plan as JSON from its input, and writes what it sent, what was answered, and how long that took.
"""

import asyncio
import html
import json
import random
import re
import sys
import time
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

import httpx2

PAUSE = (1.0, 3.0)  # seconds between a person's saves, by chance: faster than anybody reads
PATIENCE = 8.0  # seconds for which a request is sent again
SITTING = 90.0  # seconds after which a person turns to something else
CORRECTED = 0.05  # of the labels: changed right after they were given
REPORT = 30  # seconds after which active time is reported
LOOK = 10.0  # seconds after which the organizer looks at the next page
NUGGETS = 12  # of a bank, before it is handed in
LABELS = {"assign": ("support", "partial_support", "not_support"), "support": ("full", "partial", "none")}
FEW = 3  # passages on the page, below which it asks for more
AHEAD = {"assign": 4, "support": 3}
ITEM = {"assign": "nugget", "support": "citation"}


class Told:
    """What is handed back: of each kind of request how long it took, and what was called saved."""

    def __init__(self) -> None:
        self.took: dict[str, list[float]] = {}
        self.errors: list[str] = []
        self.resent = 0  # requests, because the connection broke or an answer said that it can't be had now
        self.sorry = 0  # such answers
        self.saves: list[str] = []  # keys that were answered as saved
        self.labels: list[tuple[str, int, str, str]] = []  # kind, sheet, item, label, in their order
        self.grades: list[tuple[int, int, int]] = []  # task, item, grade
        self.banks: dict[int, dict[str, Any]] = {}  # by key: how many edits, and its nuggets by uid
        self.times: list[tuple[str, int]] = []  # key, seconds
        self.signed_off: list[int] = []
        self.handed_in: list[int] = []


class Wrong(Exception):
    """An answer that no person should get."""


class Browser:
    """A person's browser: cookies, a cache of static files, at most six connections."""

    def __init__(self, plan: dict[str, Any], cookie: str, told: Told) -> None:
        self.told = told
        self._client = httpx2.AsyncClient(
            base_url=f"http://localhost:{plan['port']}",
            cookies={"sessionid": cookie},
            limits=httpx2.Limits(max_connections=6),
            timeout=30,
            trust_env=False,
        )
        self._cached: set[str] = set()
        self._patience: float = plan.get("patience", PATIENCE)
        self._away: list[int] = plan.get("away", [])

    async def close(self) -> None:
        await self._client.aclose()

    async def _send(self, kind: str, method: str, path: str, **options: Any) -> httpx2.Response:
        """Send a request, again where the connection breaks, and note how long it took in all."""
        start, wait = time.perf_counter(), 0.5
        while True:
            try:
                response = await self._client.request(method, path, **options)
                if response.status_code not in self._away:
                    break
                trouble = self._sorry(response)
            except httpx2.TransportError as error:
                trouble = f"{type(error).__name__} {error}"
            self.told.resent += 1
            if time.perf_counter() - start > self._patience:
                raise Wrong(f"{method} {path}: {trouble}")
            await asyncio.sleep(wait)
            wait = min(2 * wait, 4.0)
        self.told.took.setdefault(kind, []).append(1000 * (time.perf_counter() - start))
        if response.status_code != 200:
            raise Wrong(f"{method} {path}: {response.status_code} {response.text[:200]!r}")
        return response

    def _sorry(self, response: httpx2.Response) -> str:
        """Return what a person is told instead of a page. Raises Wrong where that is nothing for people."""
        if "<h1" not in response.text or "Traceback" in response.text:
            raise Wrong(f"{response.status_code} {response.text[:200]!r}")
        self.told.sorry += 1
        return f"{response.status_code}"

    async def page(self, kind: str, path: str) -> str:
        """Open a page, with the static files that are new to this browser."""
        text = (await self._send(kind, "GET", path)).text
        new = set(re.findall(r'(?:src|href)="(/static/[^"]+)"', text)) - self._cached
        self._cached |= new
        await asyncio.gather(*[self._send("static file", "GET", each) for each in sorted(new)])
        return text

    async def fetch(self, kind: str, path: str) -> str:
        return (await self._send(kind, "GET", path)).text

    async def post(self, kind: str, path: str, fields: dict[str, Any]) -> httpx2.Response:
        headers = {"X-CSRFToken": self._client.cookies["csrftoken"], "X-Assay-Write": "1"}
        return await self._send(kind, "POST", path, data=fields, headers=headers)

    async def save(self, kind: str, path: str, version: int, fields: dict[str, Any]) -> httpx2.Response:
        """Send a write with a key of its own; what is answered is saved."""
        key = str(uuid.uuid4())
        response = await self.post(kind, path, {**fields, "key": key, "version": version})
        if "X-Assay-Write" not in response.headers:
            raise Wrong(f"{path}: somebody else answered")
        self.told.saves.append(key)
        return response


def attribute(name: str, text: str) -> str:
    """Return the first attribute of this name in a text."""
    found = re.search(rf'\b{name}="([^"]*)"', text)
    if not found:
        raise Wrong(f"no {name} in {text[:200]!r}")
    return html.unescape(found[1])


def articles(text: str) -> list[str]:
    """Return the answers in a page, each from its beginning to that of the next one."""
    return re.split(r'(?=<article class="answer")', text)[1:]


class Assessor:
    """Somebody at work until the time is over."""

    def __init__(self, plan: dict[str, Any], number: int, told: Told) -> None:
        person = plan["people"][number]
        self._tasks: list[dict[str, Any]] = person["tasks"]
        self._browser = Browser(plan, person["cookie"], told)
        self._told = told
        self._chance = random.Random(number)
        self._ends = time.monotonic() + plan["seconds"]
        self._starts_after = 10 * number / len(plan["people"])
        self._words = plan["words"]
        self._reports: list[asyncio.Task[None]] = []
        self._pause: tuple[float, float] = plan.get("pause", PAUSE)

    async def work(self) -> None:
        """Change between the tasks, with a look at home between two of them."""
        await asyncio.sleep(self._starts_after)
        ways: dict[str, Callable[[dict[str, Any]], Awaitable[bool]]] = {
            "assign": self._label,
            "support": self._label,
            "nuggets": self._edit,
            "relevance": self._grade,
        }
        open_tasks = list(self._tasks)
        while open_tasks and not self._is_over:
            task = open_tasks.pop(0)
            try:
                await self._browser.page("home", "/")
                report = asyncio.create_task(self._tell_time(task["task"]))
                try:
                    is_done = await ways[task["kind"]](task)
                finally:
                    report.cancel()
                    await asyncio.gather(report, return_exceptions=True)
            except Wrong as error:
                self._told.errors.append(str(error))
                continue
            if not is_done:
                open_tasks.append(task)
        await asyncio.gather(*self._reports)
        await self._browser.close()

    @property
    def _is_over(self) -> bool:
        return time.monotonic() > self._ends

    async def _think(self) -> int:
        """Wait as long as a person does; return the seconds."""
        seconds = self._chance.uniform(*self._pause)
        await asyncio.sleep(seconds)
        return round(seconds)

    async def _tell_time(self, task: int) -> None:
        """Report active time while a page is open; what is left over when it is closed is told then."""
        since = time.monotonic()
        try:
            while True:
                await asyncio.sleep(REPORT)
                await self._report(task, REPORT)
                since = time.monotonic()
        finally:
            if left := int(time.monotonic() - since):
                await self._report(task, left)

    async def _report(self, task: int, seconds: int) -> None:
        """Report seconds; that ends even if whoever waits for it is called off."""
        report = asyncio.create_task(self._send_report(task, seconds))
        self._reports.append(report)
        await asyncio.shield(report)

    async def _send_report(self, task: int, seconds: int) -> None:
        key = str(uuid.uuid4())
        try:
            await self._browser.post("active time", f"/work/{task}/time/", {"key": key, "seconds": seconds})
        except Wrong as error:
            self._told.errors.append(str(error))
        else:
            self._told.times.append((key, seconds))

    # ---- nuggets and citations of answers ----

    async def _label(self, task: dict[str, Any]) -> bool:
        """Label answers in their order; return whether the topic is signed off."""
        kind, base = task["kind"], task["base"]
        page = await self._browser.page(f"open {kind}", base)
        queue = json.loads(attribute("data-queue", page))
        # [key, number, to do, version, put off], and for citations [..., total, equal].
        versions = {row[0]: row[3] for row in queue}
        in_order = [row[0] for row in sorted(queue, key=lambda row: (row[4], row[1]))]
        to_do = {row[0]: row[2] for row in queue}
        nuggets = re.findall(r'data-nugget="(\d+)"', page)
        there: dict[int, dict[str, Any]] = {}

        def take(article: str) -> None:
            sheet = int(attribute("data-sheet", article))
            said = json.loads(attribute("data-said", article))
            versions[sheet] = max(versions[sheet], int(attribute("data-version", article)))
            asked = said["open"] if kind == "support" else [str(each) for each in said["asked"] or nuggets]
            there[sheet] = {
                "unsaid": [item for item in asked if item not in said["labels"] and item not in said["cannot"]],
                "docids": {
                    key: html.unescape(docid)
                    for keys, docid in re.findall(r'data-citations="([^"]*)" data-docid="([^"]*)"', article)
                    for key in keys.split()
                },
            }

        async def have(sheets: list[int]) -> None:
            for sheet in sheets:
                if sheet not in there:
                    take(await self._browser.fetch(f"fetch {kind} answer", f"{base}answers/{sheet}/"))

        for article in articles(page):
            take(article)
        until = time.monotonic() + SITTING
        todo = [sheet for sheet in in_order if to_do[sheet]]
        ahead: asyncio.Task[None] | None = None
        for place, sheet in enumerate(todo):
            if ahead:
                await ahead
            await have([sheet])
            ahead = asyncio.create_task(have(todo[place + 1 : place + 1 + AHEAD[kind]]))
            here = there[sheet]
            while here["unsaid"]:
                if self._is_over or time.monotonic() > until:
                    await ahead
                    return False
                item = here["unsaid"].pop(0)
                fields = {ITEM[kind]: item}
                if kind == "support":
                    fields["docid"] = here["docids"][item]
                for label in self._labels(kind):
                    seconds = await self._think()
                    asked = {**fields, "label": label, "seconds": seconds}
                    path = f"{base}answers/{sheet}/label/"
                    answered = (await self._browser.save(f"save {kind} label", path, versions[sheet], asked)).json()
                    versions[sheet] = answered["version"]
                    self._told.labels.append((kind, sheet, item, label))
                    for equal in answered.get("equal", ()):
                        versions[equal["sheet"]] = equal["version"]
                        if other := there.get(equal["sheet"]):
                            other["unsaid"] = [each for each in other["unsaid"] if each not in equal["citations"]]
        if ahead:
            await ahead
        await self._think()
        await self._browser.save("sign off", f"{base}sign-off/", sum(versions.values()), {})
        self._told.signed_off.append(task["task"])
        return True

    def _labels(self, kind: str) -> list[str]:
        """Return a label, and now and then another one with which it is corrected."""
        return self._chance.sample(LABELS[kind], 2 if self._chance.random() < CORRECTED else 1)

    # ---- the editor ----

    async def _edit(self, task: dict[str, Any]) -> bool:
        """Write nuggets and hand them in; what was there before stays."""
        base, chance = task["base"], self._chance
        page = await self._browser.page("open editor", base)
        version = int(attribute("data-version", page))
        bank = self._told.banks.setdefault(task["bank"], {"edits": 0, "nuggets": {}})
        read: set[str] = set()
        docids = [html.unescape(each) for each in re.findall(r'tabindex="-?\d" data-docid="([^"]*)"', page)]

        async def save(action: str, **fields: Any) -> None:
            nonlocal version
            await self._think()
            path = f"{base}{action}/"
            answered = await self._browser.save("save nugget edit", path, version, fields)
            version = int(answered.headers["X-Assay-Version"])
            bank["edits"] += 1

        while len(bank["nuggets"]) < NUGGETS:
            if self._is_over:
                return False
            uid, docid = str(uuid.uuid4()), chance.choice(docids)
            text = " ".join(chance.choices(self._words, k=9))
            await save("add", uid=uid, text=text, docid=docid, start=0, end=40)
            bank["nuggets"][uid] = {"text": text, "importance": "", "evidence": 1}
            importance = chance.choice(["vital", "okay"])
            await save(f"{uid}/importance", importance=importance)
            bank["nuggets"][uid]["importance"] = importance
            if chance.random() < 0.4:
                text = " ".join(chance.choices(self._words, k=8))
                await save(f"{uid}/reword", text=text)
                bank["nuggets"][uid]["text"] = text
            if chance.random() < 0.4 and len(docids) > 1:
                await save(f"{uid}/attach", docid=chance.choice([one for one in docids if one != docid]))
                bank["nuggets"][uid]["evidence"] += 1
            if chance.random() < 0.4 and docid not in read:
                await save("read", docid=docid, read="1")
                read.add(docid)
        if self._is_over:
            return False
        await save("finish")
        self._told.handed_in.append(task["bank"])
        return True

    # ---- relevance ----

    async def _grade(self, task: dict[str, Any]) -> bool:
        """Grade passages; return whether all of the topic are graded."""
        page = await self._browser.page("open relevance", task["base"])
        until = time.monotonic() + SITTING
        queue = json.loads(attribute("data-queue", page))
        for item, version in [(item, version) for item, _, to_do, version, _ in queue if to_do]:
            if f'id="i{item}"' not in page:
                await self._browser.page("fetch passage", f"{task['base']}answers/{item}/")
            if self._is_over or time.monotonic() > until:
                return False
            grade = self._chance.randint(0, 3)
            asked = {"item": item, "grade": grade, "seconds": await self._think()}
            await self._browser.save("save grade", f"{task['base']}judge/", version, asked)
            self._told.grades.append((task["task"], item, grade))
        return True


async def look_on(plan: dict[str, Any], told: Told) -> None:
    """Have the organizer look at one page after another."""
    browser = Browser(plan, plan["organizer"]["cookie"], told)
    ends = time.monotonic() + plan["seconds"]
    pages = plan["organizer"]["pages"]
    number = 0
    while time.monotonic() < ends:
        path = pages[number % len(pages)]
        try:
            await browser.page(f"organizer: {urlsplit(path).path.split('/')[-2]}", path)
        except Wrong as error:
            told.errors.append(str(error))
        number += 1
        await asyncio.sleep(LOOK)
    await browser.close()


async def crowd(plan: dict[str, Any]) -> dict[str, Any]:
    """Let everybody work until the time is over; return what there is to tell."""
    told = Told()
    started, cpu = time.perf_counter(), time.process_time()
    people = [Assessor(plan, number, told) for number in range(len(plan["people"]))]
    found = await asyncio.gather(*[one.work() for one in people], look_on(plan, told), return_exceptions=True)
    told.errors += [f"{type(error).__name__}: {error}" for error in found if isinstance(error, BaseException)]
    seconds = time.perf_counter() - started
    return vars(told) | {
        "seconds": seconds,
        "cpu": (time.process_time() - cpu) / seconds,
        "errors": told.errors[:20],
        "error_count": len(told.errors),
        "kinds": Counter({kind: len(took) for kind, took in told.took.items()}),
    }


if __name__ == "__main__":
    json.dump(asyncio.run(crowd(json.load(sys.stdin))), sys.stdout)
