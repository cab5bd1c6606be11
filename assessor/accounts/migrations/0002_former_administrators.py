from django.db import migrations, models


def fill_from_history(apps, schema_editor):
    """The history names people as they were called then: who was renamed since stays out until an administrator decides."""
    events = apps.get_model("campaigns", "Event").objects.order_by("-pk")
    for person in apps.get_model("accounts", "Person").objects.all():
        own = events.filter(subject=person.username)
        deactivated = own.filter(verb="person made inactive").first()
        removed = own.filter(verb="administrator removed").first()
        by_organizer = deactivated is not None and deactivated.campaign_id is not None
        person.deactivated_by_administrator = not person.is_active and not by_organizer
        person.administrator_until = removed.at if removed else None
        person.save(update_fields=["deactivated_by_administrator", "administrator_until"])


class Migration(migrations.Migration):

    dependencies = [
        ("accounts", "0001_initial"),
        ("campaigns", "0001_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="person",
            name="deactivated_by_administrator",
            field=models.BooleanField(default=False, editable=False),
        ),
        migrations.AddField(
            model_name="person",
            name="administrator_until",
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
        migrations.RunPython(fill_from_history, migrations.RunPython.noop),
    ]
