"""Files in a bucket of an S3-compatible server. Loaded where ASSAY_STORAGE names one: boto3 takes memory."""

import io
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from boto3.exceptions import Boto3Error
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from django.core.files import File
from storages.backends.s3 import S3Storage

from assessor.runtime.storage import StorageAway

_BUFFER = 1024 * 1024  # bytes
_CLIENT = Config(
    connect_timeout=5,
    read_timeout=30,
    retries={"mode": "standard", "total_max_attempts": 3},
    # Else each file comes with a checksum in a form that only newer servers understand; TLS and our own sums do it.
    request_checksum_calculation="when_required",
    response_checksum_validation="when_required",
)


@contextmanager
def _away(name: str) -> Iterator[None]:
    """Raise StorageAway for what a server or the way to it does, and FileNotFoundError where a file isn't there."""
    try:
        yield
    except ClientError as error:
        code = error.response["Error"]["Code"]
        if code == "NoSuchKey" or (code == "404" and error.operation_name == "HeadObject"):
            raise FileNotFoundError(f"There is no file {name} in the object storage.") from error
        # Not the server's own text: some servers quote the key.
        raise StorageAway(f"The object storage refused {error.operation_name}: {code}.") from error
    except (BotoCoreError, Boto3Error) as error:
        raise StorageAway(f"The object storage can't be reached: {error}") from error


class ObjectStorage(S3Storage):  # type: ignore[misc]  # which has no types
    """A folder in a bucket. Its files are private: nobody gets an address of one."""

    def __init__(self, **options: Any) -> None:
        # In one thread: a part of a file is in memory, not ten.
        super().__init__(client_config=_CLIENT, transfer_config=TransferConfig(use_threads=False), **options)
        os.register_at_fork(after_in_child=self._forget_connections)

    def _forget_connections(self) -> None:
        self._connections, self._bucket = threading.local(), None

    @property
    def _client(self) -> Any:
        return self.connection.meta.client

    def _key(self, name: str) -> dict[str, str]:
        return {"Bucket": self.bucket_name, "Key": self._normalize_name(name)}

    def _open(self, name: str, mode: str = "rb") -> "File[bytes]":
        with _away(name):
            found = self._client.get_object(**self._key(name))
        file: File[bytes] = File(io.BufferedReader(_Body(found["Body"], name), _BUFFER), name)
        file.size = found["ContentLength"]
        return file

    def _save(self, name: str, content: Any) -> str:
        with _away(name):
            return str(super()._save(name, content))

    def delete(self, name: str) -> None:
        with _away(name):
            self._client.delete_object(**self._key(name))

    def exists(self, name: str) -> bool:
        with _away(name):
            return bool(super().exists(name))

    def listdir(self, name: str) -> tuple[list[str], list[str]]:
        with _away(name):
            folders, files = super().listdir(name)
            return folders, files

    def get_modified_time(self, name: str) -> datetime:
        with _away(name):
            modified: datetime = self._client.head_object(**self._key(name))["LastModified"]
            return modified

    def abort_uploads(self, before: datetime) -> None:
        """Remove the parts of files whose upload began before a time and never ended: its process was killed."""
        prefix = {"Bucket": self.bucket_name, "Prefix": f"{self.location}/"}
        with _away(self.location):
            for one in self._client.list_multipart_uploads(**prefix).get("Uploads", []):
                if one["Initiated"] < before:
                    self._client.abort_multipart_upload(
                        Bucket=self.bucket_name, Key=one["Key"], UploadId=one["UploadId"]
                    )


class _Body(io.RawIOBase):
    """What a server sends of a file."""

    def __init__(self, body: Any, name: str) -> None:
        self._body, self._name = body, name

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview | bytearray") -> int:  # type: ignore[override]
        with _away(self._name):
            data = self._body.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._body.close()
        super().close()
