"""Preferences: which of two answers to a topic is better."""
