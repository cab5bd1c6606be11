"""Every page as a person sees it: accessible, narrow and wide, light and dark, light in bytes."""

import json
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.urls import resolve
from playwright.sync_api import Page

from tests.browser.axe import against_rules, grave, load_with_each_page
from tests.browser.conftest import MARKS, Demo, OpenPage, tab_to
from tests.desk.test_urls import TABLE

pytestmark = MARKS

PAGES = {
    None: ["/login/"],
    "anna": [
        *("/", "/answers/", "/nuggets/{bank}/", "/guidelines/nuggets/", "/work/{task}/guidelines/"),
        *("/me/", "/password/", "/password/mailed/", "/security/", "/confirm/", "/nothing/"),
    ],
    "olga": [
        "/tokens/",
        "/api/",
        "/new-campaign/",
        "/campaigns/demo/",
        "/campaigns/demo/settings/",
        "/campaigns/demo/settings/security/",
        "/glossary/",
        "/campaigns/demo/conditions/",
        "/campaigns/demo/conditions/2/",
        "/campaigns/demo/people/",
        "/campaigns/demo/people/1/",
        "/campaigns/demo/conditions/new/",
        "/campaigns/demo/setup/",
        "/campaigns/demo/imports/",
        "/campaigns/demo/imports/8/",
        "/campaigns/demo/imports/12/",
        "/campaigns/demo/guidelines/",
        "/campaigns/demo/guidelines/support/",
        "/campaigns/demo/guidelines/support/1/",
        "/campaigns/demo/practice/",
        "/campaigns/demo/practice/2/",
        "/campaigns/demo/plan/",
        "/campaigns/demo/plan/give/?topics=1&topics=2",
        "/campaigns/demo/plan/runs/",
        "/campaigns/demo/plan/hours/",
        "/campaigns/demo/plan/draws/",
        "/campaigns/demo/plan/allocate/",
        "/campaigns/demo/plan/work/{piece}",
        "/campaigns/demo/progress/",
        "/campaigns/demo/alarms/",
        "/campaigns/demo/effort/",
        "/campaigns/demo/asked/",
        "/campaigns/demo/history/",
        "/campaigns/demo/labels/support/{label}/",
        "/campaigns/demo/questions/2/",
        "/campaigns/demo/support-questions/{support}/",
        "/campaigns/demo/prompts/",
        "/campaigns/demo/prompts/import/",
        "/campaigns/demo/judges/",
        "/campaigns/demo/judges/new/",
        "/campaigns/demo/judges/1/",
        "/campaigns/demo/jobs/",
        "/campaigns/demo/jobs/1/",
        "/campaigns/demo/jobs/1/failures/",
        "/campaigns/demo/jobs/new/",
        "/campaigns/demo/topics/",
        "/campaigns/demo/topics/1/",
        "/campaigns/demo/passages/",
        "/campaigns/demo/passages/?show=no-text",
        "/campaigns/demo/runs/",
        "/campaigns/demo/runs/1/",
        "/campaigns/demo/runs/1/1/",
        "/campaigns/demo/relevance/",
        "/campaigns/demo/find/?q=re",
        "/campaigns/demo/scores/",
        "/campaigns/demo/scores/?condition=2&condition=3",
        "/campaigns/demo/scores/?condition=2&run=1",
        "/campaigns/demo/scores/?condition=2&run=1&run=2",
        "/campaigns/demo/scores/2/topics/1/",
        "/campaigns/demo/scores/2/runs/1/",
        "/campaigns/demo/scores/2/figures/",
        "/campaigns/demo/scores/2/reusability/",
        "/campaigns/demo/scores/2/nuggets/",
        "/campaigns/demo/scores/2/significance/",
        "/campaigns/demo/scores/2/judges/",
        "/campaigns/demo/relevance/1/judges/",
        "/campaigns/demo/scores/2/next-edition/",
        "/campaigns/demo/pairs/?words=1",
        "/campaigns/demo/registrations/",
        "/campaigns/demo/hybrids/",
        "/campaigns/demo/panels/",
        "/campaigns/demo/sensitivity/",
        "/campaigns/demo/control-sets/",
        "/campaigns/demo/studies/",
        "/campaigns/demo/studies/1/",
        "/campaigns/demo/adjudication/",
        "/campaigns/demo/rejudging/",
        "/campaigns/demo/studies/1/ask/",
        "/campaigns/demo/comparisons/",
        "/campaigns/demo/comparisons/1/",
        "/campaigns/demo/comparisons/1/topics/1/",
        "/campaigns/demo/comparisons/1/bias/",
        "/campaigns/demo/comparisons/against/Condition-2/",
        "/campaigns/demo/banks/",
        "/campaigns/demo/calibrations/",
        "/campaigns/demo/calibrations/1/",
        "/campaigns/demo/exports/",
        "/campaigns/demo/exports/nuggets/",
        "/campaigns/demo/frozen/",
        "/campaigns/demo/frozen/2/",
        "/campaigns/demo/archive/",
        "/nuggets/{bank}/",
    ],
    "admin": [
        "/",
        "/admin/",
        "/admin/accounts/person/",
        "/admin/accounts/person/add/",
        "/admin/accounts/person/1/change/",
        "/admin/accounts/person/1/delete/",
        "/admin/campaigns/topic/",
    ],
}

CONTROLS = {
    "button",
    "link",
    "textbox",
    "searchbox",
    "combobox",
    "listbox",
    "checkbox",
    "radio",
    "spinbutton",
    "slider",
}
REGIONS = {
    "main",
    "navigation",
    "banner",
    "contentinfo",
    "region",
    "form",
    "row",
    "group",
    "dialog",
    "list",
    "listitem",
}
REGIONS |= {"radiogroup", "search", "article", "Date", "RootWebArea"}


def visit(page: Page, demo: Demo, address: str) -> None:
    """Go to one of PAGES, which has to be there: an error page would pass for it otherwise."""
    with demo.database() as db:
        query = (
            "select task.id, task.condition_id, task.topic_id, person_id from work_task task"
            " join nuggets_nuggetbank bank on bank.task_id = task.id where bank.id = ?"
        )
        [[task, condition, topic, person]] = db.execute(query, [demo.bank(1)])
        query = (
            "select sheet.id, condition_id, sentence || '.' || citation from support_supportjudgment label"
            " join support_supportsheet sheet on sheet.id = label.sheet_id where label.state = 'given'"
        )
        [sheet, support, citation] = db.execute(query).fetchone()
    label = f"{sheet}/{citation}"
    piece = f"{condition}/{topic}/?person={person}"
    response = page.goto(address.format(bank=demo.bank(1), task=task, label=label, piece=piece, support=support))
    assert response is not None
    assert response.status == (404 if address == "/nothing/" else 200), address
    page.evaluate("scrollTo(0, 0)")  # what a sticky head covers counts as too small


# Addresses that are no pages of PAGES: files and figures; fragments of the screens on which people label, and pages in
# a state that the demo does not come with, which are opened with texts in other scripts below; and those of signing in,
# which test_signing_in.py opens.
FILES = {
    "report_file",
    "made_file",
    "comparison_file",
    "comparison_figure",
    "joint_figure",
    "score_figure",
    "reusability_figure",
    "reusability_table",
    "registration_file",
    "study_figure",
}
FILES |= {"canary_table", "nugget_table", "nugget_figure", "topic_influence", "bias_table", "bias_figure"}
FILES |= {"effort_figure", "frozen_bundle", "frozen_manifest", "matched_banks_file"}
FILES |= {"significance_table", "significance_figure"}
FILES |= {"label_judges_table", "label_judges_figure", "grade_judges_table", "grade_judges_figure"}
FILES |= {"calibration_file", "calibration_figure", "hybrid_file", "hybrid_figure", "panel_file"}
FILES |= {"sensitivity_file", "sensitivity_figure", "candidates_file", "editions_file"}
FILES |= {"effort_figure", "frozen_bundle", "frozen_manifest", "next_edition_table", "next_edition_figure"}
SCREENS = {"assignment", "assignment_answer", "assignment_nugget", "support", "support_answer", "relevance"}
SCREENS |= {"relevance_passage", "argue", "argue_report"}
SCREENS |= {"preference", "preference_answer", "report_editor"}
OTHER_STATES = {"condition_drafts", "nugget_drafts", "export", "registration", "hybrid", "panel", "canaries"}
OTHER_STATES |= {"matched_banks", "matched_topic", "candidates", "topic_candidates", "editions", "trial_setting"}
OTHER_STATES |= {"sensitivity", "control_set", "webhooks"}
NOT_OPENED = {
    "missing",  # leads to a list
    "metrics",  # text for Prometheus, by a token
    "nugget_trials",  # a part of the editor's page
    *("argue_questions", "preference_questions"),  # so do these, as others do that are opened
    "old_protocol",
    "practice_feedback",
    "sign_on_callback",
    "account_reset_password",
    "account_reset_password_from_key",
}
NOT_OPENED |= {"account_email", "account_confirm_email"}
NOT_OPENED |= {name for name in TABLE if name.startswith("mfa_")} - {"mfa_index"}


def test_no_page_is_forgotten() -> None:
    """Each address that answers a GET is opened here, or said not to be."""
    named = {
        resolve(address.partition("?")[0].format(bank=1, task=1, label="1/1", piece="1/1/", support=1)).url_name
        for pages in PAGES.values()
        for address in pages
        if address != "/nothing/"
    }
    pages = {name for name, (method, _) in TABLE.items() if method == "GET" and not name.startswith("export_")}
    assert pages - named == FILES | SCREENS | OTHER_STATES | NOT_OPENED


def badly_named(page: Page) -> list[str]:
    """Return what a screen reader could not tell: controls without a name, and different ones of one name side by side.

    Names are those of the browser's accessibility tree. A region is what a heading, a table's row or a landmark holds;
    links may share a name where they lead to the same address.
    """
    nodes = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    by_id = {node["nodeId"]: node for node in nodes}
    wrong, seen = [], {}
    for node in nodes:
        role = node.get("role", {}).get("value")
        if node.get("ignored") or role not in CONTROLS:
            continue
        name = node.get("name", {}).get("value", "").strip()
        address = next((p["value"].get("value") for p in node.get("properties", ()) if p["name"] == "url"), None)
        if not name:
            wrong.append(f"{role} without a name")
            continue
        around = node
        while around.get("parentId") and around.get("role", {}).get("value") not in REGIONS:
            around = by_id[around["parentId"]]
        key = (around["nodeId"], role, name)
        if seen.setdefault(key, address) != address or (address is None and seen.get((key, "again"))):
            wrong.append(f"two {role}s “{name}”")
        seen[key, "again"] = True
    return wrong


CUT_OFF = """() => [...document.querySelectorAll("table")].filter(table => {
  const box = table.closest(".scroll") || table.parentElement;
  return table.checkVisibility() && !table.matches(".heat, .matrix.grid") && box.scrollWidth > box.clientWidth + 1;
}).map(table => `${table.closest("section, article, main").querySelector("h1, h2, h3").textContent.trim()} is cut off`)
"""


def too_wide(page: Page) -> list[str]:
    """Return where the page scrolls sideways: as it is, at 200 % (640 pixels) and at 400 % (320) of its zoom.

    On a screen, no table does either.
    """
    wrong = []
    for width, height in ((640, 360), (320, 256), (1920, 1080), (1280, 720)):
        page.set_viewport_size({"width": width, "height": height})
        scroll = page.evaluate("document.documentElement.scrollWidth")
        if scroll > width:
            wrong.append(f"{scroll} wide at {width}")
        if width >= 1280:
            wrong += [f"{found} at {width}" for found in page.evaluate(CUT_OFF)]
    return wrong


@pytest.mark.parametrize("name", PAGES)
def test_every_page(name: str | None, open_page: OpenPage, demo: Demo) -> None:
    """By axe, in light and dark, by the names in the accessibility tree, and by its width."""
    # axe is put into the page by the test, which the pages' own policy rightly refuses.
    page = open_page(name, bypass_csp=True)
    load_with_each_page(page)
    wrong, titles = {}, {}
    for address in PAGES[name]:
        visit(page, demo, address)
        if found := against_rules(page) + badly_named(page) + too_wide(page):
            wrong[address] = found
        titles.setdefault(page.title(), set()).add(urlsplit(page.url).path)  # old addresses lead elsewhere
    assert wrong == {}
    assert {title: pages for title, pages in titles.items() if len(pages) > 1} == {}


@pytest.fixture(scope="module")
def loaded(demo: Demo) -> dict[str, Any]:
    """What tests/browser/world.py prints."""
    printed = demo.run("from tests.browser.world import load; load()")
    found: dict[str, Any] = json.loads(printed.splitlines()[-1])
    return found


@pytest.fixture
def world(loaded: dict[str, Any]) -> dict[str, str]:
    """The addresses of work on texts in other scripts than Latin, by kind: Ben's grading, all else Anna's."""
    found: dict[str, str] = loaded["work"]
    return found


def test_pages_in_other_states(loaded: dict[str, Any], open_page: OpenPage) -> None:
    """Drafts and what became of them, an export, a registration, hybrids, a panel, a sensitivity study, canaries."""
    page = open_page("olga", bypass_csp=True)
    load_with_each_page(page)
    opened = set()
    for address in loaded["pages"]:
        opened.add(resolve(address.partition("?")[0]).url_name)
        response = page.goto(address)
        assert response is not None
        assert response.status == 200, address
        assert against_rules(page) + badly_named(page) + too_wide(page) == [], address
    assert opened == OTHER_STATES


def test_texts_in_other_scripts(world: dict[str, str], open_page: OpenPage) -> None:
    """Each text stands in its own direction; what is searched, taken over, compared and marked is whole characters."""
    pages = {name: open_page(name, bypass_csp=True) for name in ("anna", "ben")}
    for kind, address in world.items():
        page = pages["ben" if kind == "relevance" else "anna"]
        page.goto(address)
        page.wait_for_selector("#main[data-ready]")
        # By the first strong character of each text that is there: Arabic and Hebrew letters are U+0590 to U+06FF.
        found = page.evaluate(
            "[...document.querySelectorAll('.reading, .fact .text, h1 bdi, h3 bdi, article h2 bdi')].map(e =>"
            " [/^[\\W\\d]*?[\\u0590-\\u06ff]/.test(e.textContent) ? 'rtl' : 'ltr',"
            " e.matches('bdi') ? 'auto' : getComputedStyle(e).direction, getComputedStyle(e).unicodeBidi])"
        )
        assert found, kind
        assert {told for _, told, bidi in found if bidi not in ("isolate", "plaintext")} == set(), kind
        assert [one for one in found if one[1] not in (one[0], "auto")] == [], kind
        assert {one[1] for one in found if one[1] != "auto"} >= {"rtl"}, kind
        assert against_rules(page) + badly_named(page) + too_wide(page) == [], kind

    page = pages["anna"]
    page.goto(world["nuggets"])
    page.wait_for_selector("#main[data-ready]")
    page.locator("#search-text").fill("القطط")
    assert page.locator("#search-count").text_content() == "1 in 1 passage"
    page.locator("#search-text").fill("呼噜声")
    assert page.locator("#search-count").text_content() == "1 in 1 passage"
    page.locator("#search-text").press("Escape")
    page.locator("article[data-docid=emoji]").focus()
    page.keyboard.press("Shift+J")
    page.keyboard.press("n")
    page.keyboard.press("Enter")
    for text in ("猫会打呼噜", "猫会打呼噜。", "חתולים (3)"):
        page.keyboard.type(text)
        page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    page.wait_for_selector("#saved[data-state=saved]")
    page.reload()
    page.wait_for_selector("#main[data-ready]")
    texts = page.locator(".nugget textarea.text")
    assert [one.input_value() for one in texts.all()] == [
        "The vet 👩🏽‍⚕️ says so.",
        "猫会打呼噜",
        "猫会打呼噜。",
        "חתולים (3)",
    ]
    assert page.locator(".same:visible").text_content() == "same as 2"
    assert texts.last.evaluate("e => getComputedStyle(e).direction") == "rtl"

    page.goto(world["assignment"])
    page.wait_for_selector("#main[data-ready]")
    sentence = page.locator(".answer:visible .sentences .reading").last
    for _ in range(4):
        page.keyboard.press("]")
    page.keyboard.press("m")
    page.wait_for_selector("#saved[data-state=saved]")
    page.reload()
    page.wait_for_selector("#main[data-ready]")
    assert page.locator(".fact .marked").text_content() == f"“{sentence.text_content()}”"


FOCUSED = """() => {
  const e = document.activeElement, r = e.getBoundingClientRect(), style = getComputedStyle(e);
  const at = [[.5, .5], [.1, .1], [.9, .1], [.1, .9], [.9, .9]].map(([x, y]) =>
    document.elementFromPoint(r.left + x * r.width, r.top + y * r.height));
  return {
    place: [...document.querySelectorAll("*")].indexOf(e),
    is: e === document.body ? null : e.outerHTML.slice(0, 120),
    covered: !at.some(one => one && (e.contains(one) || one.contains(e) && one !== document.body)),
    unmarked: style.outlineStyle === "none" || !parseFloat(style.outlineWidth),
  };
}"""
MOVING = """() => [...document.querySelectorAll("*")].filter(e => {
  const style = getComputedStyle(e), longest = text => Math.max(...text.split(", ").map(parseFloat));
  const isAnimated = style.animationName !== "none" && longest(style.animationDuration) > .01;
  return isAnimated || longest(style.transitionDuration) > .01;
}).map(e => e.outerHTML.slice(0, 120)).slice(0, 5)"""
# As WCAG 1.4.12 has it.
SPACED = """* { line-height: 1.5 !important; letter-spacing: .12em !important; word-spacing: .16em !important }
p { margin-bottom: 2em !important }"""
CLIPPED = """() => [...document.querySelectorAll("*")].filter(e => {
  const style = getComputedStyle(e), isText = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
  const hides = (overflow, scroll, client) => ["hidden", "clip"].includes(overflow) && scroll > client + 1;
  return isText && !e.closest(".visually-hidden") && (hides(style.overflowX, e.scrollWidth, e.clientWidth)
    || hides(style.overflowY, e.scrollHeight, e.clientHeight));
}).map(e => e.outerHTML.slice(0, 120)).slice(0, 5)"""


def test_screens_for_who_sees_moves_and_spaces_otherwise(world: dict[str, str], open_page: OpenPage) -> None:
    """Forced colours, no motion, wide spacing: what has the focus is marked and in sight, and no text is cut off."""
    wishes = {"forced_colors": "active", "reduced_motion": "reduce", "bypass_csp": True}
    pages = {name: open_page(name, **wishes) for name in ("anna", "ben")}
    for kind, address in world.items():
        page = pages["ben" if kind == "relevance" else "anna"]
        page.goto(address)
        page.wait_for_selector("#main[data-ready]")
        assert page.evaluate(MOVING) == [], kind
        stops = set()
        for _ in range(90):
            page.keyboard.press("Tab")
            found = page.evaluate(FOCUSED)
            if found["is"] is None:
                continue  # after the last stop, before the first
            if found["place"] in stops:
                break
            stops.add(found["place"])
            assert not found["covered"], (kind, found)
            assert not found["unmarked"], (kind, found)
        assert len(stops) > 5, kind
        page.add_style_tag(content=SPACED)
        assert page.evaluate(CLIPPED) == [], kind
        assert too_wide(page) == [], kind


def test_axe_finds_nothing_grave_in_the_editor_at_work(open_page: OpenPage) -> None:
    page = open_page("ben", bypass_csp=True)
    page.goto("/")
    page.keyboard.press("c")
    page.wait_for_selector("#main[data-ready]")
    page.keyboard.press("f")
    page.wait_for_selector("text=There is no nugget yet.")
    page.keyboard.press("n")
    for text in ("One fact", "one  FACT", "x" * 300, "<script>alert(1)</script> \u202eevil"):
        page.keyboard.type(text)
        page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    page.wait_for_selector("#saved[data-state=saved]")
    assert page.locator(".same:visible").text_content() == "same as 1"
    assert page.locator(".nugget textarea.text").last.input_value() == "<script>alert(1)</script> \u202eevil"
    assert grave(page) == []
    page.keyboard.press("?")
    page.wait_for_selector("#keys[open]")
    assert grave(page, "dialog[open]") == []
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.wait_for_selector("#guidelines[open] h2")
    assert grave(page, "dialog[open]") == []


def test_the_editor_is_light(open_page: OpenPage, demo: Demo) -> None:
    """At most 12 requests and 100 kB of compressed CSS and JavaScript."""
    page = open_page("anna")
    page.goto("/")
    page.wait_for_load_state("networkidle")
    requests, sizes = [], []
    page.on("request", lambda request: requests.append(request.url))
    page.on(
        "requestfinished", lambda request: sizes.append((request.resource_type, request.sizes()["responseBodySize"]))
    )
    page.goto(f"/nuggets/{demo.bank(1)}/")
    page.wait_for_load_state("networkidle")
    assert len(requests) <= 12, requests
    code = sum(size for kind, size in sizes if kind in ("script", "stylesheet"))
    assert 0 < code <= 100_000


def test_keys_can_be_changed_and_switched_off(open_page: OpenPage, demo: Demo) -> None:
    def focused(page: Page) -> str | None:
        return page.evaluate("document.activeElement.id || document.activeElement.tagName")

    def editor(page: Page) -> None:
        page.goto(f"/nuggets/{demo.bank(1)}/")
        page.wait_for_selector("#main[data-ready]")

    def choose(page: Page, label: str, key: str) -> None:
        page.goto("/me/")
        page.get_by_label(label).fill(key)
        page.click("button:text('Save')")
        page.wait_for_selector("text=Your settings are saved.")

    choose(open_page("anna"), "nuggets: new nugget", "z")
    page = open_page("anna")  # another browser
    editor(page)
    assert page.locator("label[for=new-text] kbd").text_content() == "z"
    page.keyboard.press("n")
    assert focused(page) != "new-text"
    page.keyboard.press("z")
    assert focused(page) == "new-text"
    page.keyboard.press("z")  # while typing it is a letter
    assert page.locator("#new-text").input_value() == "z"
    page.locator("#new-text").fill("")
    page.locator("#new-text").blur()
    choose(page, "nuggets: next passage", "q")
    editor(page)
    page.keyboard.press("h")
    assert page.locator("#hint").text_content() == "Go to a passage first, with q."
    page.keyboard.press("?")
    page.wait_for_selector("#keys[open] li:text('To the passages') kbd:text-is('q')")
    page.click("a:text('Put them on other keys')")
    page.get_by_label("Switch single-character keys off").check()
    page.click("button:text('Save')")
    page.wait_for_selector("text=Your settings are saved.")
    editor(page)
    page.keyboard.press("z")
    assert focused(page) != "new-text"
    assert not page.locator("label[for=new-text] kbd").is_visible()
    choose(page, "nuggets: new nugget", "")
    page.get_by_label("Switch single-character keys off").uncheck()
    page.get_by_label("nuggets: next passage").fill("p")
    page.click("button:text('Save')")
    page.wait_for_selector("text=Your settings are saved.")


def test_progress_asks_for_what_is_new_unless_somebody_is_at_it(open_page: OpenPage) -> None:
    page = open_page("olga")
    page.clock.install()
    page.goto("/campaigns/demo/progress/")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "hx-request" in request.headers else None)
    page.clock.run_for(11_000)
    page.wait_for_timeout(500)
    assert len(asked) == 1
    page.locator("#live a").first.focus()
    page.clock.run_for(31_000)
    page.wait_for_timeout(500)
    assert len(asked) == 1
    page.locator("#live a").first.blur()
    page.clock.run_for(11_000)
    page.wait_for_timeout(500)
    assert len(asked) == 2


def test_the_browsers_zone_is_offered(open_page: OpenPage) -> None:
    page = open_page("anna", timezone_id="Asia/Tokyo")
    page.goto("/me/")
    page.click("button:has-text('Take this browser')")
    page.click("button:text('Save')")
    page.wait_for_selector("text=Your settings are saved.")
    assert page.locator("#id_time_zone").input_value() == "Asia/Tokyo"
    assert not page.locator("#own-zone").is_visible()
    page.locator("#id_time_zone").select_option("")
    assert page.locator("#own-zone").is_visible()
    page.click("button:text('Save')")
    page.wait_for_selector("text=Your settings are saved.")


def test_the_first_importance_is_near(open_page: OpenPage, demo: Demo) -> None:
    """From a freshly opened editor to work: one key to the new nugget, one to the first on the list."""
    page = open_page("anna")
    page.goto(f"/nuggets/{demo.bank(2)}/")
    page.wait_for_selector("#main[data-ready]")
    page.keyboard.press("n")
    page.keyboard.type("A fact")
    page.keyboard.press("Enter")
    page.wait_for_selector("#saved[data-state=saved]:text-is('Saved')")
    page.reload()
    page.wait_for_selector("#main[data-ready]")
    page.keyboard.press("j")
    page.keyboard.press("v")
    page.wait_for_selector("#saved[data-state=saved]:text-is('Saved')")
    page.reload()
    assert page.locator(".nugget input[value=vital]").is_checked()
    tab_to(page, "textarea.text", most=40)
