"""Assay's settings, with hashes that are not slow on purpose: each took a quarter of a second of a processor."""

from assessor.settings import *  # noqa: F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
