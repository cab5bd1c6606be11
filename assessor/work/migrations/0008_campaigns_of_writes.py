import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Count, Min


def note_where_it_can_be_told(apps, schema_editor):
    """Whoever had tasks in one campaign alone made all their writes there."""
    Task, Write = apps.get_model("work", "Task"), apps.get_model("work", "Write")
    people = Task.objects.order_by().values("person").annotate(campaigns=Count("campaign", distinct=True))
    for person, campaign in people.filter(campaigns=1).values_list("person", Min("campaign")):
        Write.objects.filter(person=person).update(campaign=campaign)


class Migration(migrations.Migration):

    dependencies = [
        ('collection', '0012_practice_topics'),
        ('work', '0007_plan'),
    ]

    operations = [
        migrations.AddField(
            model_name='write',
            name='campaign',
            field=models.ForeignKey(db_index=False, help_text='In which it was made; none where that was not noted yet, and the person worked in several.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='collection.campaign'),
        ),
        migrations.RunPython(note_where_it_can_be_told, migrations.RunPython.noop),
    ]
