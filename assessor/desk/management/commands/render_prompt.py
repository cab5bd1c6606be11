import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from assessor.collection.management.common import campaign_called
from assessor.desk.rendering import Choice, RenderingError, rendered
from assessor.llm.prompt_sets import NAMES, PromptSetError, prompt_set


class Command(BaseCommand):
    help = "Show what would be sent to a model for a topic. Nothing is sent."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="The campaign's short name.")
        parser.add_argument("topic", help="The topic's id.")
        parser.add_argument("question", choices=NAMES)
        parser.add_argument("--prompt-set", default="assay-1", help="[%(default)s]")
        parser.add_argument("--qrels", default="", help="For creation: the source of grades.")
        parser.add_argument(
            "--nuggets",
            default="",
            help="For importance and assignment: the condition of the bank. For creation: the one whose threshold, and "
            "without --qrels whose grades, are taken.",
        )
        parser.add_argument("--run", default="", help="For assignment and support: whose answer.")
        parser.add_argument("--docid", default="", help="For relevance: which passage.")
        parser.add_argument("--sentence", type=int, default=1, help="For support: which of the answer. [%(default)s]")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = campaign_called(options["campaign"])
        choice = Choice(
            topic=options["topic"],
            qrels=options["qrels"],
            condition=options["nuggets"],
            run=options["run"],
            docid=options["docid"],
            sentence=options["sentence"],
        )
        try:
            prompts = prompt_set(options["prompt_set"], campaign)
            shown = rendered(campaign, options["question"], prompts, choice)
        except (PromptSetError, RenderingError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"Prompt set {prompts.name}, {prompts.sha256}. {shown.made_from}\n")
        for message in shown.question.messages:
            self.stdout.write(f"\n--- {message['role']}\n{message['content']}")
        if shown.question.schema:
            self.stdout.write(f"\n--- JSON schema\n{json.dumps(shown.question.schema, indent=2)}")
        else:
            self.stdout.write(f"\n--- No JSON schema: the reply is read as a {shown.reader}")
