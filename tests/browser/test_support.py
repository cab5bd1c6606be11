"""Support judged with the keyboard alone, from scratch and beside a model's labels, with the connection lost once."""

import re

import pytest
from playwright.sync_api import Page

from tests.browser.axe import grave
from tests.browser.conftest import MARKS, Demo, OpenPage, saved, until

pytestmark = MARKS

LABELS = ["full", "partial", "none"]


@pytest.fixture
def given(tasks: dict[str, dict[str, str]]) -> dict[str, str]:
    """The addresses of what is given on demo-1: to Anna from scratch, to Ben beside the model's labels."""
    return tasks["support"]


def open_screen(page: Page, address: str) -> None:
    page.goto(address)
    page.wait_for_selector("#main[data-ready]")
    page.wait_for_selector(".passage:not([hidden])")


def sheet(page: Page) -> int:
    """Return which answer is on screen, by the key of its sheet."""
    return int(str(page.locator(".answer:not([hidden])").get_attribute("data-sheet")))


def citation(page: Page) -> str:
    """Return which citation is on screen: one sentence is marked, and one passage stands beside it that it cites."""
    script = """() => [".answer:not([hidden]) [aria-current]", ".passage:not([hidden])"].map((selector) =>
        [...document.querySelectorAll(selector)].map((element) => element.dataset.citations.split(" ")))"""
    [line], [passage] = page.evaluate(script)
    [key] = {*line} & {*passage}
    return str(key)


def longest(demo: Demo, address: str) -> int:
    """Return the answer of a task with the most citations that can be judged."""
    with demo.database() as db:
        query = "select id from support_supportsheet where task_id = ? order by to_do desc, id"
        [first, *_] = db.execute(query, [task(address)])
    return int(first[0])


def task(address: str) -> int:
    return int(re.findall(r"\d+", address)[0])


def stands(demo: Demo, key: int, column: str = "labels") -> dict[str, str]:
    """Return what stands on an answer as the database has it."""
    value, where = {
        "labels": ("value", "state = 'given'"),
        "cannot": ("reason", "state = 'unjudgeable'"),
        "flags": ("flag", "flag <> ''"),
        "shown": ("shown_value", "shown_value is not null"),
        "open": ("state", "state not in ('removed', 'no_text', 'waiting')"),
    }[column]
    query = f"select sentence || '.' || citation, {value} from support_supportjudgment where sheet_id = ? and {where}"
    with demo.database() as db:
        return dict(db.execute(f"{query} order by sentence, citation", [key]))


def asked(demo: Demo, key: int) -> list[str]:
    """Return the citations of an answer that can be judged."""
    return list(stands(demo, key, "open"))


def revisions(demo: Demo, key: int) -> list[str]:
    """Return what was done on an answer, in order."""
    with demo.database() as db:
        rows = db.execute(
            "select distinct version, verb from support_labelevent where sheet_id = ? order by version", [key]
        )
        return [verb for _, verb in rows]


def exposures(demo: Demo) -> list[tuple[str, str]]:
    with demo.database() as db:
        query = "select username, where_ from (select p.username, e.'where' as where_ from work_exposure e"
        return list(db.execute(f"{query} join accounts_person p on p.id = e.person_id where e.kind = 'support')"))


def is_ready(page: Page) -> bool:
    return page.locator("[data-label=full]").is_enabled()


def press(page: Page, keys: str) -> None:
    for key in keys:
        until(page, lambda: is_ready(page))
        page.keyboard.press(key)


def test_a_whole_answer_from_scratch_with_the_connection_lost_half_way(
    open_page: OpenPage, demo: Demo, given: dict[str, str]
) -> None:
    page = open_page("anna")
    page.goto("/")
    requests: list[str] = []
    sizes: list[tuple[str, int]] = []
    page.on("request", lambda request: requests.append(request.url))
    page.on(
        "requestfinished", lambda request: sizes.append((request.resource_type, request.sizes()["responseBodySize"]))
    )
    open_screen(page, f"{given['anna']}?answer={longest(demo, given['anna'])}")
    page.wait_for_load_state("networkidle")
    assert len(requests) <= 12, requests
    assert 0 < sum(size for kind, size in sizes if kind in ("script", "stylesheet")) <= 100_000
    assert page.locator("[data-shown]").count() == 0
    first = sheet(page)
    keys = asked(demo, first)
    assert len(keys) > 3
    assert citation(page) == keys[0]
    assert re.fullmatch(r"0 of \d+ citations · answer \d of 8", str(page.locator("#progress").text_content()))
    # One Tab from the fresh page stands the first choice; a key alone does it as well.
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.dataset.label") == "full"

    press(page, "2")
    assert citation(page) == keys[1], "after a label the next one"
    saved(page)
    assert stands(demo, first) == {keys[0]: "partial"}
    page.context.set_offline(True)
    press(page, "31")
    page.wait_for_selector("#saved[data-state=offline]:has-text('2 changes kept in this browser')")
    assert citation(page) == keys[3]
    press(page, "1" * (len(keys) - 3))
    assert citation(page) == keys[-1], "after the last label of an answer the focus stays"
    page.keyboard.press("Enter")
    # The next answer and its passages are there already.
    until(page, lambda: sheet(page) != first)
    second = sheet(page)
    assert citation(page) == asked(demo, second)[0]
    press(page, "3")
    page.wait_for_timeout(300)
    assert len(stands(demo, first)) == 1
    assert stands(demo, second) == {}
    page.context.set_offline(False)
    saved(page)
    given_labels = ["partial", "none", "full", *["full"] * (len(keys) - 3)]
    assert stands(demo, first) == dict(zip(keys, given_labels, strict=True))
    assert stands(demo, second) == {asked(demo, second)[0]: "none"}
    assert revisions(demo, first) == ["label"] * len(keys)
    open_screen(page, f"{given['anna']}?answer={second}")
    begun, *left = asked(demo, second)  # in which order answers come is the condition's own seed's to say
    assert (sheet(page), citation(page)) == (second, left[0] if left else begun), "where she left it"
    assert [name for name, _ in exposures(demo)] == []


def test_going_on_back_and_undo(open_page: OpenPage, demo: Demo, given: dict[str, str]) -> None:
    page = open_page("anna")
    open_screen(page, f"{given['anna']}?answer={longest(demo, given['anna'])}")
    key, keys = sheet(page), asked(demo, sheet(page))
    here = citation(page)
    before = stands(demo, key)
    page.keyboard.press("j")
    assert citation(page) == keys[keys.index(here) + 1], "this goes on and says nothing"
    page.keyboard.press("k")
    assert citation(page) == here
    page.keyboard.press("1")
    press(page, "k2")
    saved(page)
    assert stands(demo, key) == before | {here: "partial"}
    page.reload()
    page.wait_for_selector("#main[data-ready]")
    press(page, "u")
    until(page, lambda: citation(page) == here)
    assert page.locator("[data-label][aria-pressed=true]").get_attribute("data-label") == "full"
    press(page, "u")
    until(page, lambda: page.locator("[data-label][aria-pressed=true]").count() == 0)
    saved(page)
    assert stands(demo, key) == before
    assert revisions(demo, key)[-4:] == ["label", "label", "label", "take back"]


def test_flags_reasons_and_later(open_page: OpenPage, demo: Demo, given: dict[str, str]) -> None:
    page = open_page("anna")
    open_screen(page, f"{given['anna']}?answer={longest(demo, given['anna'])}")
    key, here = sheet(page), citation(page)
    page.keyboard.press("f")
    page.keyboard.type("1 is this <b>meant</b>?")
    page.keyboard.press("Enter")
    page.wait_for_selector("#told:has-text('flag 1 is this <b>meant</b>?')")
    page.keyboard.press("x")
    page.keyboard.press("Enter")
    assert page.locator("#cannot[open]").count() == 1, "a reason is needed"
    page.keyboard.type("breaks off")
    page.keyboard.press("Enter")
    until(page, lambda: citation(page) != here)
    saved(page)
    assert stands(demo, key, "cannot") == {here: "breaks off"}
    assert stands(demo, key, "flags") == {here: "1 is this <b>meant</b>?"}
    page.keyboard.press("l")
    until(page, lambda: sheet(page) != key)
    saved(page)
    page.keyboard.press("u")
    until(page, lambda: sheet(page) == key)
    page.keyboard.press("u")
    until(page, lambda: page.locator('#told:has-text("can\'t judge")').count() == 0)
    saved(page)
    assert revisions(demo, key)[-5:] == ["flag", "can't judge", "put off", "put off", "take back"]


def test_two_tabs_on_one_answer_show_both_labels(open_page: OpenPage, demo: Demo, given: dict[str, str]) -> None:
    first = open_page("anna")
    open_screen(first, given["anna"])
    key, here = sheet(first), citation(first)
    second = first.context.new_page()
    open_screen(second, given["anna"])
    press(first, "1")
    saved(first)
    press(second, "3")
    second.wait_for_selector("#refused")
    told = str(second.locator("#refused").text_content())
    assert "”: none" in told
    assert "It now says: full" in told
    second.click("text=Keep mine")
    saved(second)
    assert stands(demo, key)[here] == "none"
    second.close()


def swap(demo: Demo, key: int, one: str, other: str) -> None:
    """Have an answer cite one docid wherever it cites the other, as if a run file had put them there."""
    with demo.database() as db:
        [[answer]] = db.execute("select answer_id from support_supportsheet where id = ?", [key])
        [texts] = db.execute('select "references", content from campaigns_answer where id = ?', [answer])
        swapped = [text.replace(one, "\0").replace(other, one).replace("\0", other) for text in texts]
        db.execute('update campaigns_answer set "references" = ?, content = ? where id = ?', [*swapped, answer])
        for before, after in ((one, "\0"), (other, one), ("\0", other)):
            query = "update support_supportjudgment set docid = ? where sheet_id = ? and docid = ?"
            db.execute(query, [after, key, before])


def test_a_citation_that_is_another_one_meanwhile_is_shown_anew(
    open_page: OpenPage, demo: Demo, given: dict[str, str]
) -> None:
    """What is said of the passage on screen does not land on another one."""
    page = open_page("anna")
    open_screen(page, f"{given['anna']}?answer={longest(demo, given['anna'])}")  # one that cites more than one passage
    key, here = sheet(page), citation(page)
    before = stands(demo, key)
    on_screen = page.locator(".passage:not([hidden])")
    shown = str(on_screen.get_attribute("data-docid"))
    all_of_it = page.locator(f".passage[data-citations~='{here}']").locator("xpath=..").locator(".passage")
    docids = {str(one.get_attribute("data-docid")) for one in all_of_it.all()}
    other = min(docids - {shown})
    swap(demo, key, shown, other)
    press(page, "1")
    page.wait_for_selector("#refused:has-text('it is shown anew')")
    until(page, lambda: on_screen.count() and on_screen.get_attribute("data-docid") == other)
    assert citation(page) == here
    assert stands(demo, key) == before
    swap(demo, key, shown, other)


def test_a_whole_answer_beside_a_models_labels_with_the_connection_lost_once(
    open_page: OpenPage, demo: Demo, given: dict[str, str]
) -> None:
    page = open_page("ben")
    page.goto("/")
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    open_screen(page, f"{given['ben']}?answer={longest(demo, given['ben'])}")
    until(page, lambda: is_ready(page))
    page.wait_for_load_state("networkidle")
    assert len(requests) <= 12, requests
    assert sum(address.endswith("/show/") for address in requests) == 1, "of one citation, the one on screen"
    first = sheet(page)
    keys = asked(demo, first)
    with demo.database() as db:
        [[of_model]] = db.execute(
            "select id from support_supportsheet where answer_id = (select answer_id from support_supportsheet"
            " where id = ?) and condition_id = (select id from campaigns_condition where name = ?)",
            [first, "Mia's"],
        )
    model = stands(demo, of_model)
    assert page.locator("[data-shown]").text_content() == model[keys[0]]
    assert page.locator("[data-label][aria-pressed=true]").count() == 0, "nothing is preselected"
    assert page.evaluate("document.activeElement.matches('.passage:not([hidden])')"), "the focus stays on the passage"
    assert stands(demo, first, "shown") == {keys[0]: model[keys[0]]}
    assert exposures(demo) == [("ben", "labels of Mia's")]
    # A bare Enter takes nothing over.
    page.keyboard.press("Enter")
    assert citation(page) == keys[0]
    page.keyboard.press("j")
    until(page, lambda: citation(page) == keys[1])
    page.keyboard.press("k")
    saved(page)
    assert stands(demo, first) == {}

    key_of = {label: str(number) for number, label in enumerate(LABELS, start=1)}
    press(page, key_of[model[keys[0]]])  # taking it costs the same key as any other
    until(page, lambda: citation(page) == keys[1] and is_ready(page))
    saved(page)
    page.context.set_offline(True)
    press(page, key_of[model[keys[1]]])
    # The passage can be read; the model's label waits for the server, and so does the person's.
    until(page, lambda: citation(page) == keys[2])
    page.wait_for_selector("#saved[data-state=offline]")
    assert page.locator("[data-shown]").text_content() == "…"
    page.keyboard.press("1")
    assert citation(page) == keys[2]
    assert not is_ready(page)
    page.context.set_offline(False)
    until(page, lambda: is_ready(page))
    assert page.locator("[data-shown]").text_content() == model[keys[2]]
    other = next(label for label in LABELS if label != model[keys[2]])
    press(page, key_of[other])
    for key in keys[3:]:
        assert citation(page) == key
        press(page, key_of[model[key]])
    page.keyboard.press("Enter")
    until(page, lambda: sheet(page) != first)
    saved(page)
    expected = {key: model[key] for key in keys} | {keys[2]: other}
    assert stands(demo, first) == expected
    assert stands(demo, first, "shown") == {key: model[key] for key in keys}
    assert len(exposures(demo)) == 1
    # What was shown before stands there at once; what comes is shown when it is on screen.
    second = sheet(page)
    until(page, lambda: is_ready(page))
    saved(page)
    assert len(stands(demo, second, "shown")) == 1


def test_what_was_on_its_way_when_the_page_was_left_is_not_shown(
    open_page: OpenPage, demo: Demo, given: dict[str, str]
) -> None:
    page = open_page("ben", intercepts=True)
    open_screen(page, given["ben"])
    until(page, lambda: is_ready(page))
    saved(page)
    key, seen = sheet(page), set(stands(demo, sheet(page), "shown"))
    page.route("**/show/", lambda route: route.abort())
    asked = page.locator("#saved[data-state=offline]")
    for _ in range(20):  # on, past citations whose labels other tests have shown
        page.keyboard.press("j")
        page.wait_for_timeout(100)
        if asked.count():
            break
    asked.wait_for()
    page.on("dialog", lambda dialog: dialog.accept())
    page.reload()
    page.wait_for_selector("#main[data-ready]")
    page.unroute("**/show/")
    until(page, lambda: is_ready(page))
    saved(page)
    assert set(stands(demo, key, "shown")) == seen


@pytest.mark.parametrize("name", ["anna", "ben"])
def test_the_screen_is_accessible_and_does_not_scroll_sideways(
    open_page: OpenPage, given: dict[str, str], name: str
) -> None:
    page = open_page(name, bypass_csp=True)
    open_screen(page, given[name])
    press(page, "12")
    press(page, "k")
    assert grave(page) == []
    for key, dialog in (("f", "flag"), ("x", "cannot"), ("?", "keys"), ("g", "guidelines")):
        until(page, lambda: is_ready(page))
        page.keyboard.press(key)
        page.wait_for_selector(f"#{dialog}[open]")
        assert grave(page, "dialog[open]") == []
        page.keyboard.press("Escape")
        page.wait_for_selector("dialog[open]", state="detached")
    page.set_viewport_size({"width": 320, "height": 720})
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    assert grave(page) == []
    press(page, "uu")
    saved(page)


def test_an_organizer_looks_on(open_page: OpenPage, given: dict[str, str]) -> None:
    page = open_page("olga", bypass_csp=True)
    for name in ("anna", "ben"):
        page.goto(given[name])
        page.wait_for_selector(f"text=Read-only view of what {name} said under support")
        assert page.locator("td:text-is('full')").count() >= 1
        assert grave(page) == []
    assert page.locator("text=Mia's has no label").count() == 1
    page.set_viewport_size({"width": 320, "height": 720})
    assert page.evaluate("document.documentElement.scrollWidth") <= 320


def test_signed_off_it_can_be_read_and_no_longer_changed(
    open_page: OpenPage, demo: Demo, given: dict[str, str]
) -> None:
    page = open_page("anna")
    open_screen(page, given["anna"])
    while not page.locator("[data-act=signOff]").is_visible():
        press(page, "1")
        page.keyboard.press("Enter")
    saved(page)
    page.keyboard.press("s")
    page.wait_for_selector("#ending[open]")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Signed off: your labels of this topic can be read")
    with demo.database() as db:
        [(state, done, total)] = db.execute(
            "select state, done, total from work_task where id = ?", [task(given["anna"])]
        )
    assert (state, done) == ("finished", total)
    open_screen(page, given["anna"])
    assert "This topic is signed off" in str(page.locator("#closed").text_content())
    here = sheet(page), citation(page)
    page.keyboard.press("Enter")
    until(page, lambda: (sheet(page), citation(page)) != here)
    for key in "123lu":
        page.keyboard.press(key)
    page.wait_for_timeout(300)
    assert page.locator("#saved").text_content() == "Saved"
