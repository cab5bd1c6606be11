"""The demo: a campaign with something of every kind, which no other app knows."""
