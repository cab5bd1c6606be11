"""Relevance of segments: the screen and UMBRELA."""
