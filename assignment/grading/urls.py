from django.urls import path

from assignment.grading.views import add_passages

urlpatterns = [path("campaigns/<slug:slug>/passages-to-grade/", add_passages, name="add_passages")]
