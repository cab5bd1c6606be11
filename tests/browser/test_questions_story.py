"""Questions from an empty condition to a comparison: people write and edit them, people and a model grade by them."""

import csv
import io
import json
from collections import Counter
from itertools import cycle
from pathlib import Path

from playwright.sync_api import Locator, Page, expect
from scipy.stats import kendalltau

from tests.browser.conftest import MARKS, Demo, OpenPage, give, open_guidelines, saved
from tests.browser.editors import press, write

pytestmark = MARKS

CAMPAIGN = "/campaigns/demo"
BANKS = {"ManualQuestions": ("anna", "demo-4"), "QuestionDrafts by rehearsal": ("ben", "demo-3")}
# Of the questions of one answer after another: each answer gets other grades than the last.
KEYS = "5320410"
GRADES = range(6)


def make_condition(page: Page, method: str, **fields: str) -> None:
    page.goto(f"{CAMPAIGN}/conditions/new/")
    page.check(f"[name=method][value={method}]")
    for field, label in fields.items():
        page.select_option(f"#id_{field}", label=label)
    page.click("text=Create condition")
    page.wait_for_selector("h1:text('Plan')")


def launch(page: Page, topics: int) -> None:
    """Launch the job that the form has, on so many topics, and wait for its end."""
    expect(page.locator("#estimate dt:text-is('Topics') + dd")).to_have_text(str(topics))
    page.click("button[name=launch]")
    expect(page.locator("h1 .chip").first).to_have_text("done", timeout=60_000)


def row_of(page: Page, bank: str) -> Locator:
    page.goto(f"{CAMPAIGN}/conditions/")
    return page.locator("table.matrix tr", has=page.get_by_role("rowheader", name=bank)).first


def open_work(page: Page, title: str) -> None:
    page.goto("/")
    address = page.get_by_role("link", name=title).first.get_attribute("href")
    assert address is not None
    open_guidelines(page, address)


def hand_in(page: Page, told: str) -> None:
    saved(page)
    press(page, "f")
    expect(page.locator("#finish[open]")).to_contain_text(told)
    press(page, "Enter")
    page.wait_for_selector("text=the questions are handed in")


def write_questions(page: Page) -> None:
    """Three questions, each with a gold answer; the first one's has a reference, and the last is a part of another."""
    open_work(page, "Question nuggets")
    for place, (question, answer) in enumerate(
        [
            ("How much parking is built afterwards?", "less than before"),
            ("What happens to rents?", "they go on rising"),
            ("In which places do rents fall?", "in none"),
        ]
    ):
        press(page, "n")
        write(page, question)
        press(page, "Escape", "v", "a")
        write(page, answer)
        press(page, "Escape")
        if place == 0:
            press(page, "p", "Shift+J", "e")
            expect(page.locator("#hint")).to_contain_text("Reference of a gold answer of question 1: ¶1")
    press(page, "l", "j", "j", ">")
    expect(page.locator(".nugget").last).to_have_attribute("data-level", "2")
    hand_in(page, "3 questions: 3 vital, 0 okay. 2 with a gold answer that has no reference.")


def edit_drafts(page: Page) -> None:
    """Keep one draft, merge the next two, and delete all others."""
    open_work(page, "Question nuggets")
    drafts = page.locator("#undecided .nugget").count()
    assert drafts > 3
    press(page, "l", "v", "j", "x", "j", "x", "m", "Control+a")
    write(page, "What became of the canals, and why?")
    saved(page)
    expect(page.locator("#decided .nugget")).to_have_count(2)
    for left in range(drafts - 4, -1, -1):
        press(page, "d")
        expect(page.locator("#undecided .nugget")).to_have_count(left)
    saved(page)
    press(page, "f")
    page.locator("#findings a", has_text="neither vital nor okay").click()
    press(page, "o")
    hand_in(page, "2 questions: 1 vital, 1 okay. 2 without a gold answer.")


def grade(page: Page, demo: Demo) -> dict[str, list[int]]:
    """Grade all answers by keyboard and sign off; return the grades of each run."""
    open_work(page, "Question grading")
    keys = cycle(KEYS)
    given: dict[str, list[int]] = {}
    answers = int(page.locator("#progress").inner_text().split(" of ")[1].split()[0])
    for number in range(1, answers + 1):
        expect(page.locator("#progress")).to_contain_text(f"Answer {number} of")
        answer = page.locator(".answer:visible").get_attribute("data-sheet")
        grades = [next(keys) for _ in range(page.locator(".fact:visible").count())]
        press(page, *grades)
        expect(page.locator("#hint")).to_contain_text(f"Answer {number} is done")
        press(page, "Enter")
        with demo.database() as db:
            query = "select tag from campaigns_run run join campaigns_answer answer on answer.run_id = run.id"
            query += " join assignment_answersheet sheet on sheet.answer_id = answer.id where sheet.id = ?"
            [[run]] = db.execute(query, [answer])
        given[run] = [int(one) for one in grades]
    saved(page)
    press(page, "s")
    page.wait_for_selector("#ending[open]")
    press(page, "Enter")
    page.wait_for_selector("text=Signed off: your labels of this topic can be read")
    return given


def download(page: Page, link: Locator) -> str:
    with page.expect_download() as started:
        link.click()
    return Path(started.value.path()).read_text(encoding="utf-8")


def scores(page: Page, condition: str) -> dict[str, dict[str, float]]:
    """Return the score table of a condition as its file has it, by run."""
    page.goto(f"{CAMPAIGN}/scores/")
    page.get_by_role("navigation", name="Conditions").get_by_role("link", name=condition, exact=True).click()
    page.wait_for_selector(f"#boards p b:has-text('{condition}')")
    page.get_by_role("button", name="Download").click()
    rows = csv.DictReader(io.StringIO(download(page, page.get_by_label(f"{condition} as CSV", exact=True))))
    keys = ("NUGGET_COVERAGE", "NUGGET_COVERAGE_3", "AVG_GRADE", "MAX_GRADE", "COVERED_COUNT")
    return {row["run_id"]: {key: float(row[key]) for key in keys} for row in rows if "." in row["run_id"]}


def implied(grades: list[int]) -> dict[str, float]:
    """Return what the scores of a run must be, of which one answer was graded."""
    at_least = {least: sum(grade >= least for grade in grades) for least in GRADES}
    return {
        "NUGGET_COVERAGE": round(at_least[4] / len(grades), 10),
        "NUGGET_COVERAGE_3": round(at_least[3] / len(grades), 10),
        "AVG_GRADE": round(sum(grades) / len(grades), 10),
        "MAX_GRADE": max(grades),
        "COVERED_COUNT": at_least[4],
    }


def grades_in_file(page: Page, condition: str) -> dict[str, list[int]]:
    """Return a model's grades by run, as the export has them."""
    page.goto(f"{CAMPAIGN}/exports/")
    text = download(page, page.get_by_label(f"Question grades of {condition}, JSONL", exact=True))
    found: dict[str, list[int]] = {}
    for line in map(json.loads, text.splitlines()):
        found.setdefault(line["run_id"], []).append(int(line["grade"]))
    return found


def kappa(matrix: list[list[int]], power: int) -> float:
    """Return Cohen's weighted kappa; power 1 is linear, 2 quadratic."""
    total = sum(map(sum, matrix))
    rows, columns = [sum(row) for row in matrix], [sum(column) for column in zip(*matrix, strict=True)]
    weigh = {(a, b): abs(a - b) ** power for a in GRADES for b in GRADES}
    observed = sum(weight * matrix[a][b] for (a, b), weight in weigh.items())
    return 1 - observed / sum(weight * rows[a] * columns[b] / total for (a, b), weight in weigh.items())


def test_people_and_a_model_grade_by_questions(open_page: OpenPage, demo: Demo) -> None:
    olga = open_page("olga")
    olga.goto(f"{CAMPAIGN}/exports/")
    expect(olga.locator("main")).not_to_contain_text("Grades of the questions of each answer")
    make_condition(olga, "ManualQuestions", qrels_source="People, 0 to 3")
    olga.goto(f"{CAMPAIGN}/jobs/new/?kind=QuestionDrafts")
    olga.click("text=Paste topic ids")
    olga.fill("#id_topics", "demo-3")
    launch(olga, 1)
    for bank, (person, topic) in BANKS.items():
        row_of(olga, bank).get_by_role("link", name="Have people label answers by the questions").click()
        expect(olga.locator("#id_questions")).to_have_value(olga.url.rpartition("=")[2])
        olga.click("text=Create condition")
        for condition in (bank, f"{bank}/Manual"):
            give(olga, condition, person, topic)

    anna, ben = open_page("anna"), open_page("ben")
    write_questions(anna)
    edit_drafts(ben)
    given = {"ManualQuestions": grade(anna, demo), "QuestionDrafts by rehearsal": grade(ben, demo)}

    for bank, by_people in given.items():
        row_of(olga, bank).get_by_role("link", name="Have a model label answers by the questions").click()
        expect(olga.locator("label[for=id_nuggets]")).to_have_text("Questions")
        launch(olga, 1)
        people, model = f"{bank}/Manual", f"{bank}/Auto by rehearsal"
        assert scores(olga, people) == {run: implied(grades) for run, grades in by_people.items()}
        by_model = grades_in_file(olga, model)
        by_model = {run: by_model[run] for run in by_people}  # without control runs
        table = scores(olga, model)
        assert {run: table[run] for run in by_people} == {run: implied(grades) for run, grades in by_model.items()}

        olga.goto(f"{CAMPAIGN}/comparisons/")
        olga.select_option("#id_first", label=f"{people} (grading)")
        olga.select_option("#id_second", label=f"{model} (grading)")
        olga.click("button:text-is('Compare')")
        expect(olga.locator("#described")).to_have_text("Questions and labels", timeout=60_000)
        olga.get_by_role("button", name="Download").click()
        result = json.loads(download(olga, olga.locator("a:text-is('comparison.json')")))
        labels, matrix = result["labels"], result["labels"]["matrix"]
        counts = Counter(grade for grades in by_people.values() for grade in grades)
        assert [sum(row) for row in matrix] == [counts[grade] for grade in GRADES]
        counts = Counter(grade for grades in by_model.values() for grade in grades)
        assert [sum(column) for column in zip(*matrix, strict=True)] == [counts[grade] for grade in GRADES]
        for power, name in ((1, "linear"), (2, "quadratic")):
            assert abs(labels[name]["value"] - kappa(matrix, power)) < 1e-9
        assert -1 <= labels["alpha_ordinal"]["value"] <= 1
        quadratic = olga.get_by_role("row", name="κ quadratic")
        expect(quadratic.last).to_contain_text(f"{labels['quadratic']['value']:.3f}")
        means = [[implied(by[run])["AVG_GRADE"] for run in by_people] for by in (by_people, by_model)]
        tau = result["scores"]["measures"]["AVG_GRADE"]["statistics"]["tau_run"]["value"]
        assert abs(tau - kendalltau(*means).statistic) < 1e-9

    olga.goto(f"{CAMPAIGN}/exports/")
    expect(olga.locator("main")).to_contain_text("Grades of the questions of each answer")
