from django.urls import path

from support.views import pairs

urlpatterns = [
    path("campaigns/<slug:slug>/pairs/", pairs.pairs, name="support_pairs"),
]
