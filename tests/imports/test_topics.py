"""Topics: TSV, JSONL with id, JSONL with request_id."""

import json

import pytest

from assessor.campaigns.exports import topics_lines
from assessor.campaigns.models import Import
from tests.imports.conftest import told, warned

TSV = ["2024-145979\twhat is vicarious trauma and how can it be coped with?", "t2\thow is glass recycled"]
TITLE = ['{"id": "464", "title": "I want a thorough understanding of glass."}', '{"id": "465", "title": "Cats"}']
REQUEST = [
    '{"request_id": "leaf", "title": "Leaves", "problem_statement": "Why?", "background": "A gardener.", "limit": 2000,'
    ' "word_limit": 400, "collection_ids": ["c1", "c2"]}',
    '{"request_id": "root", "title": "Roots"}',
]

TAKEN = [
    pytest.param(
        TSV,
        [
            ("2024-145979", "what is vicarious trauma and how can it be coped with?", "tsv", {}),
            ("t2", "how is glass recycled", "tsv", {}),
        ],
        id="tsv",
    ),
    pytest.param(
        TITLE,
        [
            ("464", "I want a thorough understanding of glass.", "jsonl", {}),
            ("465", "Cats", "jsonl", {}),
        ],
        id="title",
    ),
    pytest.param(
        REQUEST,
        [
            (
                "leaf",
                "Leaves",
                "request",
                {
                    "problem_statement": "Why?",
                    "background": "A gardener.",
                    "limit": 2000,
                    "word_limit": 400,
                    "collection_ids": ["c1", "c2"],
                },
            ),
            ("root", "Roots", "request", {}),
        ],
        id="request",
    ),
]


@pytest.mark.parametrize(("lines", "topics"), TAKEN)
def test_the_three_forms(empty_campaign, import_file, lines, topics):
    done = import_file(empty_campaign, "topics", "\n".join(lines))
    assert (done.state, told(done), warned(done)) == (Import.State.DONE, [], {})
    assert done.report["counts"] == {"topics added": 2, "lines": 2}
    found = empty_campaign.topics.order_by("pk").values_list("qid", "title", "form", "extras")
    assert list(found) == topics


LACKING = "keys title, limit"
IDS = "one of the keys request_id, id, topic_id, query_id, qid"
TITLES = "one of the keys title, query, problem_statement, background"
BAD = [
    pytest.param(TSV, "t3", "", "1 column: t3", "two columns, id and title, with a tab", id="tsv-one-column"),
    pytest.param(
        TSV, "t3\ta\tb", "", "3 columns: t3\\u0009a\\u0009b", "two columns, id and title, with a tab", id="tsv-three"
    ),
    pytest.param(
        TSV, "t3 title", "", "1 column: t3 title", "two columns, id and title, with a tab", id="tsv-blank-for-tab"
    ),
    pytest.param(TSV, "\ttitle", "id", "", "an id that is not empty", id="tsv-no-id"),
    pytest.param(TSV, "t 3\ttitle", "id", "t 3", "an id without blanks inside", id="tsv-blank-in-id"),
    pytest.param(TSV, "t3\t", "title", "", "text that is not blank", id="tsv-no-title"),
    pytest.param(TSV, "t3\t  ", "title", "  ", "text that is not blank", id="tsv-blank-title"),
    pytest.param(TSV, "t3\ta\x00b", "title", "a\\u0000b", "text without NUL characters", id="tsv-nul"),
    pytest.param(TSV, "t2\tother", "id", "t2", "each once; it stands on line 2 already", id="tsv-twice"),
    pytest.param(
        TSV, TITLE[0], "", f"1 column: {TITLE[0]}", "two columns, id and title, with a tab", id="json-among-tsv"
    ),
    pytest.param(
        TITLE,
        "t3\ttitle",
        "",
        "Expecting value at column 1: t3\\u0009title",
        "one JSON object a line",
        id="tsv-among-json",
    ),
    pytest.param(TITLE, '{"title": "a", "limit": 1}', "id", LACKING, IDS, id="title-no-id"),
    pytest.param(TITLE, '{"id": "t3"}', "title", "keys id", TITLES, id="title-no-title"),
    pytest.param(TITLE, '{"id": "t3", "title": " "}', "title", " ", "text that is not blank", id="title-blank"),
    pytest.param(TITLE, '{"id": "t3", "title": null}', "title", "None", "text", id="title-null"),
    pytest.param(TITLE, '{"id": "t3", "title": 5}', "title", "5", "text", id="title-number"),
    pytest.param(TITLE, '{"id": 3.5, "title": "a"}', "id", "3.5", "an id, as text", id="title-id-number"),
    pytest.param(
        TITLE, '{"id": "464", "title": "b"}', "id", "464", "each once; it stands on line 1 already", id="title-twice"
    ),
    pytest.param(REQUEST, '{"request_id": "x"}', "title", "keys request_id", TITLES, id="request-no-title"),
    pytest.param(
        REQUEST, '{"request_id": "", "title": "a"}', "request_id", "", "an id that is not empty", id="request-empty-id"
    ),
    pytest.param(
        REQUEST,
        '{"request_id": "root", "title": "Roots"}',
        "id",
        "root",
        "each once; it stands on line 2 already",
        id="request-twice",
    ),
    pytest.param(
        REQUEST,
        '{"request_id": "x", "title": "a", "limit": Infinity}',
        "",
        "Infinity",
        "numbers that are finite",
        id="request-infinity",
    ),
]


@pytest.mark.parametrize(("good", "bad", "field", "found", "expected"), BAD)
def test_bad_topics(empty_campaign, refuses, good, bad, field, found, expected):
    refuses(empty_campaign, "topics", good, bad, (field, found, expected))


@pytest.mark.parametrize(
    "title",
    [
        "<script>alert(1)</script>",
        "\u202etxt.exe\u2066",
        "x" * 100_000,
        "\"quoted\", 'too'",
        "=1+1",
        "  blanks kept  ",
        "{",
        "\u0001\u2028",
        "😀 é e\u0301",
    ],
    ids=["script", "bidirectional", "100,000-characters", "quotes", "formula", "blanks", "brace", "control", "letters"],
)
@pytest.mark.parametrize("form", ["tsv", "jsonl"])
def test_hostile_titles_are_kept_as_they_are(empty_campaign, import_file, title, form):
    line = f"t1\t{title}\n" if form == "tsv" else json.dumps({"id": "t1", "title": title})
    assert import_file(empty_campaign, "topics", line).state == Import.State.DONE
    assert empty_campaign.topics.get().title == title


@pytest.mark.parametrize("lines", [TSV, TITLE, REQUEST], ids=["tsv", "title", "request"])
def test_importing_twice_changes_nothing(empty_campaign, import_file, rows, lines):
    content = "\n".join(lines)
    assert import_file(empty_campaign, "topics", content).state == Import.State.DONE
    before, topics = rows(), list(empty_campaign.topics.values())
    again = import_file(empty_campaign, "topics", content)
    assert (again.state, again.report["counts"]) == (
        Import.State.DONE,
        {"topics already there": 2, "lines": 2, **_none},
    )
    assert (rows(), list(empty_campaign.topics.values())) == (before, topics)


_none = {"topics added": 0}


def test_what_is_new_in_a_file_is_added_to_what_is_there(empty_campaign, import_file):
    import_file(empty_campaign, "topics", "\n".join(TSV))
    more = import_file(empty_campaign, "topics", "\n".join([*TSV, "t3\tmore"]))
    counts = more.report["counts"]
    assert (more.state, counts["topics already there"], counts["topics added"]) == (Import.State.DONE, 2, 1)


DIFFERING = [
    pytest.param(TSV, "t2\tanother title", "another title", "how is glass recycled", id="tsv"),
    pytest.param(TITLE, '{"id": "465", "title": "Dogs"}', "Dogs", "Cats", id="title"),
    pytest.param(TITLE, '{"id": "465", "title": "Cats", "limit": 5}', "Cats", "Cats", id="another-key"),
    pytest.param(REQUEST, '{"request_id": "leaf", "title": "Leaves"}', "Leaves", "Leaves", id="keys-lacking"),
]


@pytest.mark.parametrize(("lines", "line", "found", "loaded"), DIFFERING)
def test_a_topic_that_differs_from_the_loaded_one_is_refused(
    empty_campaign, import_file, rows, lines, line, found, loaded
):
    import_file(empty_campaign, "topics", "\n".join(lines))
    before, topics = rows(), list(empty_campaign.topics.values())
    new = "new\tnew" if lines is TSV else '{"id": "new", "title": "new"}'
    refused = import_file(empty_campaign, "topics", f"{new}\n{line}")
    assert told(refused) == [(2, "title", found, f"the topic as it is loaded already: {loaded}")]
    assert refused.state == Import.State.REFUSED
    assert (rows(), list(empty_campaign.topics.values())) == (before, topics)


def test_campaigns_have_topics_of_their_own(empty_campaign, other_campaign, import_file):
    import_file(empty_campaign, "topics", "t1\there\n")
    assert import_file(other_campaign, "topics", "t1\tthere\n").report["counts"]["topics added"] == 1
    assert (empty_campaign.topics.get().title, other_campaign.topics.get().title) == ("here", "there")


def test_when_line_3000_is_bad_none_of_the_lines_before_it_is_there(empty_campaign, import_file, rows):
    lines = [f"t{n}\ttitle {n}" for n in range(1, 3_001)]
    refused = import_file(empty_campaign, "topics", "\n".join([*lines[:-1], "t3000", "t3001\tmore"]))
    assert told(refused) == [(3_000, "", "1 column: t3000", "two columns, id and title, with a tab")]
    assert refused.state == Import.State.REFUSED
    assert refused.report["counts"] == {"lines": 3_001}
    assert set(rows().values()) == {0}
    assert import_file(empty_campaign, "topics", "\n".join(lines)).report["counts"]["topics added"] == 3_000
    assert empty_campaign.topics.count() == 3_000


def test_a_repeated_id_is_seen_over_thousands_of_lines(empty_campaign, import_file, rows):
    lines = [f"t{n}\ttitle" for n in range(2_000)]
    refused = import_file(empty_campaign, "topics", "\n".join([*lines, "t0\ttitle"]))
    assert told(refused) == [(2_001, "id", "t0", "each once; it stands on line 1 already")]
    assert set(rows().values()) == {0}


def test_a_key_that_stands_twice_is_an_error(empty_campaign, import_file):
    done = import_file(empty_campaign, "topics", '{"id": "1", "title": "first", "title": "second"}\n')
    [error] = done.report["errors"]
    assert (error["line"], error["field"], error["expected"]) == (1, "title", "each key once")


@pytest.mark.parametrize("key", ["id", "topic_id", "query_id", "qid", "request_id"])
def test_an_id_may_have_any_of_the_names_and_be_a_number(empty_campaign, import_file, key):
    done = import_file(empty_campaign, "topics", [{key: 464, "title": "Glass"}, {key: "b", "title": "Cats", "n": 1}])
    assert (done.state, told(done), warned(done)) == (Import.State.DONE, [], {})
    topics = empty_campaign.topics.order_by("pk").values_list("qid", "title", "extras")
    assert list(topics) == [("464", "Glass", {}), ("b", "Cats", {"n": 1})]


STATEMENT = "Why do e.g. red leaves fall?  A child\nasks."
STAND_INS = [
    pytest.param({"query": "leaves", "background": "A child."}, "leaves", id="query"),
    pytest.param({"background": "B.", "problem_statement": STATEMENT}, "Why do e.g. red leaves fall?", id="problem"),
    pytest.param({"background": "leaves in\nfall"}, "leaves in fall", id="background-without-a-full-stop"),
]


@pytest.mark.parametrize(("keys", "title"), STAND_INS)
def test_without_a_title_the_query_or_the_first_sentence_stands_in_and_all_goes_out(
    empty_campaign, other_campaign, import_file, keys, title
):
    done = import_file(empty_campaign, "topics", [{"topic_id": "leaf"} | keys])
    assert (done.state, told(done)) == (Import.State.DONE, [])
    field = next((key for key in ("problem_statement", "background") if key in keys), "")
    sentence = [(1, field, title, "a title or a query; the sentence stands in")]
    assert warned(done) == ({} if "query" in keys else {"topic without title": sentence})
    [topic] = empty_campaign.topics.all()
    assert (topic.qid, topic.title, topic.extras) == ("leaf", title, keys)
    [line] = topics_lines(empty_campaign)
    assert json.loads(line) == {"id": "leaf", "title": title} | keys
    import_file(other_campaign, "topics", line)
    again = import_file(other_campaign, "topics", [{"topic_id": "leaf"} | keys])
    assert again.report["counts"]["topics already there"] == 1
    assert list(topics_lines(other_campaign)) == [line]


A, B = '{"id": "a", "title": "A } { }{"}', '{"id": "b", "title": "B", "n": [{"x": 1}]}'
INDENTED = "\n".join(json.dumps(json.loads(one), indent=2) for one in (A, B))
SHAPES = [
    pytest.param(A + B, False, id="behind-each-other"),
    pytest.param(f"{A}  {B}\n", False, id="behind-each-other-with-blanks"),
    pytest.param(f"[{A}, {B}]", False, id="array"),
    pytest.param(f"\n[\n{A},\n{B}\n]\n\n", False, id="array-over-lines"),
    pytest.param(json.dumps([json.loads(A), json.loads(B)], indent=1), False, id="indented-array"),
    pytest.param(INDENTED, True, id="indented"),
    pytest.param(INDENTED.replace("{\n  ", "{ ", 1), True, id="indented-by-hand"),
]


@pytest.mark.parametrize("gz", [False, True], ids=["plain", "gz"])
@pytest.mark.parametrize(("content", "is_named"), SHAPES)
def test_json_that_is_not_one_object_a_line(empty_campaign, import_file, content, is_named, gz):
    done = import_file(empty_campaign, "topics", content, gz=gz)
    assert (done.state, told(done)) == (Import.State.DONE, [])
    read_the_same = (1, "", "an object over several lines", "one JSON object a line; it is read the same")
    assert warned(done) == ({"indented JSON": [read_the_same]} if is_named else {})
    topics = empty_campaign.topics.order_by("pk").values_list("qid", "title", "extras")
    assert list(topics) == [("a", "A } { }{", {}), ("b", "B", {"n": [{"x": 1}]})]


END = "an array of objects, with commas between them, and nothing behind it"
ONE = "one JSON object a line"
BROKEN = [
    pytest.param(f"[\n{A},\n{B}\n", (3, "the end of the file", END), id="array-without-end"),
    pytest.param(f"[\n{A}\n{B}\n]", (3, B[:40], END), id="no-comma"),
    pytest.param(f"[\n{A},\n{B}\n]\n{A}", (4, f"]\\u000a{A[:38]}", END), id="behind-the-array"),
    pytest.param(f"[\n{A},\n]", (3, "Expecting value at column 1: ]", ONE), id="comma-at-the-end"),
    pytest.param(f"[\n{A},\n\n\n7]", (5, "7", "a JSON object"), id="number"),
    pytest.param(A + '{"id": ', (1, 'Expecting value at column 7: {"id":', ONE), id="cut-off"),
    pytest.param(f'[\n{A},\n{{"id":\n"b" "title"}}]', (4, "", ONE), id="broken-object"),
    pytest.param(f"{INDENTED[:-1]}\n", (12, "", ONE), id="cut-off-indented"),
]


@pytest.mark.parametrize(("content", "error"), BROKEN)
def test_errors_in_such_json_name_their_line(empty_campaign, import_file, rows, content, error):
    refused = import_file(empty_campaign, "topics", content)
    [(line, _, found, expected)] = told(refused)
    assert (line, found if error[1] else "", expected) == error
    assert set(rows().values()) == {0}


def test_an_array_over_lines_has_at_most_8_mib(empty_campaign, import_file, rows):
    big = json.dumps({"id": "c", "title": "x" * 5 * 1024 * 1024})
    refused = import_file(empty_campaign, "topics", f"[\n{big},\n{big}\n]")
    [error] = refused.report["errors"]
    assert (error["line"], error["found"]) == (1, "more than 8 MiB of JSON")
    assert error["remedy"] == "Write one JSON object a line, for example with jq -c."
    assert set(rows().values()) == {0}


@pytest.mark.parametrize("header", ["qid\tquery", "topic_id\ttitle", "ID\tTitle"])
def test_a_header_is_called_one(empty_campaign, import_file, rows, header):
    refused = import_file(empty_campaign, "topics", f"{header}\nt1\tcats\n")
    shown = header.replace("\t", "\\u0009")
    assert told(refused) == [(1, "header", shown, "no header: values from the first line on")]
    assert refused.report["errors"][0]["remedy"] == "Delete the first line."
    assert set(rows().values()) == {0}
