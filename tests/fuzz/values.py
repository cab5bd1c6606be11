"""Values that programs stumble over: texts for parameters and cells, values for JSON."""

import math

NUMBERS = ["", " ", "-1", "0", "1", "2", "3", "00", "+1", " 1 ", "1e3", "1_000", "0x10", "1.5", "-0.0", ".5", "1,5"]
NUMBERS += ["32768", "2147483648", "4294967296", "9223372036854775807", "9223372036854775808", "-9223372036854775809"]
NUMBERS += ["9" * 18, "9" * 30, "9" * 400, "9" * 5_000, "1e400", "-1e400", "1e-400", "NaN", "nan", "inf", "-Infinity"]
NUMBERS += ["٣", "²", "½", "Ⅳ", "৫", "１", "1\u200b", "1\x00"]  # noqa: RUF001  # digits of one kind or another
TEXTS = [
    "\x00",
    "a\x00b",
    "\x01\x1f\x7f",
    "\u0085\u2028\u2029",
    "\ufeff",
    "\u202eabc",
    "e\u0301",
    "é",
    "😀" * 3,
    "\U000e0001",
]
TEXTS += [
    "\ud800",
    "\udfff\ud800",
    "\r\n",
    "a\rb",
    "\t",
    "\x0b\x1c",
    "\\",
    "\\u0000",
    "\\ud800",
    "%00",
    "%",
    "%s",
    "%(a)s",
    "{0}",
]
TEXTS += [
    "'",
    '"',
    "';--",
    "' OR 1=1 --",
    "<script>alert(1)</script>",
    "{{ 7 }}",
    "{% now %}",
    "=1+1",
    "@a",
    "*",
    ",",
    ";",
]
TEXTS += [
    "..",
    "../../etc/passwd",
    "/",
    "//elsewhere.example/",
    "https://elsewhere.example/",
    "javascript:0",
    "file:///etc/passwd",
]
TEXTS += [
    "http://[",
    "http://[::1",
    "http://a:99999999/",
    "http://\u2100.example/",
    "mailto:",
    "?",
    "#",
    "&",
    "=",
    "null",
    "None",
]
TEXTS += [
    "true",
    "on",
    "off",
    "yes",
    "a" * 257,
    "a" * 5_000,
    "😀" * 2_001,
    "\u0301" * 500,
    "a b",
    "a,b",
    "a;b",
    "[",
    "{",
    "]",
    "[]",
    "{}",
]
TEXTS += [
    '[""]',
    '["\\ud800"]',
    '["\\u0000"]',
    '{"a": NaN}',
    "[1e400]",
    "[" * 5_000,
    '{"a":' * 2_000,
    "[[0, 99999999999]]",
    "[" + "9" * 5_000 + "]",
]
TEXTS += [
    "2026-02-30",
    "0000-00-00",
    "9999-12-31T23:59:59",
    "10000-01-01",
    "2026-11-22T08:00:00+99:99",
    "0001-01-01T00:00",
]
TEXTS += [
    "00000000-0000-0000-0000-000000000000",
    "{0b0e7b3c-8a3e-4c58-9d4a-2f6f0e9f8a11}",
    "urn:uuid:0",
    "0.0",
    "0.0.0",
    "-1.0",
    "a.b",
]
WORDS = [
    "support",
    "partial_support",
    "not_support",
    "full",
    "partial",
    "none",
    "vital",
    "okay",
    "failed",
    "educate_others",
]
WORDS += [
    "-1",
    "people",
    "model",
    "nuggets",
    "assignment",
    "relevance",
    "csv",
    "json",
    "jsonl",
    "svg",
    "pdf",
    "png",
    "zip",
    "tot",
]
WORDS += [
    "t1",
    "t2",
    "d1",
    "d4",
    "r",
    "anna",
    "ben",
    "olga",
    "study",
    "NIST",
    "all",
    "trec-2024",
    "assay-1",
    "__class__",
    "pk",
    "id",
]
HOSTILE = [*NUMBERS, *TEXTS, *WORDS]

# JSON values beside the texts.
ODD_JSON = [
    None,
    True,
    False,
    0,
    1,
    -1,
    3,
    4,
    2**31,
    2**53 + 1,
    2**63,
    -(2**63) - 1,
    10**30,
    10**400,
    1.0,
    0.5,
    -0.0,
    1e308,
    1e-320,
]
ODD_JSON += [
    math.nan,
    math.inf,
    -math.inf,
    [],
    {},
    [[]],
    [None],
    [0, 0],
    {"": ""},
    {"a": None},
    [{}],
    [[["a"]]],
    {"0": 0},
]


def deep(levels: int) -> str:
    """Return JSON of many levels, as text."""
    return "[" * levels + "]" * levels
