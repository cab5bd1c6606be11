"""Statistics of labels, scores and rankings: functions on numpy arrays, which need neither Django nor a database."""
