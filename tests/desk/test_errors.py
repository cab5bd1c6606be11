"""What a person is told when something breaks."""

import errno
from pathlib import Path

import pytest
from django.core.files.uploadhandler import TemporaryFileUploadHandler
from django.db import InterfaceError, OperationalError
from django.test import Client, RequestFactory

from assessor.accounts.models import Person
from assessor.desk.views.errors import forbidden, server_error

FULL = OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (
            OperationalError("the connection was refused"),
            503,
            "Its database or file storage does not answer, or its disk is full.",
        ),
        (
            InterfaceError("the connection is closed"),
            503,
            "Its database or file storage does not answer, or its disk is full.",
        ),
        (FULL, 503, "Its database or file storage does not answer, or its disk is full."),
        (OSError(errno.EACCES, "Permission denied"), 500, "Something broke on the server"),
        (ValueError("a mistake of ours"), 500, "Something broke on the server"),
    ],
    ids=["refused", "closed", "full", "forbidden", "mistake"],
)
def test_a_database_or_disk_that_fails_is_told_apart_from_a_mistake(error: Exception, status: int, said: str):
    """Without a database: the page itself must not need one."""
    try:
        raise error
    except Exception:
        response = server_error(RequestFactory().get("/"))
    page = response.content.decode()
    assert response.status_code == status
    assert said in page
    assert str(error) not in page


@pytest.mark.django_db
def test_a_lost_cookie_is_told_apart_from_a_lost_right(anna: Person):
    client = Client(enforce_csrf_checks=True)
    client.force_login(anna)
    response = client.post("/logout/", headers={"X-Assay-Write": "1"})
    assert (response.status_code, response.headers.get("X-Assay-CSRF")) == (403, "failed")
    assert "X-Assay-CSRF" not in forbidden(RequestFactory().get("/")).headers


def test_what_came_of_an_upload_is_removed_when_the_disk_is_full(settings, tmp_path: Path):
    """Also what was not written yet, for which there is no room. The tests of faults fill a real disk."""
    settings.FILE_UPLOAD_TEMP_DIR = str(tmp_path)
    request = RequestFactory().post("/")
    handler = TemporaryFileUploadHandler(request)
    request.upload_handlers = [handler]
    handler.new_file("uploads", "topics.tsv", "text/plain", 10)
    handler.receive_data_chunk(b"a part of it", 0)
    [left] = tmp_path.iterdir()
    request._mark_post_parse_error()
    try:
        raise FULL
    except OSError:
        assert server_error(request).status_code == 503
    assert not left.exists()
