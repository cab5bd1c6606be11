"""Guidelines: Markdown by the organizer, shown as a page and as a dialog's content."""

import re
from html.parser import HTMLParser
from itertools import pairwise
from urllib.parse import urlsplit

import pytest
from django.test import Client

from assessor.campaigns.condition_kind import kind_named, kind_of, kinds_with_screen
from assessor.work.guidelines import as_html, first_text
from nuggets.models import NuggetBank


@pytest.mark.parametrize("kind", ["nuggets", "questions", "assignment", "support", "relevance"])
def test_each_kind_has_guidelines_with_headings_from_h2(as_anna: Client, kind: str):
    response = as_anna.get(f"/guidelines/{kind}/")
    assert response.status_code == 200
    body = response.content.decode()
    html = as_html(first_text(kind))
    assert html in body
    levels = [int(level) for level in re.findall(r"<h(\d)", html)]
    assert levels[0] == min(levels) == 2
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert re.findall(r"<h1>(.*?)</h1>", body) == [f"Guidelines: {kind}"]
    assert kind_named(kind)


def test_every_kind_is_tested_and_no_file_is_left_over():
    names = {"nuggets", "questions", "assignment", "grading", "support", "relevance", "reports"}
    assert {kind.name for kind in kinds_with_screen()} == names
    assert all(kind.guidelines() for kind in kinds_with_screen())


def test_headings_go_one_level_down_and_no_further_than_six():
    assert as_html("# a\n\n## b\n\n##### e\n\n###### f\n\nUnder\n=====\n") == (
        "<h2>a</h2>\n<h3>b</h3>\n<h6>e</h6>\n<h6>f</h6>\n<h2>Under</h2>\n"
    )


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("**b** <script>alert(1)</script>", "<p><strong>b</strong> &lt;script&gt;alert(1)&lt;/script&gt;</p>\n"),
        ("<div onclick=x>\n", "<p>&lt;div onclick=x&gt;</p>\n"),
        ("<!-- hidden -->", "<p>&lt;!-- hidden --&gt;</p>\n"),
        ("a & b &lt; c", "<p>a &amp; b &lt; c</p>\n"),
        ("[x](javascript:alert(1))", "<p>[x](javascript:alert(1))</p>\n"),
        ("![x](https://example.org/x.png)", '<p>!<a href="https://example.org/x.png">x</a></p>\n'),
        ("`<b>`", "<p><code>&lt;b&gt;</code></p>\n"),
        ("{{ user }} {% x %}", "<p>{{ user }} {% x %}</p>\n"),
        ("see https://example.org/x", "<p>see https://example.org/x</p>\n"),
        ("مرحبا é", "<p>مرحبا é</p>\n"),
    ],
)
def test_html_in_the_markdown_is_text(text: str, html: str):
    assert as_html(text) == html


HOSTILE = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<a href='javascript:alert(1)'>x</a>",
    "<style>body{display:none}</style>",
    "<base href=//evil.example/>",
    "<meta http-equiv=refresh content='0;url=//evil.example'>",
    "<form action=//evil.example><input name=x></form>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
    "<details open ontoggle=alert(1)>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](java\nscript:alert(1))",
    "[x](\x01javascript:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](&#x6A;avascript&colon;alert(1))",
    "[x](vbscript:msgbox)",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[x](file:///etc/passwd)",
    "[x](<javascript:alert(1)>)",
    '[x](https://example.org/" onclick="alert(1))',
    "[x](https://example.org/ \"x' onclick='alert(1)\")",
    "[x]: javascript:alert(1)\n\n[x]",
    "![x](javascript:alert(1))",
    "![x](https://evil.example/x.png)",
    "![x](x 'onerror=alert(1)')",
    "<javascript:alert(1)>",
    "<https://example.org/?x=<script>alert(1)</script>>",
    "```<script>\nalert(1)\n```",
    '```x" onclick="alert(1)\nx\n```',
    "`<script>alert(1)</script>`",
    "# <script>alert(1)</script>",
    "| <script>alert(1)</script> |\n|---|\n| <img src=x onerror=alert(1)> |",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "<!--><script>alert(1)</script>-->",
    "<![CDATA[<script>alert(1)</script>]]>",
    "<?php system('id') ?>",
    "\\<script>alert(1)\\</script>",
    "{% load x %}{{ settings.SECRET_KEY }}",
    "[" * 3_000,
    "> " * 3_000 + "x",
    "*" * 5_000,
)
TAGS = {"p", "a", "strong", "em", "code", "pre", "ul", "ol", "li", "blockquote", "hr", "br", "table", "thead", "tbody"}


class Seen(HTMLParser):
    """The tags of a page with their attributes, as a browser reads them."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, list[tuple[str, str | None]]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, attrs))


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_markdown_has_no_tag_attribute_or_address_of_its_own(text: str):
    seen = Seen()
    seen.feed(as_html(text))
    for tag, attributes in seen.tags:
        assert tag in TAGS | {"th", "tr", "td", "s", "h2", "h3", "h4", "h5", "h6"}
        for name, value in attributes:
            assert name in {"href", "title", "class", "start"}
            if name == "href":
                assert value is not None
                assert urlsplit(value).scheme in ("http", "https", "mailto", "")
                assert not value.startswith("//")


def test_tables_are_tables():
    assert "<th>a</th>" in as_html("| a | b |\n|---|---|\n| 1 | 2 |\n")


@pytest.mark.parametrize("kind", ["unknown", "Nuggets", "nuggets.md", "..", "../nuggets", "%2e%2e%2fnuggets"])
def test_other_guidelines_do_not_exist(as_anna: Client, kind: str):
    assert as_anna.get("/guidelines/nuggets/").status_code == 200
    assert as_anna.get(f"/guidelines/{kind}/").status_code == 404


def test_the_editor_holds_its_guidelines(bank: NuggetBank, as_anna: Client):
    """They open in a dialog without another request."""
    page = as_anna.get(kind_of(bank.task).url(bank.task)).content.decode()
    assert as_html(first_text("nuggets")) in page
    assert as_html(first_text("assignment")) not in page


def test_guidelines_are_for_who_is_signed_in(client: Client, as_anna: Client):
    response = client.get("/guidelines/nuggets/")
    assert (response.status_code, response["Location"]) == (302, "/login/?next=/guidelines/nuggets/")
    assert client.get("/guidelines/nuggets/", headers={"HX-Request": "true"}).status_code == 401
    assert as_anna.post("/guidelines/nuggets/").status_code == 405
    assert as_anna.head("/guidelines/nuggets/").status_code == 200
