"""Pages of reports that people judge."""
