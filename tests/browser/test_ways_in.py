"""Coming in and leaving, on an installation with a mail server and a provider of sign-ins: both are real, and ours."""

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.accounts.provider import running_provider
from tests.browser.conftest import MARKS, take_block
from tests.browser.installation import ADMIN, PASSWORD, Installation
from tests.llm.house import wait_until
from tests.mail_server import MailServer, mail_server

pytestmark = MARKS
PEOPLE = "/campaigns/study/people/"


def next_link(mailbox: MailServer) -> str:
    """Return the link of the next mail."""
    wait_until(lambda: mailbox.mails, "a mail comes", 60)
    [found] = re.findall(r"http://\S+", mailbox.mails.pop(0).get_content())
    return str(found)


@pytest.fixture(scope="module")
def mailbox() -> Iterator[MailServer]:
    with mail_server() as mailbox:
        yield mailbox


@pytest.fixture(scope="module")
def provider() -> Iterator[str]:
    with running_provider() as address:
        yield address


@pytest.fixture(scope="module")
def installation(
    tmp_path_factory: pytest.TempPathFactory, mailbox: MailServer, provider: str
) -> Iterator[Installation]:
    with Installation(
        tmp_path_factory,
        take_block()[0],
        has_jobs=False,
        ASSAY_MAIL=f"smtp://127.0.0.1:{mailbox.port}?from=assay@example.org",
        ASSAY_SSO_ISSUER=provider,
        ASSAY_SSO_NAME="NIST Login",
        ASSAY_SSO_CLIENT_ID="assay",
        ASSAY_SSO_CLIENT_SECRET="secret",
    ) as installation:
        yield installation


@pytest.fixture
def new_page(installation: Installation, browser: Browser) -> Iterator[Callable[[], Page]]:
    """Open a browser in which nobody has signed in."""
    contexts = []

    def do() -> Page:
        contexts.append(browser.new_context(base_url=installation.address, viewport={"width": 1280, "height": 720}))
        return contexts[-1].new_page()

    yield do
    for context in contexts:
        context.close()


def shot(page: Page, name: str) -> None:
    """Keep a picture where a folder for them is named."""
    if folder := os.environ.get("ASSAY_TOUR"):
        page.screenshot(path=Path(folder) / f"ways-{name}.png", full_page=True)


def sign_in(page: Page, name: str, password: str) -> None:
    page.goto("/login/")
    page.fill("#id_username", name)
    page.fill("#id_password", password)
    with page.expect_navigation():
        page.keyboard.press("Enter")


def invite(page: Page, name: str, address: str = "", role: str = "assessor") -> None:
    page.goto(PEOPLE)
    page.fill("#id_name", name)
    page.fill("#id_email", address)
    page.select_option("#id_role", role)
    page.click("button:text-is('Invite')")


def set_password(page: Page, link: str, password: str) -> None:
    page.goto(link)
    page.fill("#id_password1", password)
    page.fill("#id_password2", password)
    page.click("button:text-is('Set password')")
    expect(page.locator("main")).to_contain_text("Your new password is set.")


def at_provider(page: Page, sub: str) -> None:
    """Sign in where a page led to."""
    page.wait_for_url("**/oauth2/authorize**")
    page.fill("input[name=sub]", sub)
    page.click("form >> button >> nth=0")


def test_every_way(installation: Installation, new_page: Callable[[], Page], mailbox: MailServer) -> None:
    admin = new_page()
    sign_in(admin, ADMIN, PASSWORD)
    admin.click("main >> text=New campaign")
    admin.fill("#id_name", "Study")
    admin.click("main form button")

    # Invited by mail; whoever uses the link sets the password, once.
    invite(admin, "anna", "anna@example.org")
    expect(admin.locator("main")).to_contain_text("It was mailed to anna@example.org too.")
    shot(admin, "invited")
    anna, link = new_page(), next_link(mailbox)
    set_password(anna, link, "a first long password")
    sign_in(anna, "anna", "a first long password")
    anna.wait_for_selector("h1:text('Home')")
    again = new_page()
    again.goto(link)
    expect(again.locator("h1")).to_have_text("This link no longer works")
    shot(again, "link-over")

    # Forgotten: a mail to the address that Anna confirmed, whose link ends the sessions of before.
    anna.goto("/security/")
    anna.click("text=Change your mail address")
    anna.fill("#id_password", "a first long password")
    anna.keyboard.press("Enter")
    anna.fill("#id_email", "anna@example.org")
    shot(anna, "mail-address")
    anna.keyboard.press("Enter")
    expect(anna.locator("main")).to_contain_text("Open the link that was mailed to anna@example.org")
    anna.goto(next_link(mailbox))
    shot(anna, "confirm-address")
    anna.click("button:text-is('Confirm')")
    expect(anna.locator("main")).to_contain_text("Your mail address is confirmed.")
    forgetful = new_page()
    forgetful.goto("/login/")
    shot(forgetful, "sign-in")
    forgetful.click("text=Forgot your password?")
    forgetful.fill("#id_email", "anna@example.org")
    shot(forgetful, "forgotten")
    forgetful.keyboard.press("Enter")
    expect(forgetful.locator("main")).to_contain_text("a link is on its way there")
    set_password(forgetful, next_link(mailbox), "a second long password")
    anna.goto("/")
    assert "/login/" in anna.url, "a session of before the reset"

    # Five wrong passwords; then the right one waits, too.
    for _ in range(6):
        sign_in(anna, "anna", "wrong")
    sign_in(anna, "anna", "a second long password")
    expect(anna.locator("main")).to_contain_text("Too many wrong passwords")
    shot(anna, "locked-out")

    # Invited to the provider: who comes by the link is linked, and signs in there from then on.
    invite(admin, "ben")
    ben, link = new_page(), admin.get_by_label("Link").input_value()
    ben.goto(link)
    shot(ben, "link")
    ben.click("button:text('Use NIST Login')")
    at_provider(ben, "kim")
    ben.wait_for_selector("h1:text('Home')")
    ben.goto("/security/")
    shot(ben, "security")
    ben.click("text=Sign out")
    ben.wait_for_selector("h1:text('Sign in')")
    ben.click("text=Sign in with NIST Login")
    at_provider(ben, "kim")
    ben.wait_for_selector("h1:text('Home')")
    stranger = new_page()
    stranger.goto("/login/")
    stranger.click("text=Sign in with NIST Login")
    at_provider(stranger, "mallory")
    expect(stranger.locator("h1")).to_have_text("Nobody here is linked to your account")
    shot(stranger, "not-known")
    stranger.goto("/")
    assert "/login/" in stranger.url, "an account that nobody here is linked to"

    # Somebody with an account is asked, and says yes; taken off, they open nothing.
    made = "Person.objects.create_user('carla', password='a long password of hers')"
    installation.manage("shell", "-c", f"from assessor.accounts.models import Person; {made}")
    invite(admin, "carla", role="organizer")
    expect(admin.locator("main")).to_contain_text("carla has an account here")
    carla = new_page()
    sign_in(carla, "carla", "a long password of hers")
    shot(carla, "asked")
    carla.click("button:text-is('Accept')")
    carla.goto(PEOPLE)
    expect(carla.locator("h1")).to_have_text("People")
    shot(carla, "people")
    carla.click("a:has-text('anna')")
    shot(carla, "person")
    admin.goto(PEOPLE)
    admin.click("a:has-text('carla')")
    shot(admin, "organizer")
    admin.click("button:text('Take off this campaign')")
    assert carla.goto(PEOPLE).status == 404

    # Made inactive: out at once, and in no longer.
    admin.goto(PEOPLE)
    admin.click("a:has-text('ben')")
    admin.click("button:text('Make inactive')")
    ben.goto("/")
    ben.wait_for_selector("h1:text('Sign in')")
    ben.click("text=Sign in with NIST Login")
    at_provider(ben, "kim")
    expect(ben.locator("main")).to_contain_text("has made you inactive")
