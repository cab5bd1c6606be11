"""Training: topics for practice, the reference that people are held against, and the feedback that they get."""
