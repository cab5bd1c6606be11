from django.urls import path

from assessor.relevance import views

urlpatterns = [
    path("relevance/<int:task_id>/", views.relevance, name="relevance"),
    path("relevance/<int:task_id>/answers/<int:passage_id>/", views.passage, name="relevance_passage"),
    path("relevance/<int:task_id>/judge/", views.judge, name="relevance_judge"),
    path("relevance/<int:task_id>/undo/", views.undo, name="relevance_undo"),
    path("relevance/<int:task_id>/draw/", views.draw, name="relevance_draw"),
    path("relevance/<int:task_id>/show/", views.show, name="relevance_show"),
]
