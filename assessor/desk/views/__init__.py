"""The pages of the desk: a module a subject."""
