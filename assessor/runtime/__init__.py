"""What processes run on: broker, beat, SQLite, connections, health, logs, environment. No models."""
