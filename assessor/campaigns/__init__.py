"""What everything rests on: campaigns, topics, segments, runs, grades, judges, conditions, files in and out."""
