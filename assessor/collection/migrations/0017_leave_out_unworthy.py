from django.db import migrations, models

NAME = "Leave sentences that are not worth verifying out of recall"
HELP = (
    "Whether a sentence that a file of support judgments marks so (verification_worthy 0) is left out of "
    "recall where it cites nothing, as it is where it cites."
)


class Migration(migrations.Migration):
    dependencies = [
        ("collection", "0016_second_factor_required"),
    ]

    # Off in the versions that there are: their scores stay as they were shown.
    operations = [
        migrations.AddField(
            model_name="protocol",
            name="leave_out_unworthy",
            field=models.BooleanField(default=False, help_text=HELP, verbose_name=NAME),
        ),
        migrations.AlterField(
            model_name="protocol",
            name="leave_out_unworthy",
            field=models.BooleanField(default=True, help_text=HELP, verbose_name=NAME),
        ),
    ]
