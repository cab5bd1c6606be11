"""Labels of nuggets in answers: the blind screen, AutoAssign, nugget scores."""
