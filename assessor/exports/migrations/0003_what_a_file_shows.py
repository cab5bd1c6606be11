"""What a file shows is kept with it. Of files that were made before, nobody knows: they are to be exported anew."""

from django.db import migrations
from django.utils import timezone

import assessor.collection.fields


def remove_files(apps, schema_editor):
    made = apps.get_model("exports", "Export").objects.filter(state="done", at_once=False, removed_at=None)
    made.exclude(kind="freeze").update(removed_at=timezone.now())


class Migration(migrations.Migration):
    dependencies = [("exports", "0002_frozen_conditions_and_pseudonyms")]
    operations = [
        migrations.AddField(
            model_name="export",
            name="shown",
            field=assessor.collection.fields.JSONText(
                default=list,
                help_text="Whose output is in the file, on which topics: it is recorded of whoever takes it.",
            ),
        ),
        migrations.RunPython(remove_files, migrations.RunPython.noop),
    ]
