"""What is done by mouse and keyboard in the editors of nuggets and questions."""

from playwright.sync_api import Page


def open_editor(page: Page, bank: int) -> None:
    page.goto(f"/nuggets/{bank}/")
    page.wait_for_selector("#main[data-ready]")


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def write(page: Page, text: str) -> None:
    page.keyboard.type(text)
    page.keyboard.press("Enter")
