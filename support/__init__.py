"""Support of sentences by the passages they cite: both human conditions, the automatic judge, scores."""
