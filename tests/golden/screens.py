"""Assessors at their screens: what they say of an item depends on its words alone, whatever order it comes in."""

import json
import re
from collections.abc import Sequence
from hashlib import sha256
from html import unescape
from typing import Any

from tests.golden.player import Player, text_of

ASSIGNMENT = ("support", "partial_support", "not_support")
SUPPORT = ("full", "partial", "none")


def pick(choices: Sequence[Any], *words: object) -> Any:
    """Return one of the choices, the same for the same words."""
    return choices[int(sha256("|".join(map(str, words)).encode()).hexdigest(), 16) % len(choices)]


def attribute(page: str, name: str) -> Any:
    """Return what the first element that has it says in a data attribute, as JSON."""
    found = re.search(rf' data-{name}="([^"]*)"', page)
    if found is None:
        raise AssertionError(f"no data-{name} in {page[:3000]}")
    return json.loads(unescape(found[1]))


def words(html: str) -> str:
    return " ".join(unescape(re.sub("<[^>]+>", " ", html)).split())


class Editor:
    """The nugget editor."""

    def __init__(self, player: Player, address: str) -> None:
        self.player, self.address = player, address
        self.page = player.page(address)
        self.version = re.findall(r'id="nugget-list"[^>]* data-version="(\d+)"', self.page)[0]
        [known] = re.findall(r'<div id="known" data-list="([^"]*)"', self.page)
        self.nuggets = json.loads(unescape(known))["nuggets"]

    def text(self, uid: str) -> str:
        [text] = [one["text"] for one in self.nuggets if one["uid"] == uid]
        return str(text)

    def do(self, action: str, on: str = "", **fields: object) -> None:
        told = self.player.write(f"{self.address}{f'{on}/' if on else ''}{action}/", self.version, **fields)
        if isinstance(told, dict):
            self.version, self.nuggets = told["about"]["version"], told["nuggets"]


class Sheets:
    """A screen of answers."""

    def __init__(self, player: Player, address: str) -> None:
        self.player, self.address = player, address
        self.page = player.page(address)
        # By the answer's words: queues are shuffled.
        self.answers = sorted(
            (self.answer(row[0]) for row in attribute(self.page, "queue")), key=lambda one: one["words"]
        )

    def answer(self, key: int) -> dict[str, Any]:
        page = text_of(self.player.get(f"{self.address}answers/{key}/"))
        text = " ".join(
            words(one)
            for one in re.findall(r'<p class="reading"[^>]*>(.*?)</p>', page.split('<div class="cited">')[0], re.DOTALL)
        )
        return {"key": key, "page": page, "words": text, "version": attribute(page, "version")}

    def do(self, answer: dict[str, Any], action: str, **fields: object) -> Any:
        told = self.player.write(f"{self.address}answers/{answer['key']}/{action}/", answer["version"], **fields)
        answer["version"] = told["version"]
        return told

    def sign_off(self) -> None:
        version = sum(answer["version"] for answer in self.answers)
        self.player.write(f"{self.address}sign-off/", version)


class Assignment(Sheets):
    """Nuggets beside one answer after another."""

    @property
    def nuggets(self) -> dict[str, str]:
        """The texts of the nuggets, by their keys."""
        rows = re.findall(
            r'<li class="fact"[^>]*data-nugget="([^"]*)".*?<(\w+) class="text"[^>]*>(.*?)</\2>', self.page, re.DOTALL
        )
        return {key: words(text) for key, _, text in rows}

    def label_all(self, name: str) -> None:
        """Say something of every nugget that is asked and of which nothing is said."""
        for answer in self.answers:
            said = attribute(answer["page"], "said")
            asked = {str(one) for one in said["asked"]} if said["asked"] else {*self.nuggets}
            done = said["labels"] | said["cannot"]
            for key, text in sorted(self.nuggets.items(), key=lambda pair: pair[1]):
                if key not in asked or key in done:
                    continue
                if pick(range(23), name, text, answer["words"]) == 0:
                    self.do(answer, "cannot", nugget=key, reason="The answer breaks off.", seconds=5)
                    continue
                label = pick(ASSIGNMENT, name, text, answer["words"])
                self.do(answer, "label", nugget=key, label=label, seconds=3)


class Support(Sheets):
    """One cited passage after another beside the sentence."""

    def label_all(self, name: str, *, is_shown: bool = False) -> None:
        for answer in self.answers:
            page = answer["page"]
            docids = {
                key: unescape(docid)
                for keys, docid in re.findall(
                    r'<article class="passage" data-citations="([^"]*)" data-docid="([^"]*)"', page
                )
                for key in keys.split()
            }
            said = attribute(page, "said")
            for key, docid in docids.items():
                if key in said["labels"] or key in said["cannot"]:
                    continue
                if is_shown:
                    self.do(answer, "show", citation=key, docid=docid)
                label = pick(SUPPORT, name, key, docid, answer["words"])
                self.do(answer, "label", citation=key, docid=docid, label=label, seconds=4)


class Grading:
    """The 0-3 screen."""

    def __init__(self, player: Player, address: str) -> None:
        self.player, self.address = player, address

    def grade(self, name: str, *, most: int = 1000, is_shown: bool = False) -> None:
        page = self.player.page(self.address)
        while most and (articles := re.findall(r'<article class="passage answer".*?</article>', page, re.DOTALL)):
            for article in articles[:most]:
                item, version = (attribute(article, name) for name in ("sheet", "version"))
                if is_shown:
                    self.player.write(f"{self.address}show/", version, item=item)
                grade = pick("0123", name, words(article))
                self.player.write(f"{self.address}judge/", version, item=item, grade=grade, seconds=6)
                most -= 1
            page = self.player.page(self.address)
