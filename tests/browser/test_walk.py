"""The demo from sign-in to the exported file, with the keyboard alone."""

import json

from playwright.sync_api import expect

from tests.browser.conftest import MARKS, OpenPage, saved, tab_to

pytestmark = MARKS

NUGGETS = [
    ("Heat pumps move heat rather than make it", "v"),
    ("Efficiency falls as it gets colder outside", "o"),
    ("Frost on the coil is melted by running in reverse", "v"),
]


def test_an_assessor_makes_a_bank_and_an_organizer_exports_it(open_page: OpenPage) -> None:
    page = open_page("anna")
    page.goto("/")
    page.keyboard.press("c")
    page.wait_for_selector(".workbench")
    page.wait_for_selector("#main[data-ready]")
    assert page.locator(".passage").count() == 13  # of grade 1 and more, of the topic's 20 judged ones
    page.keyboard.press("n")
    for text, _ in NUGGETS:
        page.keyboard.type(text)
        page.keyboard.press("Enter")
    page.keyboard.press("Escape")  # to the list, at its last nugget
    for _, key in reversed(NUGGETS[1:]):
        page.keyboard.press(key)
        page.keyboard.press("k")
    saved(page)

    page.keyboard.press("f")
    page.wait_for_selector("text=Nugget 1 is neither vital nor okay yet.")
    assert page.evaluate("document.activeElement.querySelector('.place').textContent") == "1"
    page.keyboard.press(NUGGETS[0][1])

    # Edit in place, reorder, delete and undo.
    page.keyboard.press("r")
    page.keyboard.press("End")
    page.keyboard.type(", mostly")
    page.keyboard.press("Enter")
    page.keyboard.press("Alt+ArrowDown")
    page.keyboard.press("d")
    saved(page)
    assert page.locator(".nugget").count() == 2
    page.keyboard.press("Control+z")
    page.wait_for_selector("#nugget-list .nugget >> nth=2")
    saved(page)

    # A nugget made from a passage remembers it.
    page.keyboard.press("p")
    page.keyboard.press("p")
    docid = page.evaluate("document.activeElement.dataset.docid")
    page.keyboard.press("n")
    page.keyboard.type("Cold air still holds heat")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    page.keyboard.press("v")
    saved(page)
    evidence = page.locator(".nugget").last.evaluate("(row) => row.nugget.evidence")
    assert evidence == [{"docid": docid, "start": None, "end": None}]

    # The guidelines are one key away.
    page.keyboard.press("g")
    page.wait_for_selector("#guidelines[open] >> text=What a nugget is")
    page.keyboard.press("Escape")
    page.keyboard.press("f")
    page.wait_for_selector("#finish[open] >> text=4 nuggets: 3 vital, 1 okay.")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=the nuggets are handed in")
    # The topic is still there: its support is to be judged too.
    row = page.locator("section[aria-labelledby=work] .topics > li:has-text('how do heat pumps work in cold winters')")
    assert row.locator("li:has-text('nuggets 4'):has(.is-read:has-text('finished'))").count() == 1
    assert row.locator("li:has-text('citations'):not(:has(.is-read))").count() == 1

    organizer = open_page("olga")
    organizer.goto("/")
    organizer.wait_for_selector("h1:text('Demo campaign')")
    tab_to(organizer, "#nav a[href$='/exports/']")
    organizer.keyboard.press("Enter")
    organizer.wait_for_selector("h1:text('Exports')")
    address = organizer.get_by_role("link", name="Nuggets of ManualNuggets, JSONL", exact=True).get_attribute("href")
    tab_to(organizer, f"a[href='{address}']", most=100)
    with organizer.expect_download() as download:
        organizer.keyboard.press("Enter")
    [bank] = [json.loads(line) for line in download.value.path().read_text().splitlines()]
    assert bank == {
        "query": "how do heat pumps work in cold winters",
        "qid": "demo-1",
        "nuggets": [
            {"text": "Efficiency falls as it gets colder outside", "importance": "okay"},
            {"text": "Heat pumps move heat rather than make it, mostly", "importance": "vital"},
            {"text": "Frost on the coil is melted by running in reverse", "importance": "vital"},
            {"text": "Cold air still holds heat", "importance": "vital"},
        ],
    }


def test_a_file_is_asked_about_as_its_kind_needs(open_page: OpenPage, tmp_path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("what I think\n")
    page = open_page("olga")
    page.goto("/campaigns/demo/imports/")
    page.set_input_files("#id_uploads", path)
    select = page.locator("#held").get_by_label("Holds")
    expect(select).to_be_visible()
    kinds = select.locator("option").evaluate_all("options => options.map(option => option.value)")
    asked = {}
    for kind in filter(None, kinds):
        select.evaluate("select => { select.dataset.before = ''; }")
        select.select_option(kind)
        expect(page.locator("#held select[data-before]")).to_have_count(0)  # the form that the choice brings is there
        expect(page.locator("#held option:checked").first).to_have_attribute("value", kind)
        fields = page.locator("#held .field [id]:is(input, select)").evaluate_all("fields => fields.map(f => f.name)")
        asked[kind] = " ".join(sorted(name.partition("-")[2] for name in fields if not name.endswith("-kind")))
    page.get_by_label("Leave out notes.txt").click()
    expect(page.locator("#held")).to_have_count(0)
    assert asked == {
        "topics": "",
        "segments": "by invalid_labels source",
        "qrels": "by invalid_labels source",
        "retrieval": "",
        "runs": "document_texts",
        "run_list": "",
        "nuggets": "by condition invalid_labels",
        "questions": "by condition invalid_labels",
        "drafts": "condition invalid_labels maker source",
        "former_nuggets": "by condition edition edition_date invalid_labels source",
        "assignments": "by condition invalid_labels nuggets",
        "passages": "",
        "question_grades": "by condition nuggets",
        "argue_judgments": "by condition nuggets",
        "preferences": "by condition",
        "support": "by condition invalid_labels",
        "plan": "",
    }


def test_an_organizer_imports_makes_a_condition_and_plans(open_page: OpenPage, tmp_path) -> None:
    files = {
        "topics": "x-1\twhy is the sky blue\n",
        "segments": json.dumps({"docid": "sky#1", "title": "Sky", "segment": "Air scatters blue light most."}) + "\n",
        "qrels": "x-1 0 sky#1 3\n",
    }
    page = open_page("olga")
    page.goto("/new-campaign/")
    tab_to(page, "#id_name")
    page.keyboard.type("Second")
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:text('Set up Second')")
    for kind, content in files.items():
        path = tmp_path / kind
        path.write_text(content)
        page.goto("/campaigns/second/imports/")
        before = page.locator("#imports .chip.ok").count()
        page.set_input_files("#id_uploads", path)  # the system's own file dialog is not the page's
        if kind == "qrels":
            tab_to(page, "#held [name$=source]")
            page.keyboard.type("Assessors")
            page.keyboard.press("Tab")
            page.keyboard.press("p")  # people
            tab_to(page, "#held button.go")
            page.keyboard.press("Enter")
        page.locator("#imports .chip.ok").nth(before).wait_for(timeout=20_000)
    page.goto("/campaigns/second/people/")
    tab_to(page, "#id_name")
    page.keyboard.type("ben")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=ben has an account here")
    assessor = open_page("ben")
    assessor.goto("/")
    tab_to(assessor, "[name=accepted][value=yes]")
    assessor.keyboard.press("Enter")
    assessor.wait_for_selector("text=You are an assessor of Second now.")
    page.goto("/campaigns/second/conditions/new/")
    tab_to(page, "#id_qrels_source")
    page.keyboard.press("A")
    page.keyboard.press("Enter")
    tab_to(page, "main form button")
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:text('Plan')")
    tab_to(page, "[data-choose]", most=100)
    page.keyboard.press("Enter")
    tab_to(page, ".bulk .go", most=100)
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:text('Give 1 topic')")
    tab_to(page, "[name=condition]")
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    page.keyboard.press("b")
    tab_to(page, "main form button.go")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=ben has 1 topic under ManualNuggets")
    assessor.goto("/")
    assert assessor.locator("h3:has-text('why is the sky blue')").count() == 1
