from django.urls import path

from assessor.plan.views import draws, effort, next_edition, overview
from assessor.plan.views import plan as views

_NEXT_EDITION = "campaigns/<slug:slug>/scores/<int:condition_id>/next-edition"

urlpatterns = [
    path("campaigns/<slug:slug>/plan/", views.plan, name="plan"),
    path("campaigns/<slug:slug>/plan/give/", views.give, name="plan_give"),
    path("campaigns/<slug:slug>/plan/hours/", overview.hours, name="plan_hours"),
    path("campaigns/<slug:slug>/effort/", effort.effort_page, name="effort"),
    path("campaigns/<slug:slug>/effort/figures/<str:name>.<str:form>", effort.effort_figure, name="effort_figure"),
    path("campaigns/<slug:slug>/plan/allocate/", overview.allocate, name="allocate_plan"),
    path("campaigns/<slug:slug>/plan/draws/", draws.draws, name="draws"),
    path("campaigns/<slug:slug>/plan/advance/", views.try_again, name="advance_plan"),
    path("campaigns/<slug:slug>/plan/runs/", views.runs, name="plan_runs"),
    path("campaigns/<slug:slug>/plan/<int:task_id>/withdraw/", views.withdraw, name="withdraw_task"),
    path("campaigns/<slug:slug>/plan/waiting/<int:waiting_id>/take-out/", views.take_out, name="take_out_of_queue"),
    path("campaigns/<slug:slug>/plan/planned/<int:planned_id>/take-back/", views.take_back, name="take_back_planned"),
    path("campaigns/<slug:slug>/plan/work/<int:condition_id>/<int:topic_id>/", views.piece, name="plan_piece"),
    path(f"{_NEXT_EDITION}/", next_edition.next_edition, name="next_edition"),
    path(
        f"{_NEXT_EDITION}/figures/<str:name>.<str:form>", next_edition.next_edition_figure, name="next_edition_figure"
    ),
]
