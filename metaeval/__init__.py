"""Conditions side by side: statistics, tables, charts."""
