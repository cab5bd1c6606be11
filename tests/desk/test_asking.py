"""No page asks another host for anything: what would be found. Pages are looked at in test_admin and in the browser."""

import pytest
from django.http import HttpResponse

from tests.desk.asking import POLICY, asked_elsewhere


def page(body: str) -> HttpResponse:
    return HttpResponse(body, headers={"Content-Security-Policy": "; ".join(sorted(POLICY))})


@pytest.mark.parametrize(
    "body",
    [
        '<script src="https://cdn.example/x.js"></script>',
        '<script src="//cdn.example/x.js"></script>',
        '<img srcset="HTTP://cdn.example/x.png 2x">',
        '<link rel="preconnect" href="https://cdn.example">',
        '<base href="https://cdn.example/">',
        '<a href="/" ping="https://cdn.example/">here</a>',
        '<p style="background: url(https://cdn.example/x.png)">text</p>',
        '<meta http-equiv="refresh" content="0; url=https://cdn.example/">',
    ],
)
def test_what_asks_another_host_is_found(body: str):
    assert len(asked_elsewhere(page(f"<html>{body}</html>"))) == 1


def test_what_asks_nobody_or_ones_own_host_is_not():
    own = '<link rel="icon" href="/static/icon.svg"><script src="/static/x.js"></script>'
    link = '<a href="https://example.org/">https://example.org/</a>'
    assert asked_elsewhere(page(f"<html>{own}{link}</html>")) == []


def test_a_page_without_the_strict_policy_is_found():
    assert asked_elsewhere(HttpResponse("<html></html>")) == ["no strict policy"]
