"""What is done by mouse and keyboard in the editors of nuggets and questions."""

from playwright.sync_api import Page


def open_editor(page: Page, bank: int) -> None:
    page.goto(f"/nuggets/{bank}/")
    page.wait_for_selector("#main[data-ready]")


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def write(page: Page, text: str) -> None:
    """Enter a text, all at once: letter by letter, as tests of the keyboard type, takes long."""
    page.keyboard.insert_text(text)
    page.keyboard.press("Enter")
