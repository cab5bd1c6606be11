from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from assessor.campaigns.management.common import campaign_called
from assessor.llm import actions
from assessor.llm.prompt_sets import MOST_BYTES, OWN
from assessor.llm.prompt_templates import TemplateError, read_templates
from assessor.llm.prompts import PromptSetError, sha256_of


class Command(BaseCommand):
    help = "Make a prompt set of published templates: YAML and text files."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="The campaign's short name.")
        parser.add_argument("files", nargs="+", metavar="file", help="A template as it is published: .yaml or .txt.")
        parser.add_argument("--name", default="", help="Of the prompt set; by default it is named by its content.")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = campaign_called(options["campaign"])
        files = [(Path(file).name, _content(Path(file))) for file in options["files"]]
        try:
            templates = read_templates(files)
            made = actions.create_prompt_set(
                campaign=campaign, name=options["name"], templates=templates, acting_user=None
            )
        except (TemplateError, PromptSetError) as error:
            raise CommandError(f"{error}\nNothing was written.") from error
        for template in templates:
            method = f", {template.method}" if template.method else ""
            self.stdout.write(f"{template.prompt}: {template.file}{method}, sha256 {template.sha256}")
            for theirs, ours in template.placeholders.items():
                self.stdout.write(f"  {{{theirs}}} is ${{{ours}}}")
            self.stdout.write(f"  replies are read as a {template.reader}")
        lacking = [prompt for prompt in made.texts if prompt not in {template.prompt for template in templates}]
        if lacking:
            self.stdout.write(f"{', '.join(lacking)}: from {OWN}")
        self.stdout.write(f"Prompt set {made.name}. Choose it in a judge's settings.")
        for prompt, text in made.texts.items():
            self.stdout.write(f"  {prompt}: sha256 {sha256_of(text)}")


def _content(path: Path) -> bytes:
    if not path.is_file():  # a device or a pipe would be read for ever
        raise CommandError(f"There is no file {path}.")
    with path.open("rb") as opened:
        return opened.read(MOST_BYTES + 1)
