from django.urls import path

from nuggets.questions import views

urlpatterns = [
    path(f"nuggets/<int:pk>/<uuid:uid>/{view.__name__}/", view, name=f"nugget_{view.__name__}")
    for view in (
        views.gold_add,
        views.gold_reword,
        views.gold_remove,
        views.gold_cite,
        views.gold_uncite,
        views.aggregate,
        views.nest,
    )
]
