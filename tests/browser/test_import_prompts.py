"""Published prompts in a browser: chosen, looked at, made a prompt set."""

from pathlib import Path

from tests.browser.axe import against_rules
from tests.browser.conftest import MARKS, OpenPage
from tests.browser.test_pages import badly_named, too_wide
from tests.llm.test_prompt_templates import CREATOR, GRADER

pytestmark = MARKS


def test_templates_are_looked_at_and_made_a_prompt_set(open_page: OpenPage, tmp_path: Path) -> None:
    (tmp_path / "creator_template.yaml").write_text(CREATOR)
    (tmp_path / "qrel_zeroshot_bing.txt").write_text(GRADER)
    page = open_page("olga")
    page.goto("/campaigns/demo/prompts/")
    page.get_by_role("link", name="Import published prompts").click()
    page.get_by_label("Template files").set_input_files(sorted(tmp_path.iterdir()))
    page.get_by_label("Name of the prompt set").fill("published")
    page.get_by_role("button", name="Check the files").click()
    page.get_by_text("creation as it will be stored").click()
    assert page.get_by_label("creation", exact=True).inner_text().startswith("# reply: list of nuggets")
    assert (against_rules(page), badly_named(page), too_wide(page)) == ([], [], [])
    page.get_by_role("button", name="Create the prompt set published").click()
    page.get_by_text("Prompt set published created. Choose it in a judge's settings.").wait_for()
    assert page.get_by_role("row", name="published").get_by_text("creator_template.yaml").is_visible()
    assert (against_rules(page), badly_named(page), too_wide(page)) == ([], [], [])
