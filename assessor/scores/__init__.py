"""Score tables of any kind: means over topics, tables, pages and files. What an answer's scores are, its app says."""
