"""The topics that a new job can have: what it would find on each, and which are selected."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from django.http import QueryDict

from assessor.campaigns.models import Condition, Topic
from assessor.llm.job_kind import JobKind, TopicState


class Row(NamedTuple):
    """A topic of the picker. is_shown: the filter leaves it."""

    topic: Topic
    state: TopicState
    is_selected: bool
    is_shown: bool


class Picker(NamedTuple):
    """All topics. basis: what their states follow from; a selection that was made for another one is void."""

    basis: str
    filter: str
    rows: Sequence[Row]

    @property
    def selected(self) -> list[Topic]:
        return [row.topic for row in self.rows if row.is_selected]

    @property
    def ready(self) -> int:
        return sum(not row.state.lacking for row in self.rows)

    @property
    def unlabelled(self) -> int:
        return sum(not row.state.lacking and not row.state.is_done for row in self.rows)

    @property
    def is_all_done(self) -> bool:
        """Whether nothing is left to label on the selected topics."""
        return all(row.state.is_done for row in self.rows if row.is_selected)

    @property
    def left_out(self) -> list[tuple[str, int]]:
        """What topics that are not selected lack, and how many of them do."""
        lacking = Counter(row.state.lacking for row in self.rows if not row.is_selected and row.state.lacking)
        return lacking.most_common()


def picker(
    kind: JobKind, condition: Condition, topics: Sequence[Topic], sent: QueryDict, pasted: Sequence[Topic]
) -> Picker:
    """Return the topics as a form left them; all that are ready where it says nothing of them.

    sent: the form, empty before it is sent. pasted: topics whose ids were pasted, which go first. A form that has no
    picker means all topics.
    """
    nuggets = (condition.nuggets_id, condition.other_nuggets_id)
    labels = (condition.support_id, condition.preferences_id, condition.qrels_source_id)
    basis = " ".join(map(str, (kind.name, *nuggets, *labels, condition.min_relevant_grade, condition.retrieval_run_id)))
    states = kind.topic_states(condition, topics)
    selected = _selected(topics, states, sent, basis)
    if pasted:
        selected = {topic.pk for topic in pasted}
    words = sent.get("filter", "").casefold()
    rows = [
        Row(
            topic,
            states.get(topic.pk, TopicState()),
            topic.pk in selected,
            words in topic.title.casefold() or words in topic.qid.casefold(),
        )
        for topic in topics
    ]
    return Picker(basis, sent.get("filter", ""), rows)


def _selected(topics: Sequence[Topic], states: Mapping[int, TopicState], sent: QueryDict, basis: str) -> set[int]:
    if sent and "basis" not in sent:
        return {topic.pk for topic in topics}
    ready = {topic.pk for topic in topics if not states.get(topic.pk, TopicState()).lacking}
    wanted = sent.get("select", "")
    if not sent or sent["basis"] != basis or wanted == "ready":
        return ready
    if wanted == "new":
        return {pk for pk in ready if not states.get(pk, TopicState()).is_done}
    qids = set(sent.getlist("topic")) if not wanted else set()
    return {topic.pk for topic in topics if topic.qid in qids}
