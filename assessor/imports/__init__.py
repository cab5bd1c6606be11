"""Files in: the importer, and a loader for each kind of file."""
