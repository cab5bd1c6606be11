"""Readers and writers of the field's file formats: plain functions over lines, no database in them.

A reader is a generator over (line number, text) that yields records and puts what is wrong into a Report; a writer
yields lines, the same bytes for the same records.
"""
