"""Two banks of a topic, whose nuggets a person or a model matches."""
