"""The words of the field, each with its one definition: the glossary's page and the words explained on others."""

from django.utils.text import slugify

GLOSSARY = {
    "Adjudication": "A third person sees both labels and decides.",
    "Answer": "A run's text for one topic.",
    "Archive": "The whole campaign as one file.",
    "Assessor": "A person who labels.",
    "Assignment": "The label of a nugget in an answer: support, partial_support or not_support.",
    "Blind": "Without seeing labels of models or of other people.",
    "Campaign": "One study, such as a track's edition.",
    "Citation": "A passage that a sentence refers to.",
    "Condition": "How nuggets were made and who labelled.",
    "Control run": "Made-up answers with known scores.",
    "Disagreement study": "A sample of labels that differ, labelled again blind.",
    "Draft": "A model's nugget that a person decides on.",
    "Freeze": "Keep a condition's files for good, signed where the server has a key.",
    "Gold answer": "A right answer to a question nugget, with the passages that give it.",
    "Grade": "How relevant a passage is, from 0 to 3. Files call grades qrels.",
    "Interval": "95 %, by resampling topics.",
    "Job": "Work of a judge in the background.",
    "Judge": "A model with fixed settings.",
    "Judged topics": "The topics that have labels.",
    "κ": "Cohen's kappa: how alike two labellings are beyond chance.",
    "Nugget": "A fact that an answer contains or not.",
    "Nugget list": "All nuggets of a topic under one condition.",
    "Okay": "A nugget that is worthwhile in a good answer.",
    "Outdated label": "A label whose nugget was reworded since.",
    "Passage": "A piece of the corpus. Files call it a segment.",
    "Pool": "The passages to be graded.",
    "Protocol": "The numbers of the method.",
    "Question nugget": "A question that a good answer answers, with its gold answers.",
    "Rehearsal": "Made without a model, to try things out.",
    "Run": "One system's answers to all topics.",
    "Second opinion": "The same work by another person.",
    "Stored answers": "A judge's replies, kept and never paid twice.",
    "Support": "Whether a cited passage backs its sentence: full, partial or none.",
    "τ": "Kendall's tau: how alike two rankings are.",
    "Topic": "A question to be answered.",
    "Vital": "A nugget that must be in a good answer.",
}


def anchor(word: str) -> str:
    """Return where a word is on the page of the glossary."""
    return slugify(word, allow_unicode=True)
