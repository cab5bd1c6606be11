"""Sentences of answers that are supported, and that a bank has no nugget for: candidates that it lacks."""
