from django.urls import path

from assignment.views import labelling, questions, scores

urlpatterns = [
    path("assign/<int:task_id>/", labelling.assignment, name="assignment"),
    path("assign/<int:task_id>/answers/<int:sheet_id>/", labelling.answer, name="assignment_answer"),
    path("assign/<int:task_id>/answers/<int:sheet_id>/label/", labelling.label, name="assignment_label"),
    path("assign/<int:task_id>/answers/<int:sheet_id>/cannot/", labelling.cannot, name="assignment_cannot"),
    path("assign/<int:task_id>/answers/<int:sheet_id>/flag/", labelling.flag, name="assignment_flag"),
    path("assign/<int:task_id>/answers/<int:sheet_id>/mark/", labelling.mark, name="assignment_mark"),
    path("assign/<int:task_id>/answers/<int:sheet_id>/later/", labelling.later, name="assignment_later"),
    path("assign/<int:task_id>/nuggets/<int:nugget_id>/", labelling.nugget, name="assignment_nugget"),
    path("assign/<int:task_id>/sign-off/", labelling.sign_off, name="assignment_sign_off"),
    path("campaigns/<slug:slug>/questions/<int:condition_id>/", questions.questions, name="assignment_questions"),
    path("campaigns/<slug:slug>/questions/<int:condition_id>/adopt/", questions.adopt, name="adopt_label"),
    path(
        "campaigns/<slug:slug>/questions/<int:condition_id>/leave-out/",
        questions.leave_nugget_out,
        name="leave_nugget_out",
    ),
    path("campaigns/<slug:slug>/scores/", scores.scores, name="scores"),
    path("campaigns/<slug:slug>/scores/<int:condition_id>.<str:form>", scores.export_scores, name="export_scores"),
    path(
        "campaigns/<slug:slug>/scores/<int:condition_id>/topics/<int:topic_id>/",
        scores.topic_scores,
        name="topic_scores",
    ),
    path("campaigns/<slug:slug>/scores/<int:condition_id>/runs/<int:run_id>/", scores.run_scores, name="run_scores"),
]
