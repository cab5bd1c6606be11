from django.urls import path

from assessor.desk.views import (
    campaigns,
    completeness,
    flags,
    history,
    home,
    imports,
    label_history,
    preferences,
    progress,
    prompts,
)

urlpatterns = [
    path("", home.home, name="home"),
    path("me/", preferences.habits, name="habits"),
    path("new-campaign/", campaigns.new_campaign, name="new_campaign"),
    path("campaigns/<slug:slug>/", campaigns.campaign, name="campaign"),
    path("campaigns/<slug:slug>/protocol/", campaigns.protocol, name="protocol"),
    path("campaigns/<slug:slug>/conditions/new/", campaigns.new_condition, name="new_condition"),
    path("campaigns/<slug:slug>/imports/", imports.imports, name="imports"),
    path("campaigns/<slug:slug>/imports/<int:import_id>/", imports.import_report, name="import_report"),
    path("campaigns/<slug:slug>/imports/<int:import_id>/report.json", imports.report_file, name="report_file"),
    path("campaigns/<slug:slug>/imports/<int:import_id>/stop/", imports.stop_import, name="stop_import"),
    path("answers/", flags.my_answers, name="my_answers"),
    path("campaigns/<slug:slug>/asked/", flags.questions, name="questions"),
    path("campaigns/<slug:slug>/asked/answer/", flags.answer_question, name="answer_question"),
    path("campaigns/<slug:slug>/labels/<slug:kind>/<int:sheet_id>/<str:item>/", label_history.way, name="label_way"),
    path("campaigns/<slug:slug>/missing/<slug:name>/", completeness.missing, name="missing"),
    path("campaigns/<slug:slug>/history/", history.history, name="history"),
    path("campaigns/<slug:slug>/progress/", progress.progress_page, name="progress"),
    path("campaigns/<slug:slug>/prompts/", prompts.prompts, name="prompts"),
    path("campaigns/<slug:slug>/prompts/import/", prompts.import_prompts, name="import_prompts"),
]
