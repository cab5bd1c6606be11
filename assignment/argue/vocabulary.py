"""What judgments of reports say, and of what they are."""

NO, YES = LABELS = ("no", "yes")
# Does a document attest the sentence, does it state a gold answer, does it need a citation, is it the first to say so,
# does it claim that nothing is known?
ATTESTS, ANSWERS, NEEDS, FIRST, NEGATIVE = STEPS = ("attests", "answers", "needs", "first", "negative")
STEP_TITLES = {
    ATTESTS: "support by documents",
    ANSWERS: "answers stated",
    NEEDS: "need of a citation",
    FIRST: "said here first",
    NEGATIVE: "claims that nothing is known",
}
