from django.urls import path

from assignment.argue.views import flags, judging

_QUESTIONS = "campaigns/<slug:slug>/argue-questions/<int:condition_id>/"
_REPORT = "argue/<int:task_id>/answers/<int:sheet_id>/"

urlpatterns = [
    path("argue/<int:task_id>/", judging.argue, name="argue"),
    path(_REPORT, judging.report, name="argue_report"),
    path(f"{_REPORT}label/", judging.label, name="argue_label"),
    path(f"{_REPORT}answers/", judging.answers, name="argue_answers"),
    path(f"{_REPORT}cannot/", judging.cannot, name="argue_cannot"),
    path(f"{_REPORT}flag/", judging.flag, name="argue_flag"),
    path(f"{_REPORT}later/", judging.later, name="argue_later"),
    path("argue/<int:task_id>/sign-off/", judging.sign_off, name="argue_sign_off"),
    path(_QUESTIONS, flags.questions, name="argue_questions"),
    path(f"{_QUESTIONS}adopt/", flags.adopt, name="resolve_argue_label"),
    path(f"{_QUESTIONS}decide/", flags.decide, name="decide_argue_label"),
]
