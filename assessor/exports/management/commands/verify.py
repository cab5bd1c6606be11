from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from assessor.exports.signatures import OddKey, public_key
from assessor.exports.verification import verify


class Command(BaseCommand):
    help = "Verify a frozen bundle, a zip or a folder of its files; needs no database."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", help="The zip, or the folder.")
        parser.add_argument("--public-key", help="Who must have signed it: base64, or a PEM file.")

    def handle(self, *args: Any, **options: Any) -> None:
        path, key = Path(options["path"]), options["public_key"] or ""
        if not path.exists():
            raise CommandError(f"There is no {path}.")
        try:
            key = key and public_key(Path(key).read_text() if Path(key).is_file() else key)
        except OddKey as error:
            raise CommandError(str(error)) from error
        verdict = verify(path, key)
        if verdict.problems:
            raise CommandError("Not as it was frozen. " + " ".join(verdict.problems))
        manifest = verdict.manifest
        for file in manifest["files"]:
            self.stdout.write(f"{file['sha256']}  {file['name']}")
        if not verdict.signed_by:
            signed = "It is not signed: whoever changed a file could have changed the manifest too."
        elif key:
            signed = f"Signed with {key}."
        else:
            signed = f"Signed with {verdict.signed_by}: whether that is the right key, ask whoever froze it."
        told = f"version {manifest.get('version')} of {manifest.get('condition', {}).get('name')}"
        self.stdout.write(f"As it was frozen: {told}, manifest {verdict.manifest_sha256}. {signed}")
