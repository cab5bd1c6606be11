import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('collection', '0008_sentences_with_labels'),
    ]

    operations = [
        migrations.AddField(
            model_name='condition',
            name='shown',
            field=models.ForeignKey(blank=True, help_text='The condition whose labels of a model stand beside the choices.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='post_edited_by', to='collection.condition'),
        ),
    ]
