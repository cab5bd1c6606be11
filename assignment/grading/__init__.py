"""Questions graded in answers, 0 to 5, by people and models: labels of assignment on a scale of their own."""
