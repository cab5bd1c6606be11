"""The top: the assessor's home, the organizer's pages, people."""
