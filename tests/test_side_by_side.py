"""Two checkouts can run their tests on one machine at once."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection

from tests.conftest import CHECKOUT
from tests.ports import free_port, take_block

TAKE = "from tests.ports import *; print(*take_block(), free_port(), free_port(), flush=True); input()"


def test_no_two_processes_have_a_port_in_common():
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "cwd": settings.BASE_DIR}
    starting = [subprocess.Popen([sys.executable, "-c", TAKE], **pipes) for _ in range(4)]
    ports = [int(port) for process in starting for port in process.stdout.readline().split()]
    assert len(ports) == len(set(ports)) == 4 * (len(take_block()) + 2)
    for process in starting:
        process.communicate("\n")


def test_a_port_that_somebody_listens_on_is_passed_over():
    with socket.create_server(("127.0.0.1", free_port() + 1)) as server:
        assert free_port() > server.getsockname()[1]


@pytest.mark.django_db
def test_databases_of_a_server_are_this_checkouts_own():
    if connection.vendor == "sqlite":
        assert Path(connection.settings_dict["NAME"]).is_relative_to(settings.DATA_DIR)
    else:
        assert connection.settings_dict["NAME"].endswith(CHECKOUT)
