"""Assay's Django project and shared core."""

from assessor.celery import app as celery_app

__all__ = ["celery_app"]
