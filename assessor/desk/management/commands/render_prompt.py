import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from assessor.campaigns.management.common import campaign_called
from assessor.llm.job_kind import job_prompts
from assessor.llm.preview import preview
from assessor.llm.prompt_sets import prompt_set
from assessor.llm.prompts import PreviewError, PreviewSubject, PromptSetError, sha256_of


class Command(BaseCommand):
    help = "Show what would be sent to a model for a topic. Nothing is sent."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="The campaign's short name.")
        parser.add_argument("topic", help="The topic's id.")
        parser.add_argument("prompt", choices=list(job_prompts()))
        parser.add_argument("--prompt-set", default="assay-1", help="[%(default)s]")
        parser.add_argument("--qrels", default="", help="For prompts of relevant passages: the source of grades.")
        parser.add_argument(
            "--nuggets",
            default="",
            help="For prompts of nuggets: the condition of the bank. For those of relevant passages: the one whose "
            "threshold, and without --qrels whose grades, are taken.",
        )
        parser.add_argument("--run", default="", help="For prompts of an answer: whose.")
        parser.add_argument("--docid", default="", help="For prompts of one passage: which.")
        parser.add_argument("--sentence", type=int, default=1, help="For prompts of one sentence: which. [%(default)s]")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign, name = campaign_called(options["campaign"]), options["prompt"]
        subject = PreviewSubject(
            topic=options["topic"],
            qrels=options["qrels"],
            condition=options["nuggets"],
            run=options["run"],
            docid=options["docid"],
            sentence=options["sentence"],
        )
        try:
            prompts = prompt_set(options["prompt_set"], campaign)
            shown = preview(campaign, name, prompts, subject)
        except (PromptSetError, PreviewError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(
            f"Prompt {name} of {prompts.name}, sha256 {sha256_of(prompts.texts[name])}. {shown.made_from}\n"
        )
        for message in shown.request.messages:
            self.stdout.write(f"\n--- {message['role']}\n{message['content']}")
        if shown.request.schema:
            self.stdout.write(f"\n--- JSON schema\n{json.dumps(shown.request.schema, indent=2)}")
        else:
            self.stdout.write(f"\n--- No JSON schema: the reply is read as a {shown.reader}")
