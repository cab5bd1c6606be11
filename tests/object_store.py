"""A server that speaks S3 over HTTP and checks keys (moto), which can be stopped, started again and made to wait."""

import json
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from threading import Event, Thread
from typing import Any

import boto3
import moto.backends
import moto.settings
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from werkzeug.serving import BaseWSGIServer, make_server

from tests.ports import free_port

BUCKET = "trec"
_ALL_OF_S3 = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}
_REGION = "us-east-1"
_ANY_START = b"2010-11-10T20:48:33.000Z"  # when moto says that each upload began


class _Quiet(MotoRequestHandler):  # type: ignore[misc]
    def log_request(self, *args: Any) -> None:
        pass


class ObjectStore:
    """A server with one bucket, and the keys to it; what it has outlasts a stop."""

    def __init__(self) -> None:
        self._port, self._app = free_port(), DomainDispatcherApplication(create_backend_app)
        self._server: BaseWSGIServer | None = None
        self._started = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z").encode()
        self.breaks_off = False  # in the middle of each file that it sends
        self.arrived, self._goes_on = Event(), Event()
        self._waits: Callable[[str, str], bool] = lambda method, path: False
        self.start()
        moto.settings.INITIAL_NO_AUTH_ACTION_COUNT = float("inf")
        anybody = {"aws_access_key_id": "setup", "aws_secret_access_key": "setup"}
        iam = boto3.client("iam", endpoint_url=self._address, region_name=_REGION, **anybody)
        iam.create_user(UserName="assay")
        iam.put_user_policy(UserName="assay", PolicyName="all", PolicyDocument=json.dumps(_ALL_OF_S3))
        key = iam.create_access_key(UserName="assay")["AccessKey"]
        self.keys = {"AWS_ACCESS_KEY_ID": key["AccessKeyId"], "AWS_SECRET_ACCESS_KEY": key["SecretAccessKey"]}
        own = {name.lower(): value for name, value in self.keys.items()}
        self.client = boto3.client("s3", endpoint_url=self._address, region_name=_REGION, **own)
        moto.settings.INITIAL_NO_AUTH_ACTION_COUNT = 0  # from now on keys are checked
        self.client.create_bucket(Bucket=BUCKET)

    @property
    def _address(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def env(self, prefix: str = "assay", bucket: str = BUCKET) -> dict[str, str]:
        """Return the settings of an installation that uses it."""
        return {"ASSAY_STORAGE": f"s3://{bucket}/{prefix}?endpoint={self._address}&region={_REGION}", **self.keys}

    def start(self) -> None:
        self._server = make_server("127.0.0.1", self._port, self._answer, threaded=True, request_handler=_Quiet)
        Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        if self._server:
            self._server.shutdown()
            self._server.server_close()
        self._server = None

    def close(self) -> None:
        """Stop it, and forget what it has."""
        self._goes_on.set()
        moto.settings.INITIAL_NO_AUTH_ACTION_COUNT = float("inf")
        self.client.close()
        self.stop()
        for backends in (moto.backends.get_backend("s3"), moto.backends.get_backend("iam")):
            for account in backends.values():
                account.reset()

    def hold(self, waits: Callable[[str, str], bool]) -> None:
        """Let requests of some method and path wait until go_on(), and then fail; arrived says that one waits."""
        self.arrived.clear()
        self._goes_on.clear()
        self._waits = waits

    def go_on(self) -> None:
        self._waits = lambda method, path: False
        self._goes_on.set()

    def _answer(self, environ: dict[str, Any], start: Any) -> Iterable[bytes]:
        if self._waits(environ["REQUEST_METHOD"], environ["PATH_INFO"]):
            self.arrived.set()
            self._goes_on.wait(60)
            start("503 Service Unavailable", [("Content-Length", "0")])
            return []
        answer: Iterable[bytes] = self._app(environ, start)
        if environ["QUERY_STRING"].startswith("uploads"):
            return [part.replace(_ANY_START, self._started) for part in answer]
        if self.breaks_off and environ["REQUEST_METHOD"] == "GET":
            return [part[: len(part) // 2] for part in answer]
        return answer

    def names(self) -> list[str]:
        """Return the names of all files in the bucket."""
        return [one["Key"] for one in self.client.list_objects_v2(Bucket=BUCKET).get("Contents", [])]
