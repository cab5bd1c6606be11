"""Tokens, with which a person's scripts read, or send."""

from django.db import models


class Token(models.Model):
    """What lets scripts read what a person may read, or send files in. The secret is shown once, and kept nowhere."""

    class May(models.TextChoices):
        READ = "read", "read"
        IMPORT = "import", "send labels and drafts, and read nothing"

    person = models.ForeignKey("accounts.Person", models.PROTECT, related_name="tokens")
    name = models.CharField(max_length=120, help_text="What it is for.")
    may = models.CharField(max_length=10, choices=May, default=May.READ)
    prefix = models.CharField(max_length=14, db_index=True, help_text="How the secret begins, to recognise it by.")
    sha256 = models.CharField(max_length=64, help_text="Of the secret.")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True)
    used_at = models.DateTimeField(null=True, help_text="When it was last used, to the minute.")
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("-pk",)

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"
