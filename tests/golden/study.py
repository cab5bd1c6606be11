"""A whole study on the demo's files, played over HTTP and by commands."""

import json
import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

from django.core.management import call_command

import demo
from tests.golden.player import Choice, Player, upload
from tests.golden.screens import Assignment, Editor, Grading, Support, pick
from tests.golden.world import Clock

DEMO = Path(demo.__file__).parent
NUGGETS = [
    ("Heat pumps move heat rather than make it", "vital"),
    ("Efficiency falls as it gets colder outside", "okay"),
    ("Frost on the coil is melted by running in reverse", "vital"),
    ("Some houses need another source", ""),
]
PASSWORD = "golden-password"
PRACTICE = "demo-7"
BASE = "/campaigns/golden/"
# The only place that knows where things are.
ADDRESSES = {
    "new campaign": "/new-campaign/",
    **{
        name: f"{BASE}{path}"
        for name, path in {
            "people": "people/",
            "imports": "imports/",
            "new condition": "conditions/new/",
            "plan": "plan/",
            "practice": "practice/",
            "runs of the plan": "plan/runs/",
            "adjudication": "adjudication/",
            "comparisons": "comparisons/",
            "new judge": "judges/new/",
            "new job": "jobs/new/",
        }.items()
    },
}


class Study:
    """An organizer and three assessors; each step goes by a page or a command, as people take it."""

    def __init__(self, clock: Clock, model_url: str) -> None:
        self.clock, self.model_url = clock, model_url
        os.environ["DJANGO_SUPERUSER_PASSWORD"] = PASSWORD
        call_command("createsuperuser", username="root", email="", interactive=False, verbosity=0)
        self.root = Player(clock, "root", PASSWORD)
        self.root.submit(ADDRESSES["new campaign"], name="Golden")
        self.olga = self.invite(self.root, "olga", "organizer")
        self.olga.client.post(f"{ADDRESSES['people']}1/role/", {"role": ""})  # root has made it, and has no part in it
        self.anna, self.ben, self.cleo = (self.invite(self.olga, name, "assessor") for name in ("anna", "ben", "cleo"))
        self.players = {"root": self.root, "olga": self.olga, "anna": self.anna, "ben": self.ben, "cleo": self.cleo}

    def invite(self, by: Player, name: str, role: str) -> Player:
        """Invite somebody new, who comes by the link that is shown."""
        page = by.submit(ADDRESSES["people"], name=name, role=Choice(role), then="A link for")
        [link] = re.findall(r"readonly>http://testserver([^<]+)<", page)
        return Player(self.clock, name, PASSWORD, link)

    def bring(self, kind: str, *paths: Path, more: str = "", **fields: Any) -> None:
        """Upload files, each once the one before is in. more: is added at the end of each."""
        for path in paths:
            self.upload(kind, path.name, path.read_bytes() + more.encode(), **fields)

    def upload(self, kind: str, name: str, content: bytes, **fields: Any) -> None:
        """Upload a file; where its kind asks for more, say that in the list of files that wait for it."""
        self.olga.submit(ADDRESSES["imports"], kind=kind, uploads=upload(name, content))
        if fields:
            [held] = set(re.findall(r'name="(file\d+)-kind"', self.olga.page(ADDRESSES["imports"])))
            self.olga.submit(
                ADDRESSES["imports"], among="held", **{f"{held}-{name}": value for name, value in fields.items()}
            )
        [row, *_] = [row for row in self.olga.page(ADDRESSES["imports"]).split("<tr>") if f"<bdi>{name}</bdi>" in row]
        assert ">imported</span>" in row, row

    def make(self, method: str, name: str, **fields: Any) -> None:
        """Make a condition."""
        self.olga.submit(ADDRESSES["new condition"], method=method, name=name, then="<h1>Plan</h1>", **fields)

    def launch(self, kind: str, topics: str = "", **fields: Any) -> None:
        """Launch a job after a look at what it takes. It has ended when its page comes."""
        fields = {"kind": kind, "judge": Choice("rehearsal"), "topics": topics, **fields}
        self.olga.submit(f"{ADDRESSES['new job']}?kind={kind}", press="launch", then=">done</span>", **fields)

    def give(self, condition: str, person: str, *qids: str) -> list[str]:
        """Give a person topics; return the addresses of the work."""
        page = self.olga.page(ADDRESSES["plan"])
        rows = [re.findall(rf'value="(\d+)" aria-label="Choose {re.escape(qid)}"', page)[0] for qid in qids]
        address = f"{ADDRESSES['plan']}give/?{urlencode({'topics': rows}, doseq=True)}"
        [[value]] = {tuple(re.findall(rf'<option value="(\d+)"[^>]*>{person}\b', self.olga.page(address)))}
        self.olga.submit(address, among="Give", condition=Choice(condition), person=value)
        return [self.work(condition, person, qid) for qid in qids]

    def work(self, condition: str, person: str, qid: str) -> str:
        """Return the address of a person's work on a topic, as the plan links it."""
        page = self.olga.page(ADDRESSES["plan"])
        [row] = [row for row in page.split("<tr>") if f'aria-label="Choose {qid}"' in row]
        [pk] = re.findall(rf'<option value="(\d+)"[^>]*>{re.escape(condition)}</option>', page)
        slot = rf'href="([^"]*/work/{pk}/\d+/\?[^"]*)" aria-label="{re.escape(qid)}: {person},'
        [piece] = re.findall(slot, row)
        [found] = re.findall(r'href="([^"]*)">Look at the work', self.olga.page(piece))
        return str(found)

    def play(self) -> None:
        self.bring("topics", DEMO / "topics.tsv", more=f"{PRACTICE}\twhat a city gains from fewer parking spaces\n")
        self.bring("segments", DEMO / "segments.jsonl")
        self.bring("qrels", DEMO / "qrels.people.txt", source="People", by="people")
        self.bring("run_list", DEMO / "runs.csv")
        *runs, self.late = sorted((DEMO / "runs").glob("*.jsonl"))
        first, *others = runs
        [line] = [line for line in first.read_text().splitlines() if '"demo-4"' in line]
        self.for_practice = line.replace('"demo-4"', f'"{PRACTICE}"')
        self.bring("runs", first, more=f"{self.for_practice}\n")
        self.bring("runs", *others)
        self.olga.submit(ADDRESSES["practice"], among="practice/topics/", topics=PRACTICE, practice="1")
        self.bring("retrieval", *sorted((DEMO / "retrieval").glob("*")))
        self.olga.submit(
            ADDRESSES["new judge"], name="rehearsal", model="rehearsal", base_url=self.model_url, concurrency="1"
        )
        people = Choice("People, 0 to 3")
        self.make("ManualNuggets", "ManualNuggets", qrels_source=people)
        self.write_nuggets()
        self.launch("AutoNuggets", qrels_source=people)
        self.launch("Drafts", "demo-3", qrels_source=people)
        self.edit_drafts()
        self.assign()
        self.judge_support()
        self.practise()
        self.grade()
        self.change_their_minds()
        self.study_differences()
        call_command("freeze_condition", "golden", "--condition=Support edited", verbosity=0)

    def edit_drafts(self) -> None:
        """Ben keeps, rewords, deletes and merges a model's drafts, and makes all that is left vital."""
        [address] = self.give("Drafts by rehearsal", "ben", "demo-3")
        self.read_guidelines(self.ben, address)
        editor = Editor(self.ben, address)
        uids = sorted((one["uid"] for one in editor.nuggets), key=lambda uid: editor.text(uid))
        editor.do("reword", uids[0], text="In the words of an assessor")
        editor.do("delete", uids[1])
        editor.do("merge", uid=uuid4(), uids=f"{uids[2]} {uids[3]}", text="Two drafts in one")
        editor.do("keep", uids[4])
        for one in editor.nuggets:
            editor.do("importance", one["uid"], importance=pick(("vital", "okay"), "worth", one["text"]))
        editor.do("finish")

    def assign(self) -> None:
        """By hand, by the model, by hand once more by somebody else, and by the same person again."""
        nuggets = Choice("ManualNuggets")
        self.make("ManualAssign", "Manual/Manual", nuggets=nuggets)
        first, second = self.give("Manual/Manual", "anna", "demo-1", "demo-2")
        self.read_guidelines(self.anna, first)
        screen = Assignment(self.anna, first)
        screen.label_all("anna")
        [answer, *_] = screen.answers
        [nugget, *_] = sorted(screen.nuggets, key=lambda key: screen.nuggets[key])
        screen.do(answer, "flag", nugget=nugget, note="Only half of it")
        screen.do(answer, "mark", nugget=nugget, marks="[[0, 0, 12]]")
        screen.sign_off()
        Assignment(self.anna, second).label_all("anna")  # not signed off
        self.launch("AutoAssign", nuggets=nuggets)
        self.launch("AutoAssign", nuggets=Choice("AutoNuggets by rehearsal on People"))
        of = Choice("Manual/Manual")
        self.make(
            "second",
            "Manual/Manual, second annotation",
            of=of,
        )
        [address] = self.give("Manual/Manual, second annotation", "cleo", "demo-1")
        self.read_guidelines(self.cleo, address)
        screen = Assignment(self.cleo, address)
        screen.label_all("cleo")
        screen.sign_off()

    def judge_support(self) -> None:
        """From scratch, by the model, and beside the model's labels."""
        self.make("support from scratch", "Support by people")
        [address] = self.give("Support by people", "anna", "demo-4")
        self.read_guidelines(self.anna, address)
        screen = Support(self.anna, address)
        screen.label_all("anna")
        screen.sign_off()
        self.launch("Support", "demo-4 demo-5")
        self.make("support post-edited", "Support edited", shown_labels=Choice("Support by rehearsal"))
        [address] = self.give("Support edited", "ben", "demo-5")
        self.read_guidelines(self.ben, address)
        screen = Support(self.ben, address)
        screen.label_all("ben", is_shown=True)
        screen.sign_off()

    def practise(self) -> None:
        """Cleo practises on a topic that is in no file, and is held against labels that came by one."""
        answer = json.loads(self.for_practice)
        sentences = [
            {
                "sentenceID": number,
                "text": sentence["text"],
                "citations": [
                    {"citationID": at, "reference": answer["references"][at], "support": "2"}
                    for at in sentence["citations"]
                ],
            }
            for number, sentence in enumerate(answer["answer"])
        ]
        judged = json.dumps({"topic_id": PRACTICE, "run_id": answer["run_id"], "sentences": sentences})
        self.upload("support", "practice.jsonl", judged.encode(), condition="Reference", by="people")
        condition = "Support by people"
        [address] = self.give(condition, "cleo", PRACTICE)
        self.read_guidelines(self.cleo, address)
        screen = Support(self.cleo, address)
        screen.label_all("cleo")
        page = self.olga.page(ADDRESSES["practice"])
        [named] = re.findall(rf'href="([^"]*)" aria-label="Reference of {condition}"', page)
        self.olga.submit(named, reference=Choice("Reference"))
        screen.sign_off()

    def grade(self) -> None:
        """From scratch, by the model, beside the model's grades, and by two people from one queue."""
        self.make("manual relevance", "Grades by people")
        [address] = self.give("Grades by people", "anna", "demo-6")
        self.read_guidelines(self.anna, address)
        Grading(self.anna, address).grade("anna")
        self.launch("UMBRELA", "demo-5 demo-6")
        shown = Choice("UMBRELA by rehearsal, 0 to 3")
        self.make("relevance post-edited", "Grades edited", shown=shown)
        [address] = self.give("Grades edited", "cleo", "demo-5")
        self.read_guidelines(self.cleo, address)
        Grading(self.cleo, address).grade("cleo", is_shown=True)
        drawn = Choice("from a queue: several people have a topic, and each draws the next passage")
        self.make("manual relevance", "Grades from a queue", given=drawn, max_grade="4")
        for name, player, most in (("ben", self.ben, 4), ("cleo", self.cleo, 1000)):
            [address] = self.give("Grades from a queue", name, "demo-6")
            self.read_guidelines(player, address)
            Grading(player, address).grade(name, most=most)

    def change_their_minds(self) -> None:
        """Nuggets finished again, a run that arrives late, a run dropped, and the same person asked again."""
        work = self.work("Manual/Manual", "anna", "demo-1")
        bank = self.work("ManualNuggets", "anna", "demo-1")
        self.olga.submit(bank, among="reopen/", reason="One is missing")
        editor = Editor(self.anna, bank)
        editor.do("add", uid=uuid4(), text="The ground keeps its warmth", importance="okay")
        editor.do("reword", editor.nuggets[0]["uid"], text="On the coldest days another source helps")
        editor.do("finish")
        self.bring("runs", self.late)
        self.olga.submit(
            ADDRESSES["runs of the plan"],
            condition=Choice("Manual/Manual"),
            run=Choice("harbor.lead-tiny"),
            reason="Too short to say anything",
        )
        for qid in ("demo-1", "demo-2"):
            screen = Assignment(self.anna, self.work("Manual/Manual", "anna", qid))
            screen.label_all("anna, again")
            screen.sign_off()
        again = "repeat"
        self.make(again, "Manual/Manual, repeated", of=Choice("Manual/Manual"), share="50")
        [address] = self.give("Manual/Manual, repeated", "anna", "demo-1")
        screen = Assignment(self.anna, address)
        screen.label_all("anna, repeating")
        screen.sign_off()
        assert work == self.work("Manual/Manual", "anna", "demo-1")

    def study_differences(self) -> None:
        """A third person decides where two differ; a comparison of people and the model."""
        self.olga.submit(
            ADDRESSES["adjudication"],
            name="Who is right",
            first=Choice("Manual/Manual"),
            second=Choice("Manual/Manual, second annotation"),
            seed="7",
        )
        [study] = re.findall(r'href="([^"]*/studies/\d+/)"', self.olga.page(ADDRESSES["adjudication"]))
        self.olga.submit(study, among="give/", person=Choice("ben"))
        [address] = re.findall(r'<a href="(/assign/\d+/)"', self.ben.page("/"))[-1:]
        self.read_guidelines(self.ben, address)
        screen = Assignment(self.ben, address)
        screen.label_all("ben")
        screen.sign_off()
        self.olga.submit(
            ADDRESSES["comparisons"],
            among="comparisons/",
            first=Choice("Manual/Manual (assignment)"),
            second=Choice("Manual/Auto by rehearsal (assignment)"),
            seed="5",
            draws="200",
        )

    def write_nuggets(self) -> None:
        """Anna writes two banks, with all that an editor can do."""
        for number, address in enumerate(self.give("ManualNuggets", "anna", "demo-1", "demo-2")):
            self.read_guidelines(self.anna, address)
            editor = Editor(self.anna, address)
            for place, (text, importance) in enumerate(NUGGETS):
                docid = re.findall(r'<article class="passage"[^>]*data-docid="([^"]*)"', editor.page)[place + number]
                span = {"docid": docid, "start": 0, "end": 20 + place}
                editor.do("add", uid=uuid4(), text=f"{text} ({number})", importance=importance, **span)
            uids = [one["uid"] for one in editor.nuggets]
            editor.do(
                "merge", uid=uuid4(), uids=f"{uids[0]} {uids[1]}", text="Heat is moved, not made, less so in the cold"
            )
            editor.do("undo")
            editor.do("redo")
            editor.do("split", uids[2], uid1=uuid4(), text1="Frost is melted", uid2=uuid4(), text2="in reverse")
            editor.do("undo")
            editor.do("note", uids[3], text="Not sure of this one")
            editor.do("reading", text="Of houses, not of cars")
            editor.do("reword", uids[3], text="The coldest days need another source")
            editor.do("move", uids[3], to=0)
            for one in editor.nuggets:
                editor.do("importance", one["uid"], importance=pick(("vital", "okay"), "worth", one["text"]))
            editor.do("finish")

    def read_guidelines(self, player: Player, address: str) -> None:
        """Open the guidelines that stand before the first work of a kind."""
        response = player.client.get(address)
        if response.status_code == 302:
            player.submit(response["Location"], among="Go on to the work")
