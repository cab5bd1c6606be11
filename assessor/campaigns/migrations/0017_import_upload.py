from django.db import migrations, models
from django.db.models import CharField, F, Value
from django.db.models.functions import Cast, Concat


def name_uploads(apps, schema_editor):
    """Until now an upload was called after its import's key."""
    waiting = apps.get_model("campaigns", "Import").objects.filter(state__in=("held", "waiting", "running"))
    waiting.update(upload=Concat(Cast(F("pk"), CharField()), Value(".upload")))


class Migration(migrations.Migration):

    dependencies = [
        ('campaigns', '0016_condition_support'),
    ]

    operations = [
        migrations.AddField(
            model_name='import',
            name='upload',
            field=models.CharField(blank=True, help_text='Name of its file while that is kept.', max_length=40),
        ),
        migrations.RunPython(name_uploads, migrations.RunPython.noop),
    ]
