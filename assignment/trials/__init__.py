"""Nuggets that are tried against answers while a person still edits their bank: beside it, and in no score."""
