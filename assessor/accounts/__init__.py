"""Signing in: password, second factor, what a campaign requires of its people."""
