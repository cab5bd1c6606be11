from django.urls import path

from assignment.trials import views

urlpatterns = [
    path("nuggets/<int:bank_id>/trials/", views.trials, name="nugget_trials"),
    path("nuggets/<int:bank_id>/trials/<uuid:uid>/", views.try_one, name="try_nugget"),
    path("campaigns/<slug:slug>/conditions/<int:condition_id>/trials/", views.trial_setting, name="trial_setting"),
]
