"""Killed for real: SIGKILL of web and worker while people edit and files come in."""

import os
import signal
import socket
import time
from pathlib import Path

from playwright.sync_api import expect

from tests.browser.conftest import MARKS, Demo, OpenPage, saved
from tests.browser.editors import open_editor, write
from tests.browser.test_editor import rows

pytestmark = MARKS

TOPICS = 20_000


def texts(demo: Demo, number: int) -> list[str]:
    """Return the texts on the list of demo-`number`, in order, as the database has them."""
    return [row["text"] for row in rows(demo, number)]


def running_import(demo: Demo) -> str:
    """Wait until an import runs; return what its owner says: host, process, start."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        with demo.database() as db:
            owners = db.execute("select owner from campaigns_import where state = 'running'").fetchall()
        if owners:
            return owners[0][0]
        time.sleep(0.02)
    raise AssertionError("no import began to run")


def test_killed_at_any_moment_of_typing_nothing_is_lost_or_doubled(open_page: OpenPage, demo: Demo) -> None:
    page = open_page("anna")
    open_editor(page, demo.bank(2))
    page.keyboard.press("n")
    for round_number in range(2):
        for number in range(8):
            write(page, f"Round {round_number} nugget {number}")
            if number == 4:
                demo.kill()
        # Typed, not yet entered: kept in the browser too.
        page.keyboard.type(f"half {round_number}")
        demo.start()
        page.reload()
        page.wait_for_selector("#saved[data-state=saved]:text-is('Saved')", timeout=120_000)
        assert page.locator("#new-text").input_value() == f"half {round_number}"
        page.locator("#new-text").fill("")  # and goes on typing there
    assert texts(demo, 2) == [f"Round {r} nugget {n}" for r in range(2) for n in range(8)]


def test_what_was_saved_survives_and_what_was_not_is_done_after_the_start(
    open_page: OpenPage, demo: Demo, tmp_path: Path
) -> None:
    """Of an editor, the rest is sent again; of an import killed half-way nothing is visible, until it is done anew."""
    anna, olga = open_page("anna"), open_page("olga")
    open_editor(anna, demo.bank(3))
    anna.keyboard.press("n")
    for number in range(5):
        write(anna, f"Saved before the kill {number}")
    saved(anna)

    file = tmp_path / "many.tsv"
    file.write_text("".join(f"many-{n}\twhat is number {n}\n" for n in range(TOPICS)))
    olga.goto("/campaigns/demo/imports/")
    olga.set_input_files("#id_uploads", file)
    olga.click("#imports a:has-text('many.tsv')")
    olga.wait_for_selector("h1:has-text('many.tsv')")
    number = int(olga.url.rstrip("/").split("/")[-1])

    def state() -> tuple[str, int]:
        with demo.database() as db:
            [row] = db.execute(
                "select state, (select count(*) from campaigns_topic where import_record_id = i.id)"
                " from campaigns_import i where id = ?",
                [number],
            )
        return row

    until = time.monotonic() + 60
    while state()[1] < 2_000:
        assert time.monotonic() < until
        assert state()[0] in ("waiting", "running")
        time.sleep(0.02)
    demo.kill()
    left_state, left_rows = state()
    assert left_state == "running"
    assert 2_000 <= left_rows < TOPICS
    assert texts(demo, 3) == [f"Saved before the kill {n}" for n in range(5)]

    for n in range(5):
        write(anna, f"Typed while it was down {n}")
    anna.wait_for_selector("#saved[data-state=offline]")
    assert "5 changes kept in this browser" in anna.locator("#saved").text_content()

    demo.start()
    olga.goto("/campaigns/demo/")
    expect(olga.locator(".path p").first).to_contain_text("6 topics,")  # the demo's own, no half import
    anna.wait_for_selector("#saved[data-state=saved]:text-is('Saved')", timeout=120_000)
    wanted = [f"Saved before the kill {n}" for n in range(5)] + [f"Typed while it was down {n}" for n in range(5)]
    assert texts(demo, 3) == wanted
    anna.reload()
    assert anna.locator(".nugget textarea.text").evaluate_all("fields => fields.map(field => field.value)") == wanted

    olga.goto(f"/campaigns/demo/imports/{number}/")
    olga.wait_for_selector("#report >> text=Everything is imported and visible.", timeout=120_000)
    assert state() == ("done", TOPICS)
    olga.goto("/campaigns/demo/")
    expect(olga.locator(".path p").first).to_contain_text(f"{TOPICS + 6:,} topics,")
    assert list((demo.data / "uploads").iterdir()) == []


def test_an_import_whose_worker_process_alone_is_killed_is_taken_up_by_the_next(
    open_page: OpenPage, demo: Demo, tmp_path: Path
) -> None:
    file = tmp_path / "more.tsv"
    file.write_text("".join(f"more-{n}\twhat is number {n}\n" for n in range(TOPICS)))
    page = open_page("olga")
    page.goto("/campaigns/demo/imports/")
    page.set_input_files("#id_uploads", file)
    page.click("#imports a:has-text('more.tsv')")
    page.wait_for_selector("h1:has-text('more.tsv')")
    owner = running_import(demo)
    os.kill(int(owner.split(" ")[1]), signal.SIGKILL)
    page.wait_for_selector("#report >> text=Everything is imported and visible.", timeout=120_000)
    with demo.database() as db:
        [row] = db.execute("select attempts, state from campaigns_import order by id desc limit 1")
    assert row == (2, "done")


def test_an_upload_that_breaks_off_leaves_nothing(open_page: OpenPage, demo: Demo) -> None:
    page = open_page("olga")
    page.goto("/campaigns/demo/imports/")
    before = page.locator("tbody tr").count()
    cookies = {cookie["name"]: cookie["value"] for cookie in page.context.cookies()}
    body = (
        b'--b\r\nContent-Disposition: form-data; name="csrfmiddlewaretoken"\r\n\r\n'
        + cookies["csrftoken"].encode()
        + b'\r\n--b\r\nContent-Disposition: form-data; name="kind"\r\n\r\ntopics\r\n--b\r\n'
        b'Content-Disposition: form-data; name="uploads"; filename="x.tsv"\r\n\r\n' + b"a\tb\n" * 500_000
    )
    head = (
        f"POST /campaigns/demo/imports/ HTTP/1.1\r\nHost: 127.0.0.1:{demo.port}\r\n"
        f"Cookie: csrftoken={cookies['csrftoken']}; sessionid={cookies['sessionid']}\r\n"
        f"Content-Type: multipart/form-data; boundary=b\r\nContent-Length: {len(body) + 10_000_000}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", demo.port)) as half:
        half.sendall(head.encode() + body)
    until = time.monotonic() + 20
    while list((demo.data / "uploads").iterdir()):
        assert time.monotonic() < until
        time.sleep(0.05)
    page.reload()
    assert page.locator("tbody tr").count() == before
