"""Relevance of segments: the 0-3 screen and UMBRELA."""
