"""Work on the labelling screens, given by the organizer's pages."""

import json
from pathlib import Path

from playwright.sync_api import Browser, Page

from tests.browser.conftest import Demo, give, open_guidelines, saved, work_of
from tests.browser.editors import open_editor, write

FACTS = ["Heat pumps move heat", "Efficiency falls in the cold", "Coils are defrosted", "Some need back-up heat"]
POOL = [f"bees#{number}" for number in range(6)]
# Labels of a model on demo-1, as a job or a file would bring them; of the first citation of one answer there is none.
MODEL = """
from assessor.campaigns.models import Answer, Campaign, Condition, Judge
from assessor.campaigns.passages import lacking_passages
from support.actions import add_sheets, sheet_row
from support.citations import LABELS, judged_citations

campaign = Campaign.objects.get(slug="demo")
judge = Judge.objects.create(kind="imported", name="Mia's", parameters={"by": "model"})
shown = Condition.objects.create(
    campaign=campaign, name="Mia's", kind="support", method="imported", judge=judge, protocol=campaign.protocol
)
rows = []
for answer in Answer.objects.filter(topic__qid="demo-1").exclude(run__task="control").order_by("run__tag"):
    asked = judged_citations(answer.sentences(), 1)
    lacking = lacking_passages(campaign, [(answer.run_id, docid) for docid in asked.values()])
    keys = [key for key, docid in asked.items() if (answer.run_id, docid) not in lacking]
    labels = {key: LABELS[place % 3] for place, key in enumerate(keys)}
    if not rows:
        labels.pop(keys[0])
    rows.append(sheet_row(
        condition=shown.pk, answer=answer.pk, judge=judge.pk, asked=asked,
        unresolved=[key for key in asked if key not in keys], labels=labels,
    ))
add_sheets(rows)
"""
ANNA_JOINS = """
from assessor.accounts.models import Person
from assessor.campaigns.actions import add_member
from assessor.campaigns.models import Campaign, Role

anna = Person.objects.get(username="anna")
add_member(campaign=Campaign.objects.get(slug="bees"), person=anna, role=Role.ASSESSOR, acting_user=None)
"""


def give_tasks(demo: Demo, browser: Browser, folder: Path) -> dict[str, dict[str, str]]:
    """Give tasks of each kind; return their addresses by kind and name. folder: for the files that are uploaded."""
    pages = {}
    for name in ("anna", "olga"):
        context = browser.new_context(base_url=demo.address)
        context.add_cookies(demo.cookies[name])
        pages[name] = context.new_page()
    addresses = {
        "support": _give_support(demo, pages["olga"]),
        "assignment": _give_assignment(demo, **pages),
        "relevance": _give_relevance(demo, **pages, folder=folder),
    }
    for page in pages.values():
        page.context.close()
    return addresses


def finish(page: Page) -> None:
    """Hand the nuggets of the editor in."""
    page.keyboard.press("f")
    page.wait_for_selector("#finish[open]")
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:text('Home')")


def _give_assignment(demo: Demo, anna: Page, olga: Page) -> dict[str, str]:
    """Anna makes the nuggets, the organizer gives her their assignment."""
    open_editor(anna, demo.bank(1))
    anna.keyboard.press("n")
    for fact in FACTS:
        write(anna, fact)
    anna.keyboard.press("Escape")
    for _ in FACTS:
        anna.keyboard.press("v")
        anna.keyboard.press("k")
    saved(anna)
    finish(anna)
    olga.goto("/campaigns/demo/conditions/new/")
    olga.check("[name=method][value=ManualAssign]")
    olga.fill("#id_name", "Manual/Manual")
    olga.select_option("#id_nuggets", label="ManualNuggets")
    olga.click("main form button")
    olga.wait_for_selector("h1:text('Plan')")
    give(olga, "Manual/Manual", "anna", "demo-1")
    return {"anna": work_of(olga, "Manual/Manual", "anna", "demo-1")}


def _give_support(demo: Demo, page: Page) -> dict[str, str]:
    """On demo-1: to Anna from scratch, as the demo comes; to Ben beside the model's labels."""
    demo.run(MODEL)
    page.goto("/campaigns/demo/conditions/new/")
    for method, asks in (("support from scratch", False), ("support post-edited", True)):
        page.check(f"[name=method][value='{method}']")
        assert page.locator("#id_shown_labels").is_visible() == asks
        assert page.locator("#id_shown, #id_nuggets, #id_given, #id_of").locator("visible=true").count() == 0
    page.select_option("#id_shown_labels", label="Mia's")
    page.click("main form button")
    page.wait_for_selector("h1:text('Plan')")
    give(page, "support post-edited", "ben", "demo-1")
    names = {"anna": "Support from scratch", "ben": "support post-edited"}
    return {person: work_of(page, name, person, "demo-1") for person, name in names.items()}


def _give_relevance(demo: Demo, anna: Page, olga: Page, folder: Path) -> dict[str, str]:
    """Anna's work on passages: from scratch on three topics, and post-editing."""
    texts = ["Bees dance to tell where flowers are." * (1 + number) for number in range(len(POOL))]
    segments = [
        {"docid": docid, "title": f"Bees {docid[-1]}", "headings": "Bees / Dances", "segment": text}
        for docid, text in zip(POOL, texts, strict=True)
    ]
    grades = "".join(f"bees 0 {docid} {rank % 4}\n" for rank, docid in enumerate(POOL))
    files = {
        "topics": "bees\twhy do bees dance\nwasps\twhy do wasps sting\nants\twhy do ants march\n",
        "segments": "".join(json.dumps(segment) + "\n" for segment in segments),
        "retrieval": "".join(
            f"{topic} Q0 {docid} {rank} {9 - rank} found\n"
            for topic in ("bees", "wasps", "ants")
            for rank, docid in enumerate(POOL)
        ),
        "qrels Mia": grades,
        "qrels Max": grades,
    }
    olga.goto("/new-campaign/")
    olga.fill("#id_name", "Bees")
    olga.click("main form button")
    olga.wait_for_url("**/campaigns/bees/setup/")
    demo.run(ANNA_JOINS)
    for name, content in files.items():
        kind, _, source = name.partition(" ")
        path = folder / kind
        path.write_text(content)
        olga.goto("/campaigns/bees/imports/")
        before = olga.locator("#imports .chip.ok").count()
        olga.set_input_files("#id_uploads", path)
        if source:
            olga.get_by_label("Source of the grades").fill(source)
            olga.get_by_label("Made by").select_option("model")
            olga.click("#held button.go")
        olga.locator("#imports .chip.ok").nth(before).wait_for(timeout=20_000)
    addresses = {}
    for name, method, shown in [
        ("Scratch", "manual relevance", ""),
        ("Edited", "relevance post-edited", "Mia"),
        ("Queue", "relevance post-edited", "Max"),
    ]:
        olga.goto("/campaigns/bees/conditions/new/")
        olga.check(f"[name=method][value='{method}']")
        olga.fill("#id_name", name)
        assert not olga.locator("#id_qrels_source").is_visible()
        assert olga.locator("#id_shown").is_visible() == bool(shown)
        if shown:
            olga.select_option("#id_shown", label=f"{shown}, 0 to 3")
        if name == "Queue":
            olga.select_option("#id_given", "drawn")
        olga.click("main form button")
        olga.wait_for_selector("h1:text('Plan')")
        topics = ["bees", "wasps", "ants"] if name == "Scratch" else ["bees"]
        give(olga, name, "anna", *topics, campaign="bees", is_meant=name != "Scratch")
        with demo.database() as db:
            query = (
                "select task.id from work_task task join campaigns_topic topic on topic.id = task.topic_id"
                " join campaigns_condition condition on condition.id = task.condition_id"
                " where condition.name = ? and qid = ?"
            )
            for topic in topics:
                [[task]] = db.execute(query, [name, topic])
                addresses[name if topic == "bees" else topic] = f"/relevance/{task}/"
    open_guidelines(anna, addresses["Scratch"])
    return addresses
