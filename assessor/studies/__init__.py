"""Studies of samples: labels of two conditions that differ, drawn and given to judges who know neither."""
