"""Settings, all of them; docs/administrator/settings.md says what each variable does. An odd value stops the start."""

from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from kombu import Queue

from assessor.runtime import logs
from assessor.runtime.environment import choice, database_url, flag, number, text, words
from assessor.runtime.secret_key import secret_key

BASE_DIR = Path(__file__).resolve().parent.parent

DEBUG = flag("ASSAY_DEBUG", default=False)
ALLOWED_HOSTS = words("ASSAY_HOSTS", default="localhost,127.0.0.1")
CSRF_TRUSTED_ORIGINS = [f"https://{host}" for host in ALLOWED_HOSTS]
# Everything Assay writes outside the database: uploads under way, the embedded broker's messages.
DATA_DIR = Path(text("ASSAY_DATA_DIR", default=str(BASE_DIR / "var"))).resolve()
try:
    for _folder in ("", "uploads", "broker", "static", "exports"):
        (DATA_DIR / _folder).mkdir(parents=True, exist_ok=True, mode=0o700)
except OSError as error:
    raise ImproperlyConfigured(
        f"The data folder can't be made: {error.strerror}: {error.filename}. ASSAY_DATA_DIR names another one."
    ) from error
# Folders of prompts that are dropped in beside the project's own.
PROMPT_SETS = Path(text("ASSAY_PROMPT_SETS", default=str(DATA_DIR / "prompt-sets")))
# Hosts to which requests to models may go; none named: any.
LLM_HOSTS = words("ASSAY_LLM_HOSTS", default="")
# The longest reply of a model's endpoint that is read, unpacked.
MAX_REPLY_BYTES = number("ASSAY_MAX_REPLY_MB", default=2) * 1024 * 1024
# Worker processes that work on one job at once.
RUNNERS_PER_JOB = number("ASSAY_RUNNERS_PER_JOB", default=1)
# How long a drawn topic stays somebody's without a sign of work: a night, and the morning after it.
TOPIC_LEASE = timedelta(hours=number("ASSAY_LEASE_HOURS", default=24))
# How many days files that were made in the background are kept, and how many records are sent while they are written.
EXPORT_DAYS = number("ASSAY_EXPORT_DAYS", default=30)
EXPORT_AT_ONCE = number("ASSAY_EXPORT_AT_ONCE", default=25_000)
# Believe what the proxy says of its clients: how they came, and from where.
BEHIND_PROXY = flag("ASSAY_BEHIND_PROXY", default=False)
# Shown on every page of the demo, so that nobody takes it for the real thing.
DEMO = flag("ASSAY_DEMO", default=False)

INSTALLED_APPS = [
    "assessor.apps.AssayAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "axes",
    "csp",
    "django_htmx",
    "template_partials",
    "assessor.accounts",
    "assessor.campaigns",
    "assessor.imports",
    "assessor.work",
    "assessor.labels",
    "assessor.llm",
    "assessor.scores",
    "assessor.studies",
    # Kinds of condition and of label: pages and files list them in this order.
    "nuggets",
    "assignment",
    "support",
    "assessor.relevance",
    "metaeval",
    "assessor.training",
    "assessor.plan",
    "assessor.archive",
    "assessor.exports",
    "assessor.api",
    "assessor.desk",
    "demo",
]

MIDDLEWARE = [
    "assessor.runtime.logs.RequestLog",
    "django.middleware.security.SecurityMiddleware",
    "assessor.runtime.health.Health",
    "assessor.desk.middleware.PagesAreCompressed",
    "csp.middleware.CSPMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "assessor.desk.middleware.SignInRequired",
    "assessor.accounts.middleware.SecondFactorFirst",
    "assessor.work.middleware.OwnInstallation",
    "assessor.desk.middleware.OwnZone",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "assessor.desk.middleware.NothingIsCached",
    "assessor.work.middleware.GuidelinesFirst",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "assessor.urls"
WSGI_APPLICATION = "assessor.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "assessor.work.context_processors.installation",
                "assessor.desk.context_processors.desk",
            ],
        },
    }
]


def _database() -> dict[str, Any]:
    """Return SQLite in DATA_DIR, or what DATABASE_URL names.

    WAL lets readers go on while one writes; IMMEDIATE makes two writers wait for each other instead of failing
    with "database is locked"; FULL means that what was committed survives a power cut.
    """
    database = database_url("DATABASE_URL", default="sqlite://")
    if database["ENGINE"] == "django.db.backends.sqlite3":
        database["ENGINE"] = "assessor.runtime.sqlite_backend"
        if database["NAME"] == ":memory:":
            database["NAME"] = DATA_DIR / "assay.sqlite3"
        database["OPTIONS"] = database.get("OPTIONS", {}) | {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;",
        }
        database["TEST"] = {"NAME": DATA_DIR / "test.sqlite3"}
        # To open and close the file was half of a short request's time; the last one to close it checkpoints.
        database["CONN_MAX_AGE"] = None
    else:
        # While the server is gone, whoever asks for a page is told so after this many seconds.
        pool = {"min_size": 1, "max_size": number("ASSAY_DATABASE_POOL", default=10), "timeout": 10}
        # prepare_threshold: see assessor.runtime.prepared.
        database["OPTIONS"] = database.get("OPTIONS", {}) | {"pool": pool, "prepare_threshold": 5}
        # Of a server that was started again, each connection that the pool still holds would cost a request.
        database["CONN_HEALTH_CHECKS"] = True
    return database


DATABASES = {"default": _database()}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_USER_MODEL = "accounts.Person"
AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "assessor.accounts.access.PasswordBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "login"

# Five wrong passwords for one name from one address: a quarter of an hour's wait. Kept in the database, so that
# it holds over all web processes.
AXES_FAILURE_LIMIT = 5
AXES_COOLOFF_TIME = 0.25
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_CLIENT_IP_CALLABLE = "assessor.runtime.proxy.client_address" if BEHIND_PROXY else None
AXES_LOCKOUT_TEMPLATE = "accounts/locked_out.html"
AXES_HTTP_RESPONSE_CODE = 429
AXES_RESET_ON_SUCCESS = True
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False  # the wait is as long as the page says
AXES_ENABLE_ACCESS_FAILURE_LOG = False
AXES_VERBOSE = False
AXES_ENABLE_ADMIN = False

# Requests of one token that a web process answers in a minute.
API_REQUESTS_A_MINUTE = number("ASSAY_API_REQUESTS_A_MINUTE", default=600)

# Behind TLS everywhere but on one's own machine.
HTTPS = flag("ASSAY_HTTPS", default=True)
SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = [r"^(healthz|readyz)$"]  # probes come from inside, in plain HTTP
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if BEHIND_PROXY else None
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS
SECURE_HSTS_PRELOAD = HTTPS
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SESSION_COOKIE_NAME = "__Host-sessionid" if HTTPS else "sessionid"  # no other host's page can plant it
SESSION_COOKIE_AGE = 14 * 24 * 3600
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CSRF_FAILURE_VIEW = "assessor.desk.views.errors.csrf_failure"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
    }
}

STATIC_URL = "static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "metaeval.bundle.BundleFinder",
]
STORAGES = {
    "default": {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"location": DATA_DIR / "uploads"},
    },
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
FILE_UPLOAD_HANDLERS = ["assessor.imports.uploads.SignedInUploadHandler"]
DATA_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 20_000  # a plan for all topics of a large campaign at once
# On the same disk as where uploads are kept, and swept with them when an upload breaks off.
FILE_UPLOAD_TEMP_DIR = DATA_DIR / "uploads"
# The largest file an upload page takes; larger ones come in by command.
MAX_UPLOAD_BYTES = number("ASSAY_MAX_UPLOAD_MB", default=512) * 1024 * 1024

LANGUAGE_CODE = "en"
USE_I18N = False
USE_TZ = True
TIME_ZONE = "UTC"  # of files, and of people who chose none
FORMAT_MODULE_PATH = "assessor.runtime.date_formats"

# Of each process; what is kept there is named by the state that it was counted on, so that it is never an old one.
CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}

CELERY_BROKER_URL = text("CELERY_BROKER_URL", default="embedded://")
CELERY_TASK_IGNORE_RESULT = True
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
# Jobs take hours, imports minutes: a worker of its own for either (-Q) keeps one from waiting for the other.
CELERY_TASK_QUEUES = (Queue("celery"), Queue("jobs"))
CELERY_TASK_ROUTES = {"assessor.llm.tasks.work_on_job": {"queue": "jobs"}}
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
# KiB: what a calculation loaded and held goes with the process, once its task is done.
CELERY_WORKER_MAX_MEMORY_PER_CHILD = 150_000
CELERY_BEAT_SCHEDULE_FILENAME = str(DATA_DIR / "beat-schedule")
CELERY_BEAT_SCHEDULER = "assessor.runtime.beat:Scheduler"
CELERY_BEAT_SCHEDULE = {
    "take up imports that nobody works on": {
        "task": "assessor.imports.tasks.take_up_imports",
        "schedule": 30.0,
        "options": {"expires": 25},
    },
    "take up jobs that nobody works on": {
        "task": "assessor.llm.tasks.take_up_jobs",
        "schedule": 15.0,
        "options": {"expires": 10},
    },
    "take up exports, and remove old files": {
        "task": "assessor.exports.tasks.take_up_exports",
        "schedule": 60.0,
        "options": {"expires": 50},
    },
}
if CELERY_BROKER_URL.startswith("embedded:"):
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "data_folder_in": str(DATA_DIR / "broker"),
        "data_folder_out": str(DATA_DIR / "broker"),
        "control_folder": str(DATA_DIR / "broker"),
        "polling_interval": 0.1,
    }

# The demo's terminal is for what its visitor has to read.
LOGGING = logs.configuration(choice("ASSAY_LOG", ("lines", "json")), requests=not DEMO)
if SENTRY_DSN := text("SENTRY_DSN", default=""):
    from assessor.runtime import error_reports  # the collector's client is loaded only where there is one

    error_reports.start(SENTRY_DSN)

SECRET_KEY = secret_key(
    DATA_DIR,
    {
        "ASSAY_HOSTS": ALLOWED_HOSTS,
        "ASSAY_BIND": [urlsplit("//" + text("ASSAY_BIND", default="127.0.0.1")).hostname or "0.0.0.0"],  # noqa: S104
        "DATABASE_URL": [DATABASES["default"]["HOST"]],
        "CELERY_BROKER_URL": [urlsplit(CELERY_BROKER_URL).hostname or ""],
    },
)
