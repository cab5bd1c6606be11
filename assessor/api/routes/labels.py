"""Nuggets and labels, as the exports write them; who reads a model's has seen them."""

from collections.abc import Callable, Iterator
from typing import cast

from django.http import HttpRequest, HttpResponseBase
from ninja import Query, Router

from assessor.api.authentication import asker
from assessor.api.exposure import Seen
from assessor.api.lookups import OfTopics, OfTopicsAndRuns, condition_of, judged_topics, runs_called
from assessor.api.operations import many
from assessor.api.pagination import Id, Json, Key, Listing, Text, answer, of_rows
from assessor.campaigns.access import organized_campaign
from assessor.campaigns.condition_kind import condition_kinds
from assessor.labels.api import ApiList
from assessor.work.exposure import take_away

router = Router()


def _view(kind: str, of: ApiList) -> Callable[..., HttpResponseBase]:
    """Return the view of what there is under a condition of a kind."""
    parameters = OfTopicsAndRuns if of.has_runs else OfTopics

    def view(
        request: HttpRequest,
        slug: Text,
        condition_id: Id,
        asked: Query[parameters],  # type: ignore[valid-type]
    ) -> HttpResponseBase:
        person, wanted = asker(request), cast(OfTopicsAndRuns, asked)
        campaign = organized_campaign(person, slug)
        condition = condition_of(campaign, condition_id, kind)
        topics = judged_topics(campaign, wanted.topic)
        runs = runs_called(campaign, wanted.run) if of.has_runs and wanted.run else None

        def after(key: Key | None, most: int | None) -> Iterator[tuple[Key, Json]]:
            rows = of.rows(condition, [one for one in topics if not key or one.qid >= key[0]], runs)
            return of_rows(rows, of.key).after(key, most)

        where = f"API: {condition}"
        seen = Seen(
            campaign,
            of.topics(condition, topics, runs),
            lambda some: take_away(person, condition, some, where),
            lambda key, item: str(key[0]),
        )
        return answer(request, wanted, Listing(after, of.key), seen)

    view.__name__, view.__doc__ = f"list_{of.name}", of.about
    return view


for _kind in condition_kinds():
    if _of := _kind.api_list():
        _path = f"/campaigns/{{slug}}/conditions/{{condition_id}}/{_of.name}"
        many(router, _path, f"list_{_of.name}", _of.schema, "labels")(_view(_kind.name, _of))
