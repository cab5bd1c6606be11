"""Files of comparisons: score tables that come in."""
