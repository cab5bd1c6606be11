from django.urls import path

from assessor.work import views

urlpatterns = [
    path("guidelines/<slug:kind>/", views.guidelines, name="guidelines"),
    path("work/<int:task_id>/time/", views.time_spent, name="time_spent"),
    path("queues/<int:condition_id>/draw/", views.draw, name="draw_topic"),
]
