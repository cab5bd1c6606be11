"""Banks side by side: made, matched by an organizer, and shown."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from assessor.campaigns.access import organized_campaign
from assessor.campaigns.actions import ConditionError
from assessor.campaigns.http import PersonRequest
from assessor.formats.report import quantity
from metaeval.access import campaign_matching
from metaeval.matched_banks import headline, lines, matched_banks, matchings_of, topic_rows
from metaeval.matching_forms import MatchForm, NewMatchingForm
from nuggets.matching.actions import MatchingError, create_manual_matching, match_by_person
from nuggets.matching.condition_kind import AUTO


@require_http_methods(["GET", "POST"])
def bank_matchings(request: PersonRequest, slug: str) -> HttpResponse:
    """All banks of a campaign that are matched; a POST sets up two for an organizer to match."""
    campaign = organized_campaign(request.user, slug)
    form = NewMatchingForm(campaign, request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            made = create_manual_matching(campaign=campaign, **form.cleaned_data, acting_user=request.user)
        except ConditionError as error:
            form.add_error(None, str(error))
        else:
            return redirect("matched_banks", slug, made.pk)
    context = {"campaign": campaign, "form": form, "rows": list(matchings_of(campaign)), "job": AUTO}
    return render(request, "metaeval/bank_matchings.html", context)


@require_safe
def banks_side_by_side(request: PersonRequest, slug: str, condition_id: int) -> HttpResponse:
    """What two banks have of each other, in all and by topic."""
    campaign = organized_campaign(request.user, slug)
    condition = campaign_matching(campaign, condition_id)
    found = matched_banks(condition)
    context = {"campaign": campaign, "condition": condition, "found": found, "headline": headline(found)}
    return render(request, "metaeval/matched_banks.html", context)


@require_http_methods(["GET", "POST"])
def matched_topic(request: PersonRequest, slug: str, condition_id: int, topic_id: int) -> HttpResponse:
    """Both banks of a topic; where organizers match, a POST keeps their matches."""
    campaign = organized_campaign(request.user, slug)
    condition = campaign_matching(campaign, condition_id)
    topic = campaign.topics.filter(pk=topic_id, is_practice=False).first()
    row = next(iter(topic_rows(condition, [topic])), None) if topic else None
    if topic is None or row is None:
        raise Http404("This topic does not have both banks.")
    form = None
    if condition.judge is None:
        newest = condition.matchings.filter(topic=topic).order_by("-number").first()
        form = MatchForm(row.banks, row.pairs, newest.number if newest else 0, request.POST or None)
    if request.method == "POST":
        if form is None:
            raise Http404("A model matches these banks.")
        if form.is_valid():
            wanted = {name: form.cleaned_data[name] for name in ("pairs", "known")}
            try:
                match_by_person(condition=condition, topic=topic, **wanted, acting_user=request.user)
            except MatchingError as error:
                form.add_error(None, str(error))
            else:
                messages.success(request, f"Saved: {quantity(len(wanted['pairs']), 'matches')} on {topic.qid}.")
                return redirect("matched_banks", slug, condition_id)
    of_first, alone = lines(row)
    context = {
        "campaign": campaign,
        "condition": condition,
        "row": row,
        "lines": list(zip(of_first, form.in_order, strict=True)) if form else [(line, None) for line in of_first],
        "second": list(enumerate(row.banks.second.nuggets, start=1)),
        "alone": alone,
        "form": form,
    }
    return render(request, "metaeval/matched_topic.html", context)
