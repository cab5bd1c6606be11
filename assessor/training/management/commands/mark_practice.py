from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from assessor.campaigns.management.common import campaign_called, named
from assessor.training.actions import TrainingError, mark_practice


class Command(BaseCommand):
    help = "Make topics of a campaign such for practice: what is said on them enters no score and no export."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="The campaign's short name.")
        parser.add_argument("topics", nargs="+", metavar="ID")
        parser.add_argument("--not", dest="not_practice", action="store_true", help="Make them such that count again.")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign, is_practice = campaign_called(options["campaign"]), not options["not_practice"]
        topics = [named(campaign.topics, "qid", qid, "topic") for qid in options["topics"]]
        try:
            changed = mark_practice(campaign=campaign, topics=topics, is_practice=is_practice, acting_user=None)
        except TrainingError as error:
            raise CommandError(f"{error} Nothing was changed.") from error
        self.stdout.write(f"Changed: {', '.join(topic.qid for topic in changed) or 'nothing, all were so before'}.")
