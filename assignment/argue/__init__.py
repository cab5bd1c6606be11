"""Reports judged sentence by sentence against a bank of questions, as AUTO-ARGUE does."""
