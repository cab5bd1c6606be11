"""The pages of nuggets: the editor, and the organizer's view of drafts."""
