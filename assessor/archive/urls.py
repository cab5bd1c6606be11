from django.urls import path

from assessor.archive import views

urlpatterns = [
    path("campaigns/<slug:slug>/archive/", views.archive, name="archive"),
    path("campaigns/<slug:slug>/archive/make/", views.make_archive, name="make_archive"),
]
