"""Nugget banks: the editor, lineage, AutoNuggets."""
