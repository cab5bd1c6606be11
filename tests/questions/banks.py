"""Banks of questions as files have them: of every form, by hand and at random."""

from typing import Any

from hypothesis import strategies as st

from nuggets.questions.formats import question_id

Json = dict[str, Any]


def answer(text: str, *docids: str, **more: Any) -> Json:
    return {"answer": text, "references": [{"doc_id": docid} for docid in docids], **more}


def question(text: str, *answers: Json, **more: Any) -> Json:
    """Return a question of NuggetBank v3."""
    return {
        "question": text,
        "question_id": question_id(text),
        "answers": {one["answer"]: one for one in answers},
        **({"aggregator_type": "OR"} if answers else {}),
        **more,
    }


def bank(*questions: Json, qid: str = "t1", **more: Any) -> Json:
    """Return a bank of NuggetBank v3."""
    return {
        "query_id": qid,
        "title_query": qid,
        "format_version": "v3",
        "nugget_bank": {one["question"]: one for one in questions},
        **more,
    }


def submission(*questions: Json, qid: str = "t1", run_id: str = "team.one", **more: Any) -> Json:
    """Return a bank as participants of RAGTIME 2026 hand it in; gold answers are in lists."""
    listed = [one | {"answers": list(one["answers"].values())} for one in questions]
    metadata = {"team_id": "team", "topic_id": qid, "run_id": run_id, "run_desc": "a run"}
    return {"metadata": metadata, "nugget_bank": listed, **more}


def argue(*items: Json, qid: str = "t1") -> Json:
    return {"query_id": qid, "test_collection": "c", "query_text": "why", "hash": "h", "items": list(items)}


def item(text: str, *answers: str, **info: Any) -> Json:
    found = {"query_id": "t1", "question_id": "q1", "question_text": text, "gold_answers": list(answers)}
    return found | ({"info": info} if info else {})


# At random

_words = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=8)
_texts = st.lists(_words, min_size=1, max_size=4).map(" ".join)
_docids = st.from_regex(r"[a-z0-9:#_-]{1,12}", fullmatch=True)
_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | _texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_words, inner, max_size=2),
    max_leaves=4,
)
_importance = st.sampled_from([{}, {"importance": "vital"}, {"importance": "okay"}, {"importance": None}])


def _with(more: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[Json]:
    """Return some of these keys, or none."""
    return st.fixed_dictionaries({}, optional=more)


_further = _with({"metadata": _json, "creator": _json, "quality": _json, "collection": _json})
_reference_objects = st.builds(lambda docid, more: {"doc_id": docid} | more, _docids, _further)
_references = st.lists(_reference_objects | _docids, max_size=3)
_answers = st.builds(
    lambda text, references, more: {"answer": text} | references | more,
    _texts,
    st.one_of(_references, st.none()).map(lambda found: {"references": found}) | st.just({}),
    _further,
)
_several_answers = st.lists(_answers, max_size=3, unique_by=lambda one: one["answer"])


@st.composite
def _questions(draw: st.DrawFn, *, by_text: bool, levels: int) -> Json:
    answers = draw(_several_answers)
    of_form: Any = {one["answer"]: one for one in answers} if by_text else answers
    aggregators = ["OR", "AND"] if len(answers) > 1 else ["OR"]
    found = {"question": draw(_texts)} | draw(_importance) | draw(_further)
    found |= draw(st.sampled_from([{"answers": of_form}] if answers else [{}, {"answers": None}, {"answers": of_form}]))
    found |= draw(st.sampled_from([{}, *({"aggregator_type": one} for one in aggregators)]))
    found |= draw(_with({"question_id": _words, "query_id": _words}))
    if by_text:
        parts = st.lists(_questions(by_text=by_text, levels=levels - 1), max_size=2) if levels > 1 else st.just([])
        found |= draw(_with({"sub_nuggets": st.none() | parts}))
    return found


def _texts_of(found: Json) -> list[str]:
    return [found["question"], *(text for part in found.get("sub_nuggets") or () for text in _texts_of(part))]


def _is_distinct(questions: list[Json]) -> bool:
    texts = [text for one in questions for text in _texts_of(one)]
    return len({" ".join(text.split()) for text in texts}) == len(texts)


def _listed(*, by_text: bool) -> st.SearchStrategy[list[Json]]:
    return st.lists(_questions(by_text=by_text, levels=3), max_size=3).filter(_is_distinct)


_v3 = st.builds(
    lambda listed, more: {"query_id": "t1", "nugget_bank": {one["question"]: one for one in listed}} | more,
    _listed(by_text=True),
    _with({"title_query": _texts, "full_query": _json, "format_version": st.just("v3"), "claim_bank": st.none()}),
)
_ragtime26 = st.builds(
    lambda listed, metadata, more: {"nugget_bank": listed, "metadata": {"topic_id": "t1"} | metadata} | more,
    _listed(by_text=False),
    _with({"run_id": st.from_regex(r"[a-z.]{1,25}", fullmatch=True), "team_id": _texts, "note": _json}),
    _with({"format_version": st.just("RAGTIME26"), "more": _json}),
)
_ragtime = st.dictionaries(
    _texts,
    st.dictionaries(_texts | st.just("OPEN_ENDED_ANSWER"), st.lists(_docids, max_size=3), max_size=3).flatmap(
        lambda found: st.tuples(
            st.sampled_from(["OR", "AND"] if len(found.keys() - {"OPEN_ENDED_ANSWER"}) > 1 else ["OR"]), st.just(found)
        ).map(list)
    ),
    min_size=1,
    max_size=3,
).filter(lambda found: len({" ".join(text.split()) for text in found}) == len(found))
_items = st.builds(
    lambda text, answers, more, info: {"question_text": text} | answers | more | info,
    _texts,
    st.lists(_texts, max_size=3, unique=True).map(lambda found: {"gold_answers": found}) | st.just({}),
    _with({"question_id": _words, "query_id": _words, "note": _json}),
    _with({"info": st.builds(lambda importance, used: importance | used, _importance, _with({"used": _json}))}),
)
_argue = st.builds(
    lambda items, more: {"query_id": "t1", "items": items} | more,
    st.lists(_items, max_size=3, unique_by=lambda one: " ".join(one["question_text"].split())),
    _with({"test_collection": _texts, "query_text": _texts, "hash": _words}),
)
# Each with the form that it is of.
BANKS: st.SearchStrategy[tuple[str, Json]] = st.one_of(
    *(
        banks.map(lambda found, form=form: (form, found))
        for form, banks in {"v3": _v3, "ragtime26": _ragtime26, "ragtime": _ragtime, "argue": _argue}.items()
    )
)
