from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def mark_untouched_drafts(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """In open banks drafts are undecided that nobody has reworded or given an importance; finished banks are decided."""
    banks = apps.get_model("nuggets", "NuggetBank")
    nuggets = apps.get_model("nuggets", "Nugget")
    for bank in banks.objects.filter(state="open", task__isnull=False, drafting__isnull=False).select_related("drafting"):
        texts = bank.drafting.steps[-1]["nuggets"]
        drafts = nuggets.objects.filter(bank=bank, draft__isnull=False, importance="")
        untouched = [pk for pk, text, draft in drafts.values_list("pk", "text", "draft") if text == texts[draft - 1]]
        nuggets.objects.filter(pk__in=untouched).update(is_undecided=True)


class Migration(migrations.Migration):
    dependencies = [("nuggets", "0006_drafts_from_files")]

    operations = [
        migrations.AddField(
            model_name="nugget",
            name="is_undecided",
            field=models.BooleanField(
                default=False, help_text="A draft that its person has not decided about yet."
            ),
        ),
        migrations.RunPython(mark_untouched_drafts, migrations.RunPython.noop),
    ]
