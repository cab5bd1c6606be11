"""Assay's settings without what is slow: hashes that are so on purpose, and the smallest static files."""

from assessor.settings import *  # noqa: F403
from assessor.settings import STORAGES

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = STORAGES | {"staticfiles": {"BACKEND": "tests.browser.static_files.GzippedStaticFilesStorage"}}
