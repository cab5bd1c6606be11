"""Banks of questions, one JSON object a topic, in the four forms of the field.

v3: NuggetBank v3. {"query_id", "nugget_bank": {QUESTION: {"question", "answers": {ANSWER: {"answer", "references"}},
"aggregator_type", "importance", "sub_nuggets"}}}, where a reference is {"doc_id"}.
ragtime26: submissions to RAGTIME 2026. {"metadata": {"topic_id", "run_id"}, "nugget_bank": [QUESTION]}, where questions
and answers are as in v3, in lists, and a reference may be a docid alone.
ragtime: RAGTIME's collaborators. {QUESTION: [AGGREGATOR, {ANSWER: [DOCID]}]}; the file's name has the topic.
argue: ARGUE v1. {"query_id", "items": [{"question_text", "gold_answers": [TEXT], "info": {"importance"}}]}.

What is read goes out equal as JSON: all further keys are kept at their level, and what is lacking there stays lacking.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from assessor.formats import values
from assessor.formats.beginning import Beginning
from assessor.formats.lines import Line
from assessor.formats.report import Report
from nuggets.editing import MAX_LEVELS, united
from nuggets.formats import BankRecord, NuggetRecord, Question, is_question, read_importance

V3, RAGTIME26, RAGTIME, ARGUE = "v3", "ragtime26", "ragtime", "argue"
# Where each has the topic.
TOPIC_OF = {V3: "query_id", RAGTIME26: "metadata.topic_id", RAGTIME: "file name", ARGUE: "query_id"}
AGGREGATORS = ("OR", "AND")
MAX_RUN_ID = 25  # characters, of a submission to RAGTIME 2026
# What RAGTIME's collaborators write in the place of an answer where every good one will do.
OPEN_ENDED = "OPEN_ENDED_ANSWER"
_FILE_OF_TOPIC = re.compile(r"nuggets_(?P<topic>[^/]+?)\.jsonl?(\.gz)?")
_TWO_FORMS = "questions alone; a bank of facts, or claims, is a file of its own"


def begins_questions(beginning: Beginning) -> bool:
    """Say whether a file begins with questions, in any of the forms."""
    return any(form_of(record) for record in beginning.records[:1])


def form_of(record: Mapping[str, Any]) -> str:
    """Return the form of a line, "" where it has none."""
    if "nugget_bank" in record:
        return RAGTIME26 if isinstance(record["nugget_bank"], list) else V3
    if isinstance(record.get("items"), list) and "query_id" in record:
        return ARGUE
    pairs = [isinstance(value, list) and len(value) == 2 and isinstance(value[1], dict) for value in record.values()]
    return RAGTIME if pairs and all(pairs) else ""


def question_id(text: str) -> str:
    """Return the id that a question has in files unless they say otherwise."""
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


class QuestionBank(NamedTuple):
    """A topic's questions, and the run that a participant submitted them as, or ""."""

    bank: BankRecord
    run_id: str


def read_question_banks(
    lines: Iterable[Line], report: Report, *, invalid_labels_missing: bool
) -> Iterator[QuestionBank]:
    """Yield banks. An importance that is none is an error, or becomes absent and is counted by what was found."""
    for line in lines:
        record = values.json_object(line, report)
        if record is not None:
            bank = _Reader(line, report, invalid_labels_missing).read(record)
            if bank:
                yield bank


class _Reader:
    """Reads one line."""

    def __init__(self, line: Line, report: Report, invalid_labels_missing: bool) -> None:
        self._line = line
        self._report = report
        self._invalid_labels_missing = invalid_labels_missing
        self._by_text = False  # whether gold answers stand by their texts, as in v3, or in a list
        self._questions: list[NuggetRecord] = []
        self._places: dict[str, int] = {}  # of questions, by their texts without further blanks

    def read(self, record: dict[str, Any]) -> QuestionBank | None:
        errors_before = self._report.error_count
        form = form_of(record)
        readers: dict[str, Callable[[dict[str, Any]], tuple[Any, str]]] = {
            V3: self._v3,
            RAGTIME26: self._ragtime26,
            RAGTIME: self._ragtime,
            ARGUE: self._argue,
        }
        if not form:
            self._error("", "keys " + ", ".join(record), "a bank of questions: NuggetBank v3, RAGTIME's or ARGUE's")
            return None
        self._by_text = form == V3
        topic, run_id = readers[form](record)
        qid = None if topic is None else values.topic_id(topic, TOPIC_OF[form], self._line, self._report)
        if self._report.error_count > errors_before or qid is None:
            return None
        self._warn_of_odd_questions()
        return QuestionBank(BankRecord(self._line, qid, None, self._questions, [], record, file_form=form), run_id)

    # Forms: each takes out of the record what is kept elsewhere, and returns the topic's id and the run's

    def _v3(self, record: dict[str, Any]) -> tuple[Any, str]:
        found = record.pop("nugget_bank")
        if claims := record.get("claim_bank"):
            self._error("claim_bank", claims, _TWO_FORMS)
        if found is None:
            record["nugget_bank"] = found
        elif isinstance(found, dict):
            for key, question in found.items():
                self._keyed_question(key, question, f"nugget_bank.{key}")
        else:
            self._error("nugget_bank", found, "an object of questions, or a list as in RAGTIME 2026")
        return self._topic(record, "query_id"), ""

    def _ragtime26(self, record: dict[str, Any]) -> tuple[Any, str]:
        for at, question in enumerate(record.pop("nugget_bank")):
            self._question(question, f"nugget_bank[{at}]", 1, None)
        metadata = record.get("metadata")
        if not isinstance(metadata, dict):
            self._error("metadata", metadata, "an object with topic_id and run_id")
            return None, ""
        run_id = metadata.get("run_id", "")
        if not isinstance(run_id, str) or len(run_id) > MAX_RUN_ID:
            self._error("metadata.run_id", run_id, f"a run's tag of at most {MAX_RUN_ID} characters")
        record["metadata"] = kept = dict(metadata)
        return self._topic(kept, "topic_id", "metadata.topic_id"), run_id

    def _ragtime(self, record: dict[str, Any]) -> tuple[Any, str]:
        for text, (aggregator, answers) in list(record.items()):
            where = text
            extras: dict[str, Any] = {}
            gold = []
            for answer, docids in answers.items():
                references = self._references(docids, f"{where}.{answer}")
                if answer == OPEN_ENDED:
                    extras["references"] = docids
                elif references is not None:
                    gold.append({"text": answer, "references": references, "extras": {}})
            self._add(text, where, self._aggregator(aggregator, where), "", gold, extras, None)
        record.clear()
        named = _FILE_OF_TOPIC.fullmatch(self._report.file_name)
        if named is None:
            self._error("", f"the file name {self._report.file_name}", "nuggets_TOPIC.json: this form names no topic")
        return named and named["topic"], ""

    def _argue(self, record: dict[str, Any]) -> tuple[Any, str]:
        for at, item in enumerate(record.pop("items")):
            where = f"items[{at}]"
            if not isinstance(item, dict) or "question_text" not in item:
                self._error(where, item, "an object with question_text")
                continue
            extras = dict(item)
            gold = self._answers(extras, "gold_answers", where)
            importance = ""
            if isinstance(extras.get("info"), dict) and "importance" in extras["info"]:
                extras["info"] = info = dict(extras["info"])
                importance = self._importance(info, f"{where}.info")
            self._add(extras.pop("question_text"), where, "", importance, gold, extras, None)
        return self._topic(record, "query_id"), ""

    def _topic(self, record: dict[str, Any], key: str, where: str = "") -> Any:
        """Return a topic's id, and take it out of the record where it is text."""
        if not values.required(record, key, self._line, self._report):
            return None
        return record.pop(key) if isinstance(record[key], str) else record[key]

    # Questions

    def _keyed_question(self, key: str, found: object, where: str) -> None:
        if isinstance(found, dict) and found.get("question", key) != key:
            self._error(f"{where}.question", found["question"], f"{key}, as its key says")
        self._question(found, where, 1, None)

    def _question(self, found: object, where: str, level: int, under: int | None) -> None:
        """Read a question, and those under it."""
        if not isinstance(found, dict) or "question" not in found:
            is_claim = isinstance(found, dict) and not found.keys().isdisjoint({"claim", "text"})
            self._error(where, found, _TWO_FORMS if is_claim else "an object with question")
            return
        if level > MAX_LEVELS:
            self._error(where, f"level {level}", f"questions under others down to level {MAX_LEVELS}")
            return
        extras = dict(found)
        text = extras.pop("question")
        gold = self._answers(extras, "answers", where)
        aggregator = ""
        if "aggregator_type" in extras:
            aggregator = self._aggregator(extras.pop("aggregator_type"), where)
        importance = self._importance(extras, where)
        parts = extras.pop("sub_nuggets") if extras.get("sub_nuggets") else []
        place = self._add(text, where, aggregator, importance, gold, extras, under)
        if not isinstance(parts, list):
            self._error(f"{where}.sub_nuggets", parts, "a list of questions")
            return
        for at, part in enumerate(parts):
            if place is not None:
                self._question(part, f"{where}.sub_nuggets[{at}]", level + 1, place)

    def _add(
        self,
        found: object,
        where: str,
        aggregator: str,
        importance: str,
        gold: list[dict[str, Any]],
        extras: dict[str, Any],
        under: int | None,
    ) -> int | None:
        """Add a question to the bank; return its place there, or None where it can't be in it."""
        text = values.text(found, f"{where}.question", self._line, self._report)
        if text is None:
            return None
        if aggregator == "AND" and len(gold) < 2:
            answers = f"AND with {len(gold) or 'no'} answer{'' if len(gold) == 1 else 's'}"
            self._error(f"{where}.aggregator_type", answers, "OR, or two answers at least")
        key = " ".join(text.split())
        if key in self._places:
            is_circle = self._places[key] in self._above(under)
            expected = "no question under itself" if is_circle else "each question once in a bank"
            self._error(f"{where}.question", text, expected)
            return None
        self._places[key] = place = len(self._questions)
        named = [{"id": f"g{number}", **answer} for number, answer in enumerate(gold, 1)]
        self._questions.append(NuggetRecord(text, importance, extras, None, Question(named, aggregator, under)))
        return place

    def _above(self, place: int | None) -> Iterator[int]:
        """Yield the places of a question and of those that it is under."""
        while place is not None:
            yield place
            question = self._questions[place].question
            place = question.under if question else None

    def _aggregator(self, found: object, where: str) -> str:
        if isinstance(found, str) and found in AGGREGATORS:
            return found
        remedy = (
            "NOT, SUM and Default have no meaning that scores could follow: choose OR or AND, or leave the key out."
        )
        self._report.error(self._line.number, f"{where}.aggregator_type", found, "OR or AND", remedy=remedy)
        return ""

    def _importance(self, extras: dict[str, Any], where: str) -> str:
        """Take a question's importance out of its keys; what is none stays among them."""
        found = extras.get("importance")
        if found is None:
            return ""
        importance = read_importance(found, where, self._line, self._report, self._invalid_labels_missing)
        if importance:
            del extras["importance"]
        return importance or ""

    # Gold answers

    def _answers(self, extras: dict[str, Any], key: str, where: str) -> list[dict[str, Any]]:
        """Take the gold answers out of a question's keys; where there are none, what says so stays."""
        found = extras.get(key)
        if found is None or found in ([], {}):
            return []
        del extras[key]
        listed: list[tuple[str, object, str | None]] = []
        if self._by_text and isinstance(found, dict):
            listed = [(f"{where}.{key}.{text}", answer, text) for text, answer in found.items()]
        elif not self._by_text and isinstance(found, list):
            listed = [(f"{where}.{key}[{at}]", answer, None) for at, answer in enumerate(found)]
        else:
            self._error(
                f"{where}.{key}", found, f"{'an object' if self._by_text else 'a list'} of gold answers, or null"
            )
        gold = [answer for place, one, text in listed if (answer := self._answer(one, place, text))]
        texts = [answer["text"] for answer in gold]
        for text in sorted({text for text in texts if texts.count(text) > 1}):
            self._report.warn("gold answer twice", self._line.number, f"{where}.{key}", text, "each gold answer once")
        return gold

    def _answer(self, found: object, where: str, text: str | None) -> dict[str, Any] | None:
        if isinstance(found, str) and text is None:
            checked = values.text(found, where, self._line, self._report)
            return None if checked is None else {"text": checked, "references": None, "extras": None}
        if not isinstance(found, dict) or "answer" not in found:
            self._error(where, found, "an object with answer")
            return None
        extras = dict(found)
        answer = values.text(extras.pop("answer"), f"{where}.answer", self._line, self._report)
        if text is not None and answer not in (None, text):
            self._error(f"{where}.answer", answer, f"{text}, as its key says")
        references = None
        if extras.get("references") is not None:
            references = self._references(extras.pop("references"), f"{where}.references")
        return None if answer is None else {"text": answer, "references": references, "extras": extras}

    def _references(self, found: object, where: str) -> list[dict[str, Any]] | None:
        """Return references, each with its docid; where it is an object, with its further keys."""
        if not isinstance(found, list):
            self._error(where, found, "a list of references")
            return None
        references = []
        for at, one in enumerate(found):
            extras = dict(one) if isinstance(one, dict) else None
            docid = one if extras is None else extras.pop("doc_id", None)
            checked = values.identifier(docid, f"{where}[{at}]", self._line, self._report)
            if checked is not None:
                references.append({"docid": checked} | ({} if extras is None else {"extras": extras}))
        return references

    def _warn_of_odd_questions(self) -> None:
        for question in self._questions:
            own = question.extras.get("question_id")
            if own is not None and own != question_id(question.text):
                expected = f"{question_id(question.text)}, the md5 of the question; it is kept"
                self._report.warn("question_id differs", self._line.number, "question_id", own, expected)
            if not is_question(question.text):
                found, expected = question.text, "a question mark at its end"
                self._report.warn("question without a question mark", self._line.number, "question", found, expected)

    def _error(self, field: str, found: object, expected: str) -> None:
        self._report.error(self._line.number, field, found, expected)


class WrittenBank(NamedTuple):
    """A bank as it is written. title: the topic's; nuggets: as read; file_form: of the file it came in, or ""."""

    qid: str
    title: str
    nuggets: Sequence[NuggetRecord]
    extras: Mapping[str, Any]
    file_form: str
    maker: str


def write_question_bank(bank: WrittenBank, form: str) -> str:
    """Return the line of a bank in a form; further keys that came in another one are left out."""
    return values.to_json(_WRITERS[form](_Writer(bank, form))) + "\n"


class _Writer:
    """Writes one bank in one form."""

    def __init__(self, bank: WrittenBank, form: str) -> None:
        self._bank = bank
        self._form = form
        self._came_so = bank.file_form == form

    def v3(self) -> dict[str, Any]:
        keys = {"query_id": self._bank.qid}
        if not self._came_so:
            keys |= {"title_query": self._bank.title, "format_version": "v3"}
        nuggets = self._bank.nuggets
        top = {one.text: self._v3_question(place) for place, one in enumerate(nuggets) if _of(one).under is None}
        return keys | {"nugget_bank": top} | self._extras

    def ragtime26(self) -> dict[str, Any]:
        listed = [self._ragtime26_question(one) for one in self._bank.nuggets]
        metadata = {"topic_id": self._bank.qid}
        if self._came_so:
            return self._extras | {"metadata": metadata | self._extras["metadata"], "nugget_bank": listed}
        metadata |= {"run_id": self._bank.maker[:MAX_RUN_ID]}
        return {"metadata": metadata, "nugget_bank": listed, "format_version": "RAGTIME26"}

    def ragtime(self) -> dict[str, Any]:
        return {one.text: [_of(one).aggregator or "OR", self._docids(one)] for one in self._bank.nuggets}

    def argue(self) -> dict[str, Any]:
        items = [self._argue_item(one) for one in self._bank.nuggets]
        return {"query_id": self._bank.qid, "items": items} | self._extras

    @property
    def _extras(self) -> dict[str, Any]:
        return dict(self._bank.extras) if self._came_so else {}

    def _own(self, nugget: NuggetRecord) -> dict[str, Any]:
        return dict(nugget.extras) if self._came_so else {}

    def _v3_question(self, place: int) -> dict[str, Any]:
        nugget = self._bank.nuggets[place]
        keys: dict[str, Any] = {"question": nugget.text}
        if not self._came_so:
            keys |= {"question_id": question_id(nugget.text), "query_id": self._bank.qid, "answers": None}
        if gold := _of(nugget).gold:
            keys["answers"] = {answer["text"]: self._answer(answer) for answer in gold}
        if parts := [at for at, one in enumerate(self._bank.nuggets) if _of(one).under == place]:
            keys["sub_nuggets"] = [self._v3_question(part) for part in parts]
        return keys | _weights(nugget) | self._own(nugget)

    def _ragtime26_question(self, nugget: NuggetRecord) -> dict[str, Any]:
        keys: dict[str, Any] = {"question": nugget.text}
        if gold := _of(nugget).gold:
            keys["answers"] = [self._answer(answer) for answer in gold]
        return keys | _weights(nugget) | self._own(nugget)

    def _argue_item(self, nugget: NuggetRecord) -> dict[str, Any]:
        own = self._own(nugget)
        keys: dict[str, Any] = {"question_text": nugget.text}
        if not self._came_so:
            keys |= {"query_id": self._bank.qid, "question_id": question_id(nugget.text)}
        if gold := _of(nugget).gold:
            keys["gold_answers"] = [self._answer(answer) if self._came_so else answer["text"] for answer in gold]
        if nugget.importance:
            own["info"] = {"importance": nugget.importance} | own.get("info", {})
        return keys | own

    def _docids(self, nugget: NuggetRecord) -> dict[str, list[str]]:
        answers = {answer["text"]: [one["docid"] for one in answer["references"] or ()] for answer in _of(nugget).gold}
        if self._came_so:
            return answers | ({OPEN_ENDED: nugget.extras["references"]} if "references" in nugget.extras else {})
        return {text: list(dict.fromkeys(docids)) for text, docids in answers.items()} or {OPEN_ENDED: []}

    def _answer(self, answer: Mapping[str, Any]) -> Any:
        """Return a gold answer as an object, or as the text alone that it came as."""
        references, extras = answer["references"], answer["extras"] if self._came_so else {}
        if extras is None:
            return answer["text"]
        keys: dict[str, Any] = {"answer": answer["text"]}
        if references is not None:
            written = [self._reference(one) for one in references]
            # Several places in a passage are one reference where a form tells the passage alone.
            keys["references"] = written if self._came_so else united([written])
        return keys | extras

    def _reference(self, reference: Mapping[str, Any]) -> Any:
        if not self._came_so:
            return {"doc_id": reference["docid"]} | (_offsets(reference) if self._form == V3 else {})
        is_plain = "extras" not in reference
        return reference["docid"] if is_plain else {"doc_id": reference["docid"]} | reference["extras"]


def _of(nugget: NuggetRecord) -> Question:
    assert nugget.question is not None, "a bank of questions has nothing else"
    return nugget.question


def _offsets(reference: Mapping[str, Any]) -> dict[str, Any]:
    """Return where in its passage a person took a reference from, unless that is the whole passage."""
    start, end = reference.get("start"), reference.get("end")
    if start is None:
        return {}
    return {"offsets": {"start_offset": start, "end_offset": end, "encoding": "unicode"}}


def _weights(nugget: NuggetRecord) -> dict[str, str]:
    aggregator = _of(nugget).aggregator
    keys = {"aggregator_type": aggregator} if aggregator else {}
    return keys | ({"importance": nugget.importance} if nugget.importance else {})


_WRITERS: Mapping[str, Callable[[_Writer], dict[str, Any]]] = {
    V3: _Writer.v3,
    RAGTIME26: _Writer.ragtime26,
    RAGTIME: _Writer.ragtime,
    ARGUE: _Writer.argue,
}
