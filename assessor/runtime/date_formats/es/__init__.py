"""In Spanish."""
