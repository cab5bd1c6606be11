"""Lines of support files, about the campaign that all tests share."""

import math
from typing import Any

FULL, PARTIAL, NONE, NOT_JUDGED = "2", "1", "0", "-1"
FILE = {"condition": "With the label", "by": "people"}
NAN = math.nan


def citation(reference: Any = "d1", support: Any = FULL, number: Any = 0, **more: Any) -> dict[str, Any]:
    return {"citationID": number, "reference": reference, "support": support} | more


def sentence(text: Any = "Cats purr.", *citations: Any, number: Any = 0, **more: Any) -> dict[str, Any]:
    return {"sentenceID": number, "text": text, "citations": list(citations)} | more


def cites(text: str, **labels: Any) -> dict[str, Any]:
    """Return a sentence with labels by docid."""
    cited = [citation(docid, label, at) for at, (docid, label) in enumerate(labels.items())]
    return sentence(text, *cited)


def line(qid: Any = "t1", run_id: Any = "r1", *sentences: Any, **more: Any) -> dict[str, Any]:
    """Return a line, in which the sentences are numbered."""
    numbered = [{**one, "sentenceID": at} for at, one in enumerate(sentences)]
    return {"topic_id": qid, "run_id": run_id, "sentences": numbered} | more


HEALS = ("Cats purr to heal.", "They also purr when content.")


def usual(qid: Any = "t1", run_id: Any = "r1", **more: Any) -> dict[str, Any]:
    """Return a line with two sentences, a label of each kind and a sentence that cites nothing."""
    return line(
        qid,
        run_id,
        cites(HEALS[0], d1=FULL, d2=PARTIAL),
        cites(HEALS[1], d3=NONE),
        cites("Do they?"),
        cites("Hm.", d9=NOT_JUDGED),
        **more,
    )


def spelt_otherwise(record: dict[str, Any]) -> dict[str, Any]:
    """Return a line as the second form spells it."""
    sentences = [
        {
            "sentenceId": one["sentenceID"],
            "text": one["text"],
            "verification_worthy": True,
            "citations": [
                {"citationId": cited["citationID"], **{k: v for k, v in cited.items() if k != "citationID"}}
                for cited in one["citations"]
            ],
            "citationsCombibed": None,
        }
        for one in record["sentences"]
    ]
    return record | {"sentences": sentences}


def without(record: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name != key}
