from argparse import ArgumentParser
from decimal import Decimal
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from assessor.collection.management.common import campaign_called
from assessor.llm.actions import create_judge
from assessor.llm.endpoints import check_base_url
from assessor.llm.forms import LIMIT_NAMES


class Command(BaseCommand):
    help = "Make a model a judge of a campaign. Its key stays in the environment; only the variable is named here."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="The campaign's short name.")
        parser.add_argument("name", help="The judge's name.")
        parser.add_argument("--base-url", required=True, help="Of the chat-completions API: https://host/v1")
        parser.add_argument("--model", required=True, help="As the endpoint calls it.")
        parser.add_argument("--key-variable", default="", help="Variable that holds the key, such as OPENAI_API_KEY.")
        parser.add_argument("--temperature", type=float, default=0.0)
        parser.add_argument("--no-temperature", action="store_true", help="Send none, for models that take none.")
        parser.add_argument("--max-tokens", type=int, default=2_048, help="Of one reply.")
        parser.add_argument("--limit-name", choices=LIMIT_NAMES, default=LIMIT_NAMES[0])
        parser.add_argument("--structured", action="store_true", help="Send a JSON schema that replies must follow.")
        parser.add_argument("--prompt-set", default="assay-1")
        parser.add_argument("--concurrency", type=int, default=8, help="Requests in flight at once.")
        parser.add_argument("--requests-per-minute", type=int)
        parser.add_argument("--tokens-per-minute", type=int)
        parser.add_argument("--timeout", type=int, default=120, help="Seconds for one request.")
        parser.add_argument("--price-in", type=Decimal, default=Decimal(0), help="Per million tokens.")
        parser.add_argument("--price-out", type=Decimal, default=Decimal(0), help="Per million tokens.")

    def handle(self, *args: Any, **options: Any) -> None:
        parameters = {
            "model": options["model"],
            "temperature": None if options["no_temperature"] else options["temperature"],
            "max_tokens": options["max_tokens"],
            "limit_name": options["limit_name"],
            "structured": options["structured"],
        }
        reached = ("base_url", "key_variable", "prompt_set", "concurrency", "requests_per_minute")
        settings = {name: options[name] for name in (*reached, "tokens_per_minute", "timeout", "price_in", "price_out")}
        try:
            check_base_url(options["base_url"])
            judge = create_judge(
                campaign=campaign_called(options["campaign"]),
                name=options["name"],
                parameters=parameters,
                settings=settings,
                acting_user=None,
            )
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        self.stdout.write(f"{judge} is there.")
