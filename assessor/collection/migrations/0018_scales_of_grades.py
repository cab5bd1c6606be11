import django.core.validators
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def note_scales(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Put the sources that have a 4 on the scale from 0 to 4."""
    highest = apps.get_model("collection", "Grade").objects.using(schema_editor.connection.alias).filter(grade=4)
    sources = apps.get_model("collection", "QrelsSource").objects.using(schema_editor.connection.alias)
    sources.filter(pk__in=highest.order_by().values("source")).update(max_grade=4)


class Migration(migrations.Migration):
    dependencies = [("collection", "0017_leave_out_unworthy")]

    operations = [
        migrations.AddField(
            model_name="qrelssource",
            name="max_grade",
            field=models.PositiveSmallIntegerField(
                choices=[(3, "0 to 3"), (4, "0 to 4")],
                default=3,
                help_text="From 0 to its highest grade. A file with a 4 is on 0 to 4.",
                verbose_name="scale",
            ),
        ),
        migrations.AlterField(
            model_name="grade",
            name="grade",
            field=models.SmallIntegerField(
                help_text="-1 and -2: not judged.",
                validators=[
                    django.core.validators.MinValueValidator(-2),
                    django.core.validators.MaxValueValidator(4),
                ],
            ),
        ),
        migrations.RunPython(note_scales, migrations.RunPython.noop, elidable=True),
    ]
