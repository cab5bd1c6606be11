"""What studies draw from support judgments: citations."""

from collections.abc import Collection, Mapping, Sequence

from django.db.models import QuerySet

from assessor.campaigns.models import Answer, Condition, Topic
from assessor.campaigns.passages import cited_texts
from assessor.campaigns.queries import answers_to
from assessor.labels.models import Label
from assessor.studies.models import SampledItem
from assessor.studies.sampling import Key, Sampling, Told
from support.citations import LABELS, cited_in, key_of, name_of
from support.models import SupportJudgment, SupportSheet
from support.score_arrays import key_of_item


class CitationSampling(Sampling):
    """Labels of citations; Sampling says what each function is for."""

    heading = "Sentence"
    is_asked_one_by_one = True

    def labels_on(self, condition: Condition, topics: Sequence[Topic]) -> Mapping[Key, str]:
        sheets = SupportSheet.objects.filter(condition=condition, answer__in=answers_to(topics)).order_by()
        rows = SupportJudgment.everything.filter(sheet__in=sheets, state=Label.State.GIVEN, value__in=LABELS)
        told = rows.order_by("sheet", "sentence", "citation")
        return {
            (answer, key_of(sentence, citation)): str(label)
            for answer, sentence, citation, label in told.values_list("sheet__answer", "sentence", "citation", "value")
        }

    def key_of(self, item: int) -> str:
        return key_of_item(item)

    def names(self, keys: Collection[Key]) -> Mapping[Key, str]:
        by_answer: dict[int, list[str]] = {}
        for answer, key in keys:
            by_answer.setdefault(answer, []).append(key)
        answers = Answer.objects.filter(pk__in=by_answer).order_by().only("references", "content")
        cited = {one.pk: cited_in(list(one.sentences()), by_answer[one.pk]) for one in answers}
        return {(answer, key): name_of(key, cited[answer][key].docid) for answer, key in keys}

    def labels_of(self, drawn: Mapping[int, Collection[SampledItem]]) -> Mapping[int, Mapping[int, str]]:
        wanted: dict[tuple[int, int], dict[str, int]] = {}
        for condition, items in drawn.items():
            for one in items:
                wanted.setdefault((condition, one.answer_id), {})[one.item] = one.pk
        found: dict[int, dict[int, str]] = {condition: {} for condition in drawn}
        rows = SupportJudgment.in_or_out.filter(
            sheet__condition__in=drawn.keys(),
            sheet__answer__in={answer for _, answer in wanted},
            state=Label.State.GIVEN,
            value__in=LABELS,
        )
        for row in rows.select_related("sheet").defer("sheet__extras"):
            named = wanted.get((row.sheet.condition_id, row.sheet.answer_id), {})
            if sampled_as := named.get(name_of(row.item, row.docid)):
                found[row.sheet.condition_id][sampled_as] = str(row.value)
        return found

    def sheets_on(self, topic: Topic) -> QuerySet[SupportSheet]:
        return SupportSheet.in_or_out.filter(answer__topic=topic)

    def told(self, drawn: Sequence[SampledItem]) -> Mapping[int, Told]:
        if not drawn:
            return {}
        named = {one.pk: one.item.split(" ", 1) for one in drawn}
        texts = cited_texts(drawn[0].study.campaign, {(one.answer.run_id, named[one.pk][1]) for one in drawn})
        found = {}
        for one in drawn:
            place, docid = named[one.pk]
            text = one.answer.content[int(place)]["text"]
            found[one.pk] = Told(f"sentence {int(place) + 1}", text, docid, texts.get((one.answer.run_id, docid), ""))
        return found
