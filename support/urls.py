from django.urls import path

from support.views import flags, judging, pairs

urlpatterns = [
    path("campaigns/<slug:slug>/pairs/", pairs.pairs, name="support_pairs"),
    path("campaigns/<slug:slug>/support-questions/<int:condition_id>/", flags.questions, name="support_questions"),
    path(
        "campaigns/<slug:slug>/support-questions/<int:condition_id>/adopt/",
        flags.adopt,
        name="resolve_support_label",
    ),
    path(
        "campaigns/<slug:slug>/support-questions/<int:condition_id>/leave-out/",
        flags.leave_citation_out,
        name="leave_citation_out",
    ),
    path("support/<int:task_id>/", judging.support, name="support"),
    path("support/<int:task_id>/answers/<int:sheet_id>/", judging.answer, name="support_answer"),
    path("support/<int:task_id>/answers/<int:sheet_id>/label/", judging.label, name="support_label"),
    path("support/<int:task_id>/answers/<int:sheet_id>/cannot/", judging.cannot, name="support_cannot"),
    path("support/<int:task_id>/answers/<int:sheet_id>/flag/", judging.flag, name="support_flag"),
    path("support/<int:task_id>/answers/<int:sheet_id>/show/", judging.show, name="support_show"),
    path("support/<int:task_id>/answers/<int:sheet_id>/later/", judging.later, name="support_later"),
    path("support/<int:task_id>/sign-off/", judging.sign_off, name="support_sign_off"),
]
