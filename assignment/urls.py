from django.urls import path

from assignment.views import control, editions, flags, labelling

urlpatterns = [
    path("assign/<int:task_id>/", labelling.assignment, name="assignment"),
    path("assign/<int:task_id>/answers/<int:sheet_id>/", labelling.answer, name="assignment_answer"),
    path("assign/<int:task_id>/answers/<int:sheet_id>/label/", labelling.label, name="assignment_label"),
    path("assign/<int:task_id>/answers/<int:sheet_id>/cannot/", labelling.cannot, name="assignment_cannot"),
    path("assign/<int:task_id>/answers/<int:sheet_id>/flag/", labelling.flag, name="assignment_flag"),
    path("assign/<int:task_id>/answers/<int:sheet_id>/mark/", labelling.mark, name="assignment_mark"),
    path("assign/<int:task_id>/answers/<int:sheet_id>/show/", labelling.show, name="assignment_show"),
    path("assign/<int:task_id>/answers/<int:sheet_id>/later/", labelling.later, name="assignment_later"),
    path("assign/<int:task_id>/nuggets/<int:nugget_id>/", labelling.nugget, name="assignment_nugget"),
    path("assign/<int:task_id>/sign-off/", labelling.sign_off, name="assignment_sign_off"),
    path("campaigns/<slug:slug>/editions/<int:condition_id>/", editions.editions, name="editions"),
    path("campaigns/<slug:slug>/control-runs/", control.control_runs, name="control_runs"),
    path("campaigns/<slug:slug>/questions/<int:condition_id>/", flags.questions, name="assignment_questions"),
    path("campaigns/<slug:slug>/questions/<int:condition_id>/adopt/", flags.adopt, name="resolve_label"),
    path(
        "campaigns/<slug:slug>/questions/<int:condition_id>/leave-out/",
        flags.leave_nugget_out,
        name="leave_nugget_out",
    ),
]
