"""Assay's Django project and shared core."""
