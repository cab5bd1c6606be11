"""The cache of this process alone. Django's default one is shared by all, in the database, and slower."""

from django.core.cache import caches
from django.utils.connection import ConnectionProxy

cache = ConnectionProxy(caches, "process")
