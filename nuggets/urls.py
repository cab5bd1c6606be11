from django.urls import path

from nuggets.views import drafts, editor

urlpatterns = [
    path("nuggets/<int:bank_id>/", editor.editor, name="nugget_editor"),
    path("nuggets/<int:pk>/add/", editor.add, name="nugget_add"),
    path("nuggets/<int:pk>/<uuid:uid>/reword/", editor.reword, name="nugget_reword"),
    path("nuggets/<int:pk>/<uuid:uid>/keep/", editor.keep, name="nugget_keep"),
    path("nuggets/<int:pk>/<uuid:uid>/importance/", editor.importance, name="nugget_importance"),
    path("nuggets/<int:pk>/<uuid:uid>/move/", editor.move, name="nugget_move"),
    path("nuggets/<int:pk>/<uuid:uid>/delete/", editor.delete, name="nugget_delete"),
    path("nuggets/<int:pk>/<uuid:uid>/attach/", editor.attach, name="nugget_attach"),
    path("nuggets/<int:pk>/<uuid:uid>/detach/", editor.detach, name="nugget_detach"),
    path("nuggets/<int:pk>/<uuid:uid>/split/", editor.split, name="nugget_split"),
    path("nuggets/<int:pk>/<uuid:uid>/note/", editor.note, name="nugget_note"),
    path("nuggets/<int:pk>/merge/", editor.merge, name="nugget_merge"),
    path("nuggets/<int:pk>/reading/", editor.reading, name="nugget_reading"),
    path("nuggets/<int:pk>/read/", editor.read, name="nugget_read"),
    path("nuggets/<int:pk>/undo/", editor.undo, name="nugget_undo"),
    path("nuggets/<int:pk>/redo/", editor.redo, name="nugget_redo"),
    path("nuggets/<int:pk>/finish/", editor.finish, name="nugget_finish"),
    path("nuggets/<int:bank_id>/drafts/", drafts.bank_drafts, name="nugget_drafts"),
    path("campaigns/<slug:slug>/drafts/<int:condition_id>/", drafts.condition_drafts, name="condition_drafts"),
    path("nuggets/<int:bank_id>/reopen/", editor.reopen, name="nugget_reopen"),
]
