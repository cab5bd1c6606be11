from django.contrib.auth import views as auth
from django.urls import path

from assessor.desk.views import campaigns, exports, home, imports, plan, prompts

urlpatterns = [
    path("", home.home, name="home"),
    path(
        "login/",
        auth.LoginView.as_view(template_name="desk/login.html"),
        name="login",
    ),
    path("logout/", auth.LogoutView.as_view(), name="logout"),
    path("password/", auth.PasswordChangeView.as_view(template_name="desk/password.html"), name="password_change"),
    path(
        "password/done/",
        auth.PasswordChangeDoneView.as_view(template_name="desk/password_done.html"),
        name="password_change_done",
    ),
    path("new-campaign/", campaigns.new_campaign, name="new_campaign"),
    path("campaigns/<slug:slug>/", campaigns.campaign, name="campaign"),
    path("campaigns/<slug:slug>/protocol/", campaigns.protocol, name="protocol"),
    path("campaigns/<slug:slug>/conditions/new/", campaigns.new_condition, name="new_condition"),
    path("campaigns/<slug:slug>/control-runs/", campaigns.control_runs, name="control_runs"),
    path("campaigns/<slug:slug>/imports/", imports.imports, name="imports"),
    path("campaigns/<slug:slug>/imports/<int:import_id>/", imports.import_report, name="import_report"),
    path("campaigns/<slug:slug>/imports/<int:import_id>/stop/", imports.stop_import, name="stop_import"),
    path("campaigns/<slug:slug>/plan/", plan.plan, name="plan"),
    path("campaigns/<slug:slug>/plan/<int:task_id>/withdraw/", plan.withdraw, name="withdraw_task"),
    path("campaigns/<slug:slug>/plan/waiting/<int:waiting_id>/take-out/", plan.take_out, name="take_out_of_queue"),
    path("campaigns/<slug:slug>/prompts/", prompts.prompts, name="prompts"),
    path("campaigns/<slug:slug>/exports/", exports.exports, name="exports"),
    path("campaigns/<slug:slug>/exports/topics.<str:form>", exports.export_topics, name="export_topics"),
    path("campaigns/<slug:slug>/exports/segments.jsonl", exports.export_segments, name="export_segments"),
    path("campaigns/<slug:slug>/exports/runs.csv", exports.export_run_list, name="export_run_list"),
    path("campaigns/<slug:slug>/exports/qrels/<int:source_id>.txt", exports.export_qrels, name="export_qrels"),
    path(
        "campaigns/<slug:slug>/exports/judgments/<int:condition_id>.csv",
        exports.export_judgments,
        name="export_judgments",
    ),
    path(
        "campaigns/<slug:slug>/exports/support/<int:condition_id>.csv",
        exports.export_support_judgments,
        name="export_support_judgments",
    ),
    path("campaigns/<slug:slug>/exports/runs/<int:run_id>.jsonl", exports.export_run, name="export_run"),
    path(
        "campaigns/<slug:slug>/exports/retrieval/<int:run_id>.txt",
        exports.export_retrieval_run,
        name="export_retrieval_run",
    ),
    path("campaigns/<slug:slug>/exports/pool.txt", exports.export_pool, name="export_pool"),
    path(
        "campaigns/<slug:slug>/exports/nuggets/<int:condition_id>.jsonl", exports.export_nuggets, name="export_nuggets"
    ),
    path(
        "campaigns/<slug:slug>/exports/nuggets/<int:condition_id>.lineage.jsonl",
        exports.export_lineage,
        name="export_lineage",
    ),
    path(
        "campaigns/<slug:slug>/exports/assignments/<int:condition_id>.jsonl",
        exports.export_assignments,
        name="export_assignments",
    ),
    path(
        "campaigns/<slug:slug>/exports/support/<int:condition_id>.jsonl", exports.export_support, name="export_support"
    ),
]
