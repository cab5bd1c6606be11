from argparse import ArgumentParser
from decimal import Decimal
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from assessor.campaigns.management.common import campaign_called
from assessor.formats.families import FAMILIES
from assessor.llm.actions import create_judge
from assessor.llm.forms import LIMIT_NAMES, NewJudgeForm


class Command(BaseCommand):
    help = "Make a model a judge of a campaign. Its key stays in the environment; only the variable is named here."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="The campaign's short name.")
        parser.add_argument("name", help="The judge's name.")
        parser.add_argument("--base-url", required=True, help="Of the chat-completions API: https://host/v1")
        parser.add_argument("--model", required=True, help="The model's name at the endpoint.")
        parser.add_argument("--key-variable", default="", help="Variable that holds the key, such as OPENAI_API_KEY.")
        parser.add_argument("--temperature", type=float, default=0.0)
        parser.add_argument("--no-temperature", action="store_true", help="Send none, for models that take none.")
        parser.add_argument("--max-tokens", type=int, default=2_048, help="Longest reply, in tokens.")
        parser.add_argument("--limit-name", choices=LIMIT_NAMES, default=LIMIT_NAMES[0])
        parser.add_argument("--structured", action="store_true", help="Send a JSON schema that replies must follow.")
        parser.add_argument("--top-p", type=float, help="0 to 1; this and those below: not sent if not named.")
        parser.add_argument("--presence-penalty", type=float, help="-2 to 2.")
        parser.add_argument("--frequency-penalty", type=float, help="-2 to 2.")
        parser.add_argument("--seed", type=int)
        parser.add_argument("--reasoning-effort", help="low, medium, high, or what else the endpoint takes.")
        parser.add_argument("--extra", help="Further fields of each request, as a JSON object: '{\"top_k\": 20}'.")
        parser.add_argument("--family", choices=FAMILIES, help="Of the model, such as openai. It is not sent.")
        parser.add_argument("--prompt-set", default="assay-1")
        parser.add_argument("--concurrency", type=int, default=8, help="Requests in flight at once.")
        parser.add_argument("--requests-per-minute", type=int)
        parser.add_argument("--tokens-per-minute", type=int)
        parser.add_argument("--timeout", type=int, default=120, help="Seconds for one request.")
        parser.add_argument("--price-in", type=Decimal, default=Decimal(0), help="Per million tokens.")
        parser.add_argument("--price-out", type=Decimal, default=Decimal(0), help="Per million tokens.")
        half = "Per million tokens in batches; half the price where it is not named."
        parser.add_argument("--price-in-batch", type=Decimal, help=half)
        parser.add_argument("--price-out-batch", type=Decimal, help=half)
        parser.add_argument("--batch-tokens", type=int, help="Sent in batches that are under way at the same time.")
        parser.add_argument("--keeps-batch-files", action="store_true", help="Leave them with the provider.")
        parser.add_argument("--accepts-other-models", action="store_true", help="Go on if the endpoint names another.")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = campaign_called(options["campaign"])
        form = NewJudgeForm(campaign, options | ({"temperature": None} if options["no_temperature"] else {}))
        if not form.is_valid():
            errors = [f"{form[name].label}: {error}" for name, found in form.errors.items() for error in found]
            raise CommandError(" ".join(errors))
        try:
            judge = create_judge(
                campaign=campaign,
                name=form.cleaned_data["name"],
                parameters=form.parameters(),
                settings=form.settings(),
                acting_user=None,
            )
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        self.stdout.write(f"{judge} is there.")
