"""Banks of questions with gold answers: a kind of condition that makes nuggets which are questions."""
