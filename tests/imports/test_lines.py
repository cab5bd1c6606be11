"""What holds for every file: encoding, line ends, gzip, length, JSON, ids, and the report."""

import gzip
import hashlib
import json

import pytest

from assessor.campaigns.models import Import, Segment, Topic
from assessor.formats import lines
from assessor.formats.lines import MAX_LINE, SourceFile
from assessor.formats.report import LISTED, Report, Unreadable, show
from assessor.imports.loaders import LOADERS
from tests.imports.conftest import told, warned

GOOD = b"t1\twhy do cats purr\nt2\thow is glass recycled\n"
BOM = b"\xef\xbb\xbf"
MIB = 1024 * 1024
SEGMENT = '{"docid": "d1", "segment": "Cats purr."}'


def read(path):
    """Return the lines of a file, its source and its report."""
    report, source = Report(path.name), SourceFile(path)
    return list(source.lines(report)), source, report


def titles(campaign):
    return dict(campaign.topics.values_list("qid", "title"))


WRITTEN = [
    pytest.param(GOOD, id="utf-8"),
    pytest.param(BOM + GOOD, id="bom"),
    pytest.param(GOOD.replace(b"\n", b"\r\n"), id="crlf"),
    pytest.param(BOM + GOOD.replace(b"\n", b"\r\n"), id="bom-crlf"),
    pytest.param(GOOD.rstrip(b"\n"), id="no-last-line-end"),
    pytest.param(b"\n" + GOOD.replace(b"\n", b"\n \t\r\n\n"), id="blank-lines"),
]


@pytest.mark.parametrize("gz", [False, True], ids=["plain", "gz"])
@pytest.mark.parametrize("data", WRITTEN)
def test_the_same_topics_however_the_file_is_written(empty_campaign, import_file, data, gz):
    done = import_file(empty_campaign, "topics", data, gz=gz)
    assert (done.state, told(done), warned(done)) == (Import.State.DONE, [], {})
    assert titles(empty_campaign) == {"t1": "why do cats purr", "t2": "how is glass recycled"}


def test_gzip_is_told_by_the_content_not_by_the_name(empty_campaign, import_file):
    assert import_file(empty_campaign, "topics", gzip.compress(GOOD), name="topics.tsv").state == Import.State.DONE
    assert import_file(empty_campaign, "topics", GOOD, name="topics.gz").report["counts"]["topics already there"] == 2


@pytest.mark.parametrize("line", [b"x" * 1023 + b"\n", b"\n" * 1024, b"x" * 1024], ids=["lines", "blank", "one line"])
def test_a_gzip_bomb_is_not_unpacked_to_its_end(tmp_path, monkeypatch, line):
    monkeypatch.setattr(lines, "UNPACKED", 1024 * 1024)  # else it takes a large bomb
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(line * (16 * 1024), 9))
    report, source = Report(path.name), SourceFile(path)
    with pytest.raises(Unreadable):
        for _ in source.lines(report):
            pass
    assert report.errors[-1].found == "more than 200 times what is packed"


def test_several_gzip_members_are_one_file(empty_campaign, import_file):
    first, second = GOOD.splitlines(keepends=True)
    import_file(empty_campaign, "topics", gzip.compress(first) + gzip.compress(second))
    assert len(titles(empty_campaign)) == 2


def test_a_byte_order_mark_is_dropped_only_at_the_start_of_the_file(empty_campaign, refuses):
    good = GOOD.decode().splitlines()
    expected = "an id without control or invisible characters"
    refuses(empty_campaign, "topics", good, "\ufefft3\ttitle", ("id", "\\ufefft3", expected))


def test_lines_are_numbered_with_the_blank_ones(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"\n\nfirst\n   \nsecond")
    lines, source, report = read(path)
    assert [(line.number, line.text) for line in lines] == [(3, "first"), (5, "second")]
    assert report.counts["lines"] == 5
    assert source.bytes_read == 18


def test_only_line_feeds_end_a_line(tmp_path):
    path = tmp_path / "file"
    path.write_bytes("a\u2028b\x0bc\x85d\re\n".encode())
    assert [line.text for line in read(path)[0]] == ["a\u2028b\x0bc\x85d\re"]


@pytest.mark.parametrize("gz", [False, True], ids=["plain", "gz"])
def test_the_sha256_is_that_of_the_file_as_it_lies_there(empty_campaign, import_file, gz):
    data = gzip.compress(GOOD) if gz else GOOD
    assert import_file(empty_campaign, "topics", data).sha256 == hashlib.sha256(data).hexdigest()


UNREADABLE = [
    pytest.param(b"\xff\xfet\x001\x00\t\x00", (1, "byte 0xff at byte 1 of the line", "text in UTF-8"), id="utf-16"),
    pytest.param(GOOD + b"t3\tcaf\xe9\n", (3, "byte 0xe9 at byte 7 of the line", "text in UTF-8"), id="latin-1"),
    pytest.param(b"\x89PNG\r\n\x1a\n\x00", (1, "byte 0x89 at byte 1 of the line", "text in UTF-8"), id="png"),
    pytest.param(GOOD + b"t3\t\xed\xa0\x80", (3, "byte 0xed at byte 4 of the line", "text in UTF-8"), id="surrogate"),
    pytest.param(
        gzip.compress(GOOD)[:-9],
        (3, "Compressed file ended before the end-of-stream marker was reached", "a whole gzip file"),
        id="truncated-gzip",
    ),
    pytest.param(b"\x1f\x8b\x07" + bytes(9), (1, "Unknown compression method", "a whole gzip file"), id="gzip-method"),
    pytest.param(
        b"\x1f\x8b",
        (1, "Compressed file ended before the end-of-stream marker was reached", "a whole gzip file"),
        id="gz",
    ),
    pytest.param(
        gzip.compress(GOOD) + b"tail", (3, "Not a gzipped file (b'ta')", "a whole gzip file"), id="behind-the-gzip"
    ),
]


@pytest.mark.parametrize(("data", "error"), UNREADABLE)
def test_what_cannot_be_read_is_one_error_and_brings_nothing(empty_campaign, import_file, rows, data, error):
    line, found, expected = error
    refused = import_file(empty_campaign, "topics", data)
    assert told(refused) == [(line, "", found, expected)]
    assert refused.state == Import.State.REFUSED
    assert set(rows().values()) == {0}
    assert import_file(empty_campaign, "topics", GOOD).state == Import.State.DONE


def test_a_gzip_file_with_a_wrong_checksum(empty_campaign, import_file, rows):
    data = bytearray(gzip.compress(GOOD))
    data[-6] ^= 1
    refused = import_file(empty_campaign, "topics", bytes(data))
    [(_, field, found, expected)] = told(refused)
    assert (field, found[:16], expected) == ("", "CRC check failed", "a whole gzip file")
    assert set(rows().values()) == {0}


def test_a_gzip_file_cut_off_behind_many_good_lines_brings_none_of_them(empty_campaign, import_file, rows):
    whole = gzip.compress("".join(f"t{n}\ttitle {n * n}\n" for n in range(20_000)).encode())
    refused = import_file(empty_campaign, "topics", whole[:-2_000])
    [(line, _, _, expected)] = told(refused)
    assert (line > 1_000, expected) == (True, "a whole gzip file")
    assert set(rows().values()) == {0}


def test_behind_an_unreadable_line_nothing_is_read(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"a\n\xff\n\xff\n")
    report, seen = Report("file"), []
    with pytest.raises(Unreadable):
        seen.extend(SourceFile(path).lines(report))
    assert report.error_count == 1


@pytest.mark.parametrize("gz", [False, True], ids=["plain", "gz"])
def test_a_line_of_9_mib_is_refused_and_the_lines_behind_it_are_still_checked(empty_campaign, import_file, rows, gz):
    long = b"t3\t" + b"x" * 9 * MIB + b"\n"
    refused = import_file(empty_campaign, "topics", GOOD + long + b"t4\n" + 2 * long, gz=gz)
    too_long = ("", "more than 8,388,608 bytes", "a line of at most 8 MiB")
    columns = ("", "1 column: t4", "two columns, id and title, with a tab")
    assert told(refused) == [(3, *too_long), (4, *columns), (5, *too_long), (6, *too_long)]
    assert set(rows().values()) == {0}


@pytest.mark.parametrize(("length", "end", "taken"), [(0, b"\n", 1), (0, b"", 1), (1, b"\n", 0), (1, b"", 0)])
def test_a_line_of_exactly_8_mib_is_taken(tmp_path, length, end, taken):
    path = tmp_path / "file"
    path.write_bytes(b"x" * (MAX_LINE + length) + end + (b"next" if end else b""))
    lines, _, report = read(path)
    assert len(lines) == taken + bool(end)
    assert report.error_count == 1 - taken


@pytest.mark.parametrize("data", [b"", b"\n", BOM, b" \n\t\r\n"], ids=["nothing", "line-end", "bom", "blanks"])
def test_a_file_without_a_record(empty_campaign, import_file, data):
    refused = import_file(empty_campaign, "topics", data)
    assert told(refused) == [(0, "", "no record", "at least one record")]
    assert refused.state == Import.State.REFUSED


POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614\nsize 12345\n"


@pytest.mark.parametrize("kind", [kind for kind in LOADERS if kind != "plan"])
def test_a_git_lfs_pointer_is_called_one(empty_campaign, import_file, rows, kind):
    options = {"source": "NIST", "condition": "NIST", "by": "people"}
    if kind in ("question_grades", "argue_judgments"):
        options["nuggets"] = "Asked"
        protocol = empty_campaign.protocol
        empty_campaign.conditions.create(name="Asked", kind="questions", method="ManualQuestions", protocol=protocol)
    if kind == "drafts":
        empty_campaign.qrels_sources.create(name="NIST", by="people")
        options = {"qrels": "NIST", "condition": "NIST", "maker": "m"}
    if kind == "former_nuggets":
        empty_campaign.qrels_sources.create(name="NIST", by="people")
        options |= {"qrels": "NIST", "edition": "2024", "edition_date": "2024"}
    before = rows()
    refused = import_file(empty_campaign, kind, POINTER, **options)
    assert told(refused) == [(1, "", "a Git LFS pointer", "the file that it points to")]
    assert refused.report["errors"][0]["remedy"] == "Fetch the file itself with git lfs pull."
    assert rows() == before


@pytest.mark.parametrize("indent", [None, 2], ids=["array", "indented-array"])
def test_every_reader_of_json_takes_an_array(empty_campaign, import_file, indent):
    segments = [{"docid": "d1", "segment": "Cats purr."}, {"docid": "d2", "segment": "}{"}]
    done = import_file(empty_campaign, "segments", json.dumps(segments, indent=indent))
    assert (done.state, told(done)) == (Import.State.DONE, [])
    assert dict(empty_campaign.segments.values_list("docid", "text")) == {"d1": "Cats purr.", "d2": "}{"}


@pytest.mark.parametrize("between", ["", " "])
def test_objects_behind_each_other_in_a_line_are_taken(empty_campaign, import_file, between):
    segments = [{"docid": "d1", "segment": "Cats purr."}, {"docid": "d2", "segment": "Dogs bark."}]
    done = import_file(empty_campaign, "segments", between.join(map(json.dumps, segments)) + "\n")
    assert (done.state, told(done)) == (Import.State.DONE, [])
    assert dict(empty_campaign.segments.values_list("docid", "text")) == {"d1": "Cats purr.", "d2": "Dogs bark."}


@pytest.mark.parametrize(
    ("kind", "header"),
    [
        ("qrels", "query-id corpus-id score"),
        ("qrels", "topic iter docno rel"),
        ("retrieval", "qid q0 docid rank score tag"),
    ],
)
def test_a_header_of_columns_is_called_one(campaign, import_file, rows, kind, header):
    before = rows()
    refused = import_file(campaign, kind, header + "\n", source="x", by="people")
    assert told(refused) == [(1, "header", header, "no header: values from the first line on")]
    assert refused.report["errors"][0]["remedy"] == "Delete the first line."
    assert rows() == before


def test_indented_json_is_named_where_other_lines_are_expected(campaign, import_file):
    indented = json.dumps({"topic": "t1", "docid": "d1"}, indent=2)
    refused = import_file(campaign, "qrels", indented, source="x", by="people")
    assert refused.state == Import.State.REFUSED
    assert list(warned(refused)) == ["indented JSON"]


JSON_LINES = [
    pytest.param('{"docid": "d2", "segment": NaN}', "NaN", "numbers that are finite", id="nan"),
    pytest.param(
        '{"docid": "d2", "segment": "s", "x": Infinity}', "Infinity", "numbers that are finite", id="infinity"
    ),
    pytest.param('{"docid": "d2", "segment": "s", "x": -Infinity}', "-Infinity", "numbers that are finite", id="minus"),
    pytest.param('{"docid": "d2", "segment": "s", "x": 1e999}', "1e999", "numbers that are finite", id="1e999"),
    pytest.param('{"docid": "d2", "segment": "s", "x": [-1e999]}', "-1e999", "numbers that are finite", id="-1e999"),
    pytest.param('["d2", "s"]', '["d2", "s"]', "a JSON object", id="list"),
    pytest.param("null", "null", "a JSON object", id="null"),
    pytest.param('"d2"', '"d2"', "a JSON object", id="string"),
    pytest.param(
        '{"docid": "d2", "segment": "s"',
        'Expecting \',\' delimiter at column 31: "d2", "segment": "s"',
        "one JSON object a line",
        id="cut-off",
    ),
    pytest.param(
        SEGMENT + ", " + SEGMENT,
        'Extra data at column 41: ment": "Cats purr."}, {"docid": "d1", "s',
        "one JSON object a line",
        id="two-objects-and-a-comma",
    ),
    pytest.param(
        '{"docid": "d2", "segment": "a\tb"}',
        'Invalid control character at at column 30:  "d2", "segment": "a\\u0009b"}',
        "one JSON object a line",
        id="bare-control-character",
    ),
    pytest.param(
        '{"docid": "d2", "segment": "s", "x": ' + "[" * 64 + "]" * 64 + "}",
        "65 levels",
        "JSON of at most 64 levels",
        id="65-levels",
    ),
    pytest.param(
        '{"docid": "d2", "segment": "s", "x": ' + '{"x":' * 64 + "1" + "}" * 65,
        "65 levels",
        "JSON of at most 64 levels",
        id="65-objects",
    ),
    pytest.param(
        '{"docid": "d2", "segment": "s", "x": ' + "[" * 200_000 + "]" * 200_000 + "}",
        "very deep nesting",
        "JSON of at most 64 levels",
        id="200,000-levels",
    ),
    pytest.param("[" * 200_000, "very deep nesting", "JSON of at most 64 levels", id="200,000-open-brackets"),
    pytest.param(
        '{"docid": "d2", "segment": "a\\u0000b"}',
        "\\u0000 or half a surrogate pair",
        "text of whole characters",
        id="nul",
    ),
    pytest.param(
        '{"docid": "d2", "segment": "\\ud83d"}',
        "\\u0000 or half a surrogate pair",
        "text of whole characters",
        id="high-surrogate",
    ),
    pytest.param(
        '{"docid": "d2", "segment": "s", "x": {"\\uDE00": 1}}',
        "\\u0000 or half a surrogate pair",
        "text of whole characters",
        id="low-surrogate-in-a-key",
    ),
    pytest.param(
        '{"docid": "d2", "segment": "s", "x": ' + "9" * 5_000 + "}",
        "Exceeds the limit (4300 digits) for integer string conversion: value has 5000 digits; use"
        " sys.set_int_max_str_digits() to increase the limit",
        "numbers of ordinary length",
        id="5,000-digits",
    ),
]


@pytest.mark.parametrize(("line", "found", "expected"), JSON_LINES)
def test_bad_json(empty_campaign, refuses, line, found, expected):
    found = found if len(found) <= 120 else found[:120] + "…"
    refuses(empty_campaign, "segments", [SEGMENT], line, ("", found, expected))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ('"\\ud83d\\ude00"', "😀"),
        ('"a \\\\u0000 in a program"', "a \\u0000 in a program"),
        ('"a \\\\ud83d in a program"', "a \\ud83d in a program"),
        ('"tab\\tand\\nline"', "tab\tand\nline"),
        ('"NaN"', "NaN"),
        ('"\\u0001\\u202e<script>alert(1)</script>"', "\x01\u202e<script>alert(1)</script>"),
    ],
    ids=["pair", "backslash-u0000", "backslash-ud83d", "tab", "word-nan", "hostile"],
)
def test_text_that_only_looks_bad_is_taken_as_it_is(empty_campaign, import_file, value, text):
    assert import_file(empty_campaign, "segments", f'{{"docid": "d1", "segment": {value}}}').state == Import.State.DONE
    assert empty_campaign.segments.get().text == text


def test_64_levels_and_4300_digits_are_taken(empty_campaign, import_file):
    deep = '{"docid": "d1", "segment": "[[[", "x": ' + "[" * 63 + "]" * 63 + ', "y": ' + "9" * 4_300 + "}"
    assert import_file(empty_campaign, "segments", deep).state == Import.State.DONE
    assert empty_campaign.segments.get().extras["y"] == 10**4_300 - 1


IDS = [
    pytest.param("", "", "an id that is not empty", id="empty"),
    pytest.param("d\x01", "d\\u0001", "an id without control or invisible characters", id="control"),
    pytest.param("d\n", "d\\u000a", "an id without control or invisible characters", id="line-feed"),
    pytest.param("d\u202e", "d\\u202e", "an id without control or invisible characters", id="bidirectional"),
    pytest.param("d\u200b", "d\\u200b", "an id without control or invisible characters", id="zero-width"),
    pytest.param("d\u2028", "d\\u2028", "an id without control or invisible characters", id="line-separator"),
    pytest.param("d\ue000", "d\\ue000", "an id without control or invisible characters", id="private-use"),
    pytest.param("d 2", "d 2", "an id without blanks inside", id="blank-inside"),
    pytest.param("d\u00a0", "d\\u00a0", "an id without blanks inside", id="no-break-space"),
    pytest.param("d" * 257, "d" * 120 + "…", "an id of at most 256 characters", id="257-characters"),
    pytest.param("d" * 100_000, "d" * 120 + "…", "an id of at most 256 characters", id="100,000-characters"),
    pytest.param("é" * 257, "é" * 120 + "…", "an id of at most 256 characters", id="257-letters"),
    pytest.param(7, "7", "an id, as text", id="number"),
    pytest.param(None, "None", "an id, as text", id="null"),
    pytest.param(True, "True", "an id, as text", id="true"),
    pytest.param(["d2"], "['d2']", "an id, as text", id="list"),
]


@pytest.mark.parametrize(("docid", "found", "expected"), IDS)
def test_bad_ids(empty_campaign, refuses, docid, found, expected):
    line = json.dumps({"docid": docid, "segment": "s"})
    refuses(empty_campaign, "segments", [SEGMENT], line, ("docid", found, expected))


@pytest.mark.parametrize("docid", ["é" * 256, "<script>", "=1+1", "D1", "d1#6_2290", "文書", "d'1\"", "%00", "😀"])
def test_odd_ids_are_taken_as_they_are(empty_campaign, import_file, docid):
    done = import_file(empty_campaign, "segments", [{"docid": "d1", "segment": "s"}, {"docid": docid, "segment": "s"}])
    assert done.state == Import.State.DONE
    assert set(empty_campaign.segments.values_list("docid", flat=True)) == {"d1", docid}


def test_ids_are_matched_exactly(empty_campaign, import_file):
    composed, decomposed = "caf\u00e9", "cafe\u0301"
    data = f"t1\ta\nT1\tb\n{composed}\tc\n{decomposed}\td\n01\te\n1\tf\n"
    assert import_file(empty_campaign, "topics", data).state == Import.State.DONE
    assert titles(empty_campaign) == {"t1": "a", "T1": "b", composed: "c", decomposed: "d", "01": "e", "1": "f"}


def test_blanks_around_an_id_go_with_a_warning(empty_campaign, import_file):
    done = import_file(empty_campaign, "topics", " t1 \tfirst\nt2\tsecond\n")
    assert warned(done) == {"blanks around an id": [(1, "id", " t1 ", "stripped to t1")]}
    assert titles(empty_campaign) == {"t1": "first", "t2": "second"}


def test_two_ids_that_differ_in_blanks_are_the_same(empty_campaign, refuses):
    refuses(empty_campaign, "topics", ["t1\ta"], " t1\ta", ("id", "t1", "each once; it stands on line 1 already"))


def test_the_first_50_bad_lines_are_listed_and_all_errors_are_counted(empty_campaign, import_file, rows):
    bad = "".join(f"t{n}\n" for n in range(LISTED + 30))
    refused = import_file(empty_campaign, "topics", GOOD.decode() + bad)
    assert LISTED == 50
    assert refused.report["error_count"] == 80
    assert [line for line, *_ in told(refused)] == list(range(3, 53))
    assert set(rows().values()) == {0}


def test_every_bad_line_is_named_though_some_have_many_errors():
    report = Report("f")
    for line in (9, 2, 5):
        for number in range(30):
            report.error(line, f"field {number}", "found", "expected")
    assert [problem.line for problem in report.errors] == [2] * 20 + [5] * 20 + [9] * 20
    assert [problem.field for problem in report.errors][:2] == ["field 0", "field 1"]
    assert report.error_count == 90


def test_the_first_50_warnings_of_each_kind_are_listed_and_all_are_counted(empty_campaign, import_file):
    done = import_file(empty_campaign, "topics", "".join(f" t{n}\ttitle\n" for n in range(60)))
    [blanks] = done.report["warnings"]
    assert (blanks["count"], len(blanks["listed"]), done.report["warning_count"]) == (60, 50, 60)
    assert done.state == Import.State.DONE


@pytest.mark.parametrize(
    ("found", "shown"),
    [
        ("plain", "plain"),
        ("<script>", "<script>"),
        ("a\u202eb\x00\x1b[31m", "a\\u202eb\\u0000\\u001b[31m"),
        ("x" * 120, "x" * 120),
        ("x" * 121, "x" * 120 + "…"),
        (2.0, "2.0"),
        (None, "None"),
        (["a\u202e"], "['a\\u202e']"),
    ],
)
def test_what_was_found_is_shown_short_and_without_anything_invisible(found, shown):
    assert show(found) == shown


HOSTILE = "<script>alert(1)</script>\u202eevil\u2066" + "x" * 100_000


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        ("topics", f"t1\t{HOSTILE}\n", f"t1\t{HOSTILE}y\n"),
        ("topics", "t1\ta\n", f" {HOSTILE}\ta\n"),
        ("segments", [{"docid": "d1", "segment": HOSTILE}], [{"docid": "d1", "segment": HOSTILE + "y"}]),
        (
            "segments",
            [{"query": {"qid": "t1"}, "candidates": [{"docid": "d1", "doc": {"segment": "s"}}]}],
            [{"query": {"qid": "t1"}, "candidates": [{"docid": HOSTILE, "doc": {"docid": "d1", "segment": "s"}}]}],
        ),
    ],
    ids=["title", "id", "segment", "candidate"],
)
def test_hostile_text_neither_fills_the_report_nor_hides_in_it(empty_campaign, import_file, kind, good, bad):
    assert import_file(empty_campaign, kind, good).state == Import.State.DONE
    refused = import_file(empty_campaign, kind, bad)
    assert refused.state == Import.State.REFUSED
    problems = told(refused) + [problem for kind in warned(refused).values() for problem in kind]
    for _, field, found, expected in problems:
        assert max(len(found), len(expected), len(field)) < 400
        assert (found + expected + field).isprintable()
    assert Topic.everything.count() + Segment.everything.count() == 1
