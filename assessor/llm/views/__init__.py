"""The organizer's pages of judges and jobs."""
