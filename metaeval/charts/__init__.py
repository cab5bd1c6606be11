"""Charts of statistics, and how they become files. Neither Django nor a database is needed."""
