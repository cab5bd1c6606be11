"""Make up a campaign of a track's size, in the field's file formats: the same bytes every time.

    python -m bench.track FOLDER [--scale 0.01]

The whole size is that of a large track: 301 topics, 146 runs, 44,000 answers, 450,000 sentences, 1,000,000
citations, 120,000 segments. `--scale` shrinks all of it in proportion: topics and runs by the square root, so that
the number of answers follows the scale. Texts are made of a seeded vocabulary; every number below is a count or a
length, nothing is timed.
"""

import argparse
import json
import random
from collections.abc import Callable, Iterator
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

TOPICS, RUNS, SEGMENTS = 301, 146, 120_000
PEOPLES_GRADES, MODELS_GRADES = 20_000, 108_000
RICH_TOPICS = 8  # of which people found 100 to 200 passages relevant: one of them exactly RELEVANT
RELEVANT = 200
PEOPLE, MODEL = "NIST", "UMBRELA"

_ONSETS = ["b", "br", "c", "ch", "d", "dr", "f", "g", "gr", "h", "l", "m", "n", "p", "pr", "qu", "r", "s", "st", "t"]
_VOWELS = ["a", "e", "i", "o", "u", "ai", "ea", "ou", "é"]
_CODAS = ["", "", "l", "m", "n", "nd", "r", "rt", "s", "st", "t"]
_ENDINGS = ["", "", "", "s", "ed", "ing", "tion", "ly", "al", "er"]
_SENTENCES = 20_000  # different ones
_LENGTHS = (7, 8, 9, 10, 10, 11, 12, 13, 14)  # sentences of an answer
_CITATIONS = ((0, 1, 2, 3, 4, 6), (8, 24, 30, 23, 11, 4))  # of a sentence, and out of 100: 2.2 on average


class Part(NamedTuple):
    """A file of the campaign, as its import takes it."""

    kind: str
    path: Path
    options: dict[str, str]
    records: int


class Sizes(NamedTuple):
    """How many there are of each."""

    topics: int
    runs: int
    segments: int
    peoples_grades: int
    models_grades: int


def sizes(scale: float) -> Sizes:
    """Return the numbers of a campaign whose answers, segments and grades are `scale` of the whole size."""
    side = scale**0.5
    return Sizes(
        topics=max(2 * RICH_TOPICS, round(TOPICS * side)),
        runs=max(4, round(RUNS * side)),
        segments=max(2 * RELEVANT, round(SEGMENTS * scale)),
        peoples_grades=round(PEOPLES_GRADES * scale),
        models_grades=round(MODELS_GRADES * scale),
    )


class Language:
    """Sentences of made-up words, frequent ones more often, about 20 words long."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        words = sorted({self._word() for _ in range(9_000)})
        chance.shuffle(words)
        weights = list(accumulate(1 / (rank + 3) for rank in range(len(words))))
        pick = partial(chance.choices, words, cum_weights=weights)
        self.sentences = [self._sentence(pick) for _ in range(_SENTENCES)]

    def _word(self) -> str:
        choice = self._chance.choice
        syllables = self._chance.choices((1, 2, 3), (5, 4, 2))[0]
        return "".join(choice(_ONSETS) + choice(_VOWELS) + choice(_CODAS) for _ in range(syllables)) + choice(_ENDINGS)

    def _sentence(self, pick: Callable[..., list[str]]) -> str:
        text = " ".join(pick(k=min(45, max(5, round(self._chance.gauss(20, 6))))))
        return text[0].upper() + text[1:] + "."

    def sentence(self) -> str:
        return self._chance.choice(self.sentences)

    def phrase(self, words: int) -> str:
        """Return the first words of a sentence: a query, a title, a nugget."""
        return " ".join(self.sentence().removesuffix(".").lower().split()[:words])


def qid(number: int) -> str:
    return f"2024-{100_000 + 37 * number}"


def docid(number: int) -> str:
    document, part = divmod(number, 8)
    return f"corpus_v2_doc_{document % 60:02d}_{1_000_003 * document % 10**9}#{part}_{7_919 * number}"


def write(folder: Path, scale: float = 1.0) -> list[Part]:
    """Write the campaign's files into a folder; return them in an order in which they can be imported."""
    folder.mkdir(parents=True, exist_ok=True)
    number = sizes(scale)
    chance = random.Random(301)
    language = Language(chance)
    return [
        _part("topics", folder / "topics.tsv", _topics(number, language)),
        _part("segments", folder / "segments.jsonl", _segments(number, language, chance)),
        _part("qrels", folder / "qrels.people.txt", _peoples_grades(number, chance), source=PEOPLE, by="people"),
        _part("qrels", folder / "qrels.model.txt", _models_grades(number, chance), source=MODEL, by="model"),
        *(
            _part("runs", folder / f"{_tag(run)}.jsonl", _run(run, number, language, chance))
            for run in range(number.runs)
        ),
        _part("run_list", folder / "runs.csv", _run_list(number)),
    ]


def _part(kind: str, path: Path, lines: Iterator[str], **options: str) -> Part:
    records = 0
    with path.open("w", encoding="utf-8") as out:
        for line in lines:
            out.write(line + "\n")
            records += 1
    return Part(kind, path, options, records)


def _topics(number: Sizes, language: Language) -> Iterator[str]:
    for topic in range(number.topics):
        yield f"{qid(topic)}\thow does {language.phrase(9)}?"


def _segments(number: Sizes, language: Language, chance: random.Random) -> Iterator[str]:
    for segment in range(number.segments):
        text = " ".join(language.sentence() for _ in range(chance.randint(7, 10)))
        start = segment % 8 * 600
        yield json.dumps(
            {
                "docid": docid(segment),
                "url": f"https://example.org/{segment // 8}",
                "title": language.phrase(6),
                "headings": f"{language.phrase(3)}\n{language.phrase(5)}",
                "segment": text,
                "start_char": start,
                "end_char": start + len(text),
            }
        )


def relevant_passages(topic: int) -> int:
    """Return how many passages people found relevant to one of the rich topics."""
    return RELEVANT - 100 * topic // RICH_TOPICS


def _peoples_grades(number: Sizes, chance: random.Random) -> Iterator[str]:
    left = number.peoples_grades
    for topic in range(RICH_TOPICS):
        relevant = relevant_passages(topic)
        for place, segment in enumerate(chance.sample(range(number.segments), 2 * relevant)):
            grade = chance.randint(1, 3) if place < relevant else 0
            yield f"{qid(topic)} {1 + topic % 5} {docid(segment)} {grade}"
        left -= 2 * relevant
    each = max(10, left // (number.topics - RICH_TOPICS))
    for topic in range(RICH_TOPICS, number.topics):
        yield from _grades(topic, each, number, chance)


def _models_grades(number: Sizes, chance: random.Random) -> Iterator[str]:
    for topic in range(number.topics):
        yield from _grades(topic, max(10, number.models_grades // number.topics), number, chance)


def _grades(topic: int, count: int, number: Sizes, chance: random.Random) -> Iterator[str]:
    for segment in sorted(chance.sample(range(number.segments), min(count, number.segments))):
        yield f"{qid(topic)} 0 {docid(segment)} {chance.choices((0, 1, 2, 3), (40, 30, 20, 10))[0]}"


def _tag(run: int) -> str:
    return f"{'abcdefghijklmnopqrstuvwxyz'[run % 26]}team{run // 4}.run-{run:03d}"


def _run(run: int, number: Sizes, language: Language, chance: random.Random) -> Iterator[str]:
    for topic in range(number.topics):
        if run % 40 == 39 and topic % 3 == 2:
            continue  # a few runs lack topics
        references = [docid(segment) for segment in chance.sample(range(number.segments), 20)]
        answer = [
            {
                "text": language.sentence(),
                "citations": chance.sample(range(20), chance.choices(*_CITATIONS)[0]),
            }
            for _ in range(chance.choice(_LENGTHS))
        ]
        yield json.dumps(
            {
                "run_id": _tag(run),
                "topic_id": qid(topic),
                "topic": language.phrase(9),
                "references": references,
                "response_length": sum(len(sentence["text"].split()) for sentence in answer),
                "answer": answer,
            }
        )


def _run_list(number: Sizes) -> Iterator[str]:
    yield "tag,team,task,type,priority,aliases"
    for run in range(number.runs):
        tag = _tag(run)
        yield f"{tag},{tag.split('.')[0]},{'AG' if run % 3 else 'RAG'},automatic,{1 + run % 4},{tag.split('.')[1]}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Make up a campaign of a track's size.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--scale", type=float, default=1.0)
    chosen = parser.parse_args()
    parts = write(chosen.folder, chosen.scale)
    for kind in dict.fromkeys(part.kind for part in parts):
        same = [part for part in parts if part.kind == kind]
        size = sum(part.path.stat().st_size for part in same) / 1024**2
        print(f"{kind}: {len(same)} files, {sum(part.records for part in same):,} lines, {size:,.1f} MiB")


if __name__ == "__main__":
    main()
