from django.urls import path

from assessor.work.views import guidelines, tasks

urlpatterns = [
    path("guidelines/<slug:kind>/", guidelines.guidelines, name="guidelines"),
    path("work/<int:task_id>/guidelines/", guidelines.task_guidelines, name="task_guidelines"),
    path("campaigns/<slug:slug>/guidelines/", guidelines.campaign_guidelines, name="campaign_guidelines"),
    path("campaigns/<slug:slug>/guidelines/<slug:kind>/", guidelines.edit_guidelines, name="edit_guidelines"),
    path(
        "campaigns/<slug:slug>/guidelines/<slug:kind>/preview/",
        guidelines.preview_guidelines,
        name="preview_guidelines",
    ),
    path(
        "campaigns/<slug:slug>/guidelines/<slug:kind>/<int:version>/",
        guidelines.guidelines_version,
        name="guidelines_version",
    ),
    path("work/<int:task_id>/time/", tasks.time_spent, name="time_spent"),
    path("queues/<int:condition_id>/draw/", tasks.draw, name="draw_topic"),
]
