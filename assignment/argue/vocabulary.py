"""What judgments of reports say, and of what they are."""

NO, YES = LABELS = ("no", "yes")
# Does a document attest the sentence, does it state a gold answer, does it need a citation, is it the first to say so,
# does it claim that nothing is known?
ATTESTS, ANSWERS, NEEDS, FIRST, NEGATIVE = STEPS = ("attests", "answers", "needs", "first", "negative")
