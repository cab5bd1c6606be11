from django.urls import path

from nuggets.reports import views

urlpatterns = [path("campaigns/<slug:slug>/reports/", views.reports, name="reports")]
