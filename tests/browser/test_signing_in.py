"""Signing in as a person sees it: an app's codes and passkeys set up, asked for and removed; a one-time link."""

import re
import time

import pyotp
from playwright.sync_api import Page

from tests.browser.axe import against_rules
from tests.browser.conftest import MARKS, PASSWORD, Demo, OpenPage, sign_in, tab_to
from tests.browser.test_pages import badly_named, too_wide

pytestmark = MARKS


def give(page: Page, **fields: str) -> None:
    """Fill in a form and send it by keyboard."""
    for name, text in fields.items():
        tab_to(page, f"#id_{name}")
        page.keyboard.type(text)
    page.keyboard.press("Enter")


def faults(page: Page) -> list[str]:
    """Return what is wrong with a page for people who don't see it as others do."""
    return against_rules(page) + badly_named(page) + too_wide(page)


def confirm(page: Page, password: str = PASSWORD) -> None:
    page.wait_for_selector("h1:text('Confirm that it is you')")
    assert faults(page) == []
    give(page, password=password)


def test_an_app_set_up_asked_for_and_turned_off(open_page: OpenPage) -> None:
    page = open_page("anna", bypass_csp=True)
    page.goto("/security/")
    assert faults(page) == []
    page.click("text=Set up an app")
    confirm(page)
    page.wait_for_selector("h1:text('Set up an authenticator app')")
    assert faults(page) == []
    assert page.locator(".qr svg").bounding_box()["width"] >= 120, "large enough to be read by a phone"
    app = pyotp.TOTP(page.locator("#key").inner_text())
    give(page, code=app.now())
    page.wait_for_selector("h1:text('Your recovery codes')")
    assert "Your authenticator app is set up." in page.inner_text("main")
    assert faults(page) == []
    [first, *others] = page.locator("#recovery code").all_inner_texts()
    assert len({first, *others}) == 8

    page.context.clear_cookies()
    page.goto("/login/")
    assert faults(page) == []
    give(page, username="anna", password=PASSWORD)
    page.wait_for_selector("h1:text('Your code')")
    assert faults(page) == []
    page.goto("/answers/")
    assert "/login/" in page.url, "the password alone opens nothing"
    page.goto("/login/code/")
    give(page, code="nothing of the kind")
    page.wait_for_selector("#id_code[aria-invalid=true]")
    assert faults(page) == []
    give(page, code=first)
    page.wait_for_selector("h1:text('Home')")

    page.goto("/security/")
    assert "7 recovery codes left" in page.inner_text("main")
    assert faults(page) == []
    page.click("button:text('New recovery codes')")
    page.wait_for_selector("h1:text('Confirm that it is you')")
    page.click("text=Use a code instead")
    page.wait_for_selector("#id_code")
    assert faults(page) == []
    # The app's code of this half minute was used up when it was set up; the next one is taken already.
    give(page, code=app.at(int(time.time()) + 30))
    page.wait_for_selector("h1:text('Your recovery codes')")
    assert first not in page.inner_text("main")
    page.goto("/security/")
    page.click("text=Turn it off")
    page.wait_for_selector("h1:text('Turn the authenticator app off?')")
    assert faults(page) == []
    page.click("button:text('Turn it off')")
    page.wait_for_selector("text=Codes of your authenticator app are asked for no longer.")

    again = open_page()
    sign_in(again, "anna")


def test_a_passkey_added_used_and_removed(open_page: OpenPage, demo: Demo) -> None:
    address = demo.address.replace("127.0.0.1", "localhost")  # numbers have no passkeys
    page = open_page(base_url=address, bypass_csp=True)
    devices = page.context.new_cdp_session(page)
    devices.send("WebAuthn.enable")
    has = {"hasResidentKey": True, "hasUserVerification": True, "isUserVerified": True}
    device = devices.send(
        "WebAuthn.addVirtualAuthenticator",
        {"options": {"protocol": "ctap2", "transport": "internal", "automaticPresenceSimulation": True} | has},
    )["authenticatorId"]
    sign_in(page, "ben")
    page.goto("/security/")
    page.click("text=Add a passkey")
    confirm(page)
    page.wait_for_selector("h1:text('Add a passkey')")
    page.wait_for_selector("[data-passkey]:not([hidden])")
    assert faults(page) == []
    tab_to(page, "#id_name")
    page.keyboard.press("Control+a")
    page.keyboard.type("Laptop")
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:text('Your recovery codes')")
    page.goto("/security/")
    assert "Laptop" in page.inner_text("main")
    assert faults(page) == []
    [credential] = devices.send("WebAuthn.getCredentials", {"authenticatorId": device})["credentials"]
    assert (credential["rpId"], credential["isResidentCredential"]) == ("localhost", True)

    page.click("button:text('Sign out')")
    page.wait_for_selector("h1:text('Sign in')")
    tab_to(page, "[data-passkey] button")
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:text('Home')")
    assert "ben" in page.inner_text("header")

    page.click("button:text('Sign out')")
    give(page, username="ben", password=PASSWORD)
    page.wait_for_selector("h1:text('Your passkey')")
    assert faults(page) == []
    # A device that does not see who is there.
    devices.send("WebAuthn.setUserVerified", {"authenticatorId": device, "isUserVerified": False})
    page.click("[data-passkey] button")
    page.wait_for_selector("text=The passkey was not used. Try again.")
    assert faults(page) == []
    devices.send("WebAuthn.setUserVerified", {"authenticatorId": device, "isUserVerified": True})
    page.click("[data-passkey] button")
    page.wait_for_selector("h1:text('Home')")

    page.goto("/security/")
    page.click("text=Rename")
    page.wait_for_selector("h1:text('Confirm that it is you')")
    page.click("text=Use a passkey instead")
    page.wait_for_selector("[data-passkey]:not([hidden])")
    assert faults(page) == []
    page.click("[data-passkey] button")
    page.wait_for_selector("h1:text('Rename a passkey')")
    assert faults(page) == []
    page.fill("#id_name", "Old laptop")
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:text('Security')")
    page.click("text=Remove Old laptop")
    page.wait_for_selector("h1:text('Remove Old laptop?')")
    assert faults(page) == []
    page.click("button:text('Remove')")
    page.wait_for_selector("text=The passkey is removed.")


def test_without_scripts_all_but_passkeys_works(open_page: OpenPage) -> None:
    page = open_page(java_script_enabled=False)
    page.goto("/login/")
    assert not page.locator("button:text('Sign in with a passkey')").is_visible()
    page.fill("#id_username", "ben")
    page.fill("#id_password", PASSWORD)
    page.click("button:text-is('Sign in')")
    page.goto("/security/passkeys/add/")
    page.fill("#id_password", PASSWORD)
    page.click("button:text('Go on')")
    page.wait_for_selector("text=Passkeys need JavaScript")


def test_a_one_time_link(open_page: OpenPage) -> None:
    admin = open_page("admin", bypass_csp=True)
    admin.goto("/admin/accounts/person/?q=ben")
    admin.click("th a:text('ben')")
    admin.wait_for_selector("button:text('Make a sign-in link')")
    assert against_rules(admin) == []
    admin.click("button:text('Make a sign-in link')")
    admin.wait_for_selector("textarea[readonly]")
    assert against_rules(admin) == []
    address = admin.input_value("textarea[readonly]")
    page = open_page(bypass_csp=True)
    page.goto(address)
    page.wait_for_selector("h1:text('Set your password')")
    assert faults(page) == []
    assert re.search(r"/password/link/\w+/set-password/$", page.url)
    give(page, password1="another long password", password2="another long password")
    page.wait_for_selector("text=Your new password is set.")
    give(page, username="ben", password="another long password")
    page.wait_for_selector("h1:text('Home')")
    page.goto(address)
    page.wait_for_selector("h1:text('This link no longer works')")
    assert faults(page) == []
