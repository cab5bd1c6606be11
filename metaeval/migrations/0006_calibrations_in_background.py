from collections import Counter

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


def name_calibrations(apps, schema_editor):
    """Name calibrations as new ones are: by both conditions, and a number from the second one on."""
    used = Counter()
    for one in apps.get_model("metaeval", "Calibration").objects.select_related("human", "judged").order_by("pk"):
        name = f"{one.judged.name} against {one.human.name}"
        used[one.campaign_id, name] += 1
        number = used[one.campaign_id, name]
        one.name = name if number == 1 else f"{name} ({number})"
        one.save(update_fields=["name"])


class Migration(migrations.Migration):

    dependencies = [
        ('campaigns', '0009_documents_of_retrieval_runs'),
        ('metaeval', '0005_hybrid'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='calibration',
            name='name',
            field=models.CharField(default='', max_length=270),
            preserve_default=False,
        ),
        migrations.RunPython(name_calibrations, migrations.RunPython.noop),
        migrations.AddConstraint(
            model_name='calibration',
            constraint=models.UniqueConstraint(fields=('campaign', 'name'), name='calibration_name_once'),
        ),
        migrations.CreateModel(
            name='CalibrationRequest',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('state', models.CharField(choices=[('waiting', 'waiting for the worker'), ('running', 'running'), ('done', 'done'), ('empty', 'nothing to compare'), ('failed', 'failed')], default='waiting', max_length=8)),
                ('stage', models.CharField(blank=True, help_text='What is being done.', max_length=120)),
                ('percent', models.PositiveSmallIntegerField(default=0)),
                ('why', models.TextField(blank=True, help_text='Why there is no result.')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('ended_at', models.DateTimeField(null=True)),
                ('owner', models.CharField(blank=True, max_length=200)),
                ('alive_at', models.DateTimeField(null=True)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('calibration', models.OneToOneField(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='metaeval.calibration')),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='calibration_requests', to='campaigns.campaign')),
                ('created_by', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.PROTECT, to=settings.AUTH_USER_MODEL)),
                ('human', models.ForeignKey(help_text="Whose labels are people's.", on_delete=django.db.models.deletion.PROTECT, related_name='+', to='campaigns.condition')),
                ('judged', models.ForeignKey(help_text="Whose labels are the judge's.", on_delete=django.db.models.deletion.PROTECT, related_name='+', to='campaigns.condition')),
            ],
            options={
                'ordering': ('-pk',),
                'abstract': False,
                'constraints': [models.UniqueConstraint(condition=models.Q(('state__in', ('waiting', 'running'))), fields=('human', 'judged'), name='one_calibration_at_a_time')],
            },
        ),
    ]
