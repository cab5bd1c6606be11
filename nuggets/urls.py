from django.urls import path

from nuggets import views

urlpatterns = [
    path("nuggets/<int:bank_id>/", views.editor, name="nugget_editor"),
    path("nuggets/<int:bank_id>/add/", views.add, name="nugget_add"),
    path("nuggets/<int:bank_id>/<uuid:uid>/reword/", views.reword, name="nugget_reword"),
    path("nuggets/<int:bank_id>/<uuid:uid>/importance/", views.importance, name="nugget_importance"),
    path("nuggets/<int:bank_id>/<uuid:uid>/move/", views.move, name="nugget_move"),
    path("nuggets/<int:bank_id>/<uuid:uid>/delete/", views.delete, name="nugget_delete"),
    path("nuggets/<int:bank_id>/<uuid:uid>/attach/", views.attach, name="nugget_attach"),
    path("nuggets/<int:bank_id>/<uuid:uid>/detach/", views.detach, name="nugget_detach"),
    path("nuggets/<int:bank_id>/<uuid:uid>/split/", views.split, name="nugget_split"),
    path("nuggets/<int:bank_id>/<uuid:uid>/note/", views.note, name="nugget_note"),
    path("nuggets/<int:bank_id>/merge/", views.merge, name="nugget_merge"),
    path("nuggets/<int:bank_id>/reading/", views.reading, name="nugget_reading"),
    path("nuggets/<int:bank_id>/read/", views.read, name="nugget_read"),
    path("nuggets/<int:bank_id>/undo/", views.undo, name="nugget_undo"),
    path("nuggets/<int:bank_id>/redo/", views.redo, name="nugget_redo"),
    path("nuggets/<int:bank_id>/finish/", views.finish, name="nugget_finish"),
    path("nuggets/<int:bank_id>/reopen/", views.reopen, name="nugget_reopen"),
]
