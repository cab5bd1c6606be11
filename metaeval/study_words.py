"""What pages say of studies, by their purpose."""

from typing import NamedTuple

from assessor.studies.models import Study


class Words(NamedTuple):
    """What pages say of studies with a purpose. page: the name of the address of all of them.

    needs: which labels it takes; who, judge: the heading of who labels the sample, and what is said of them.
    """

    page: str
    title: str
    about: str
    new: str
    needs: str
    all: str
    question: str
    who: str
    judge: str


_BLIND = "Somebody who has labelled none of these items, blind to both labels."
WORDS = {
    Study.Purpose.DISAGREEMENT: Words(
        page="studies",
        title="Disagreement studies",
        about="Where people and a model gave different labels, others label the same items again, blind to both. "
        "Whom do they agree with?",
        new="New study",
        needs="labels of people and of a model",
        all="All studies",
        question="Who is right? Others label the differing items, blind.",
        who="Who labels it",
        judge=f"{_BLIND} Nothing tells them that the items are disagreements.",
    ),
    Study.Purpose.ADJUDICATION: Words(
        page="adjudication",
        title="Adjudication",
        about="Where two people gave different labels, a third person sees both and decides.",
        new="New adjudication",
        needs="labels of two people",
        all="All adjudications",
        question="Two people differ; a third one sees both labels and decides.",
        who="Who decides",
        judge="A third person, who sees both labels and decides.",
    ),
    Study.Purpose.ROUTING: Words(
        page="panels",
        title="What panels leave open",
        about="Where the members of a panel differ, people decide.",
        new="New sample",
        needs="a panel that leaves labels to people",
        all="All panels",
        question="What should a panel say where its members differ? People label it, blind; their labels count as the "
        "panel's.",
        who="Who labels it",
        judge="Somebody who labels blind to all members of the panel. Nothing tells them that these differ.",
    ),
    Study.Purpose.REJUDGING: Words(
        page="rejudging",
        title="Blind re-judging",
        about="Where another side differs from people's labels, others judge these again, blind to both and "
        "mixed with as many on which both sides agree. Scores before and after stand side by side.",
        new="New re-judging",
        needs="labels of people and of another side",
        all="All re-judging",
        question="Should labels change? Others judge them again, blind, mixed with as many on which both sides agree.",
        who="Who judges again",
        judge=f"{_BLIND} Nothing tells them on which of them the sides differ.",
    ),
}
