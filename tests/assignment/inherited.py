"""A bank of a former edition with what people made of it, and a model's labels of all answers."""

import json
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from django.utils import timezone

from assessor.campaigns.models import Answer, Campaign, Condition, Topic
from assessor.imports.management.import_command import import_file
from assignment.actions.judged_answers import add_sheets
from assignment.models import AnswerSheet
from nuggets.drafting import Step
from nuggets.editions import snapshot
from nuggets.models import BankEdition, Drafting, Nugget, NuggetBank
from tests.assignment.scored import auto_condition, row
from tests.judging import nuggets_of


def inherit(
    campaign: Campaign, topics: Iterable[Topic], texts: Sequence[str] = ("cats purr", "kittens purr"), name="Inherited"
) -> Condition:
    """Have topics with inherited nuggets that were kept, all but the last, which was dropped."""
    for topic in topics:
        condition = campaign.conditions.filter(name=name).first() or _first(campaign, topic, texts, name)
        judge = condition.judge
        of_list = {"judge": judge, "steps": [Step([], list(texts)).as_json()]}
        drafting, _ = Drafting.objects.get_or_create(condition=condition, topic=topic, defaults=of_list)
        bank, is_new = NuggetBank.objects.get_or_create(
            topic=topic,
            condition=condition,
            maker=judge,
            defaults={"drafting": drafting, "state": "finished", "edition": 1, "finished_at": timezone.now()},
        )
        if is_new:
            nuggets = [
                Nugget.objects.create(
                    bank=bank, uid=f"00000000-0000-0000-0000-{at:012}", text=text, draft=at, importance="vital",
                    origin="inherited", made_by=judge,
                )
                for at, text in enumerate(texts, start=1)
            ]  # fmt: skip
            bank.order = [one.name for one in nuggets[:-1]]
            bank.save()
            BankEdition.objects.create(bank=bank, edition=1, version=0, nuggets=snapshot(nuggets[:-1]))
        labels = campaign.conditions.filter(name=f"{name}/Auto").first() or auto_condition(condition, f"{name}/Auto")
        judged = AnswerSheet.objects.filter(condition=labels).values("answer")
        for answer in Answer.objects.filter(topic=topic, apart=False).exclude(pk__in=judged):
            add_sheets([row(labels, bank, answer, "s" * len(nuggets_of(bank)))])
    return campaign.conditions.get(name=name)


def _first(campaign: Campaign, topic: Topic, texts: Sequence[str], name: str) -> Condition:
    line = {"query": "", "qid": topic.qid, "nuggets": [{"text": text, "importance": "okay"} for text in texts]}
    source = campaign.qrels_sources.filter(by="people").earliest("pk")
    options = {"condition": name, "qrels": source.name, "edition": "TREC 2024", "edition_date": "2024", "by": "people"}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "former.jsonl"
        path.write_text(json.dumps(line) + "\n")
        made = import_file(campaign, "former_nuggets", path, options=options)
    assert made.state == "done", made.report
    return campaign.conditions.get(name=name)
