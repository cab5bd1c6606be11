from django.urls import path

from nuggets.reports.views import editor, runs

urlpatterns = [
    path("campaigns/<slug:slug>/reports/", runs.reports, name="reports"),
    path("reports/<int:report_id>/", editor.editor, name="report_editor"),
    path("reports/<int:pk>/add/", editor.add, name="report_add"),
    path("reports/<int:pk>/<uuid:uid>/take/", editor.take, name="report_take"),
    path("reports/<int:pk>/<uuid:uid>/leave/", editor.leave, name="report_leave"),
    path("reports/<int:pk>/<uuid:uid>/reword/", editor.reword, name="report_reword"),
    path("reports/<int:pk>/<uuid:uid>/move/", editor.move, name="report_move"),
    path("reports/<int:pk>/undo/", editor.take_back, name="report_undo"),
    path("reports/<int:pk>/redo/", editor.do_again, name="report_redo"),
    path("reports/<int:pk>/sign/", editor.sign, name="report_sign"),
    path("reports/<int:report_id>/reopen/", editor.reopen, name="report_reopen"),
]
