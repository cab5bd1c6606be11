"""Settings, all of them; docs/administrator/settings.md says what each variable does. An odd value stops the start."""

from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from assessor.runtime import logs
from assessor.runtime.environment import (
    choice,
    database_url,
    flag,
    issuer,
    mail_server,
    number,
    object_storage,
    storage_of,
    text,
    words,
)
from assessor.runtime.folders import FILES, data_folder
from assessor.runtime.garbage import look_less_often
from assessor.runtime.secret_key import secret_key

look_less_often()  # here, as each process reads settings first and loads all else then

BASE_DIR = Path(__file__).resolve().parent.parent

DEBUG = flag("ASSAY_DEBUG", default=False)
ALLOWED_HOSTS = words("ASSAY_HOSTS", default="localhost,127.0.0.1")
CSRF_TRUSTED_ORIGINS = [f"https://{host}" for host in ALLOWED_HOSTS]
# Everything Assay writes outside the database: uploads under way, the embedded broker's messages; and what a bucket
# has for all machines, where there is one.
DATA_DIR = data_folder()
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
# Between two looks at a batch of requests at its provider; ten times that for one that was sent long ago.
BATCH_LOOK_SECONDS = number("ASSAY_BATCH_LOOK_SECONDS", default=60)
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
# Where the demo's endpoint without a model listens, which its judges page offers.
REHEARSAL_URL = text("ASSAY_REHEARSAL_URL", default="")

INSTALLED_APPS = [
    "assessor.apps.AssayAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
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
    "nuggets.questions",
    "assignment",
    "assignment.grading",
    "assignment.argue",
    "support",
    "assessor.relevance",
    "assessor.preference",
    "nuggets.reports",
    "nuggets.matching",
    "nuggets.candidates",
    "assignment.trials",
    "metaeval",
    "assessor.training",
    "assessor.plan",
    "assessor.archive",
    "assessor.exports",
    "assessor.api",
    "assessor.notices",
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
    "allauth.account.middleware.AccountMiddleware",
    "assessor.desk.middleware.SignInRequired",
    "assessor.accounts.middleware.SecondFactorFirst",
    "assessor.work.middleware.OwnInstallation",
    "assessor.desk.middleware.OwnZone",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "assessor.desk.middleware.NothingIsCached",
    "assessor.work.middleware.GuidelinesFirst",
]

ROOT_URLCONF = "assessor.urls"
WSGI_APPLICATION = "assessor.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [FILES / "templates"],
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
        _set_up_postgres(database, pool=pool)
    return database


def _set_up_postgres(database: dict[str, Any], **options: Any) -> None:
    # prepare_threshold: see assessor.runtime.sql. jit: the query of an assessor's first page took PostgreSQL more
    # than a second to compile, and a millisecond to answer. What the URL says itself comes later, and counts.
    own = database.get("OPTIONS", {})
    # Of a machine that is cut off, both ends know after half a minute: the server then lets go of its locks.
    away = {"keepalives_idle": 20, "keepalives_interval": 10, "keepalives_count": 2, "tcp_user_timeout": 30_000}
    there = " ".join(f"-c tcp_{name.removeprefix('tcp_')}={value}" for name, value in away.items())
    told = f"-c jit=off {there} {own.get('options', '')}".strip()
    database["OPTIONS"] = {**away, **own, "prepare_threshold": 5, "options": told, **options}
    # Of a server that was started again, each connection that is still held would cost a request.
    database["CONN_HEALTH_CHECKS"] = True


def _replicas(database: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the replica that ASSAY_REPLICA_URL names, if any, by its alias."""
    if not text("ASSAY_REPLICA_URL", default=""):
        return {}
    replica = database_url("ASSAY_REPLICA_URL", default="")
    if {database["ENGINE"], replica["ENGINE"]} != {"django.db.backends.postgresql"}:
        raise ImproperlyConfigured("ASSAY_REPLICA_URL names a replica of a PostgreSQL that DATABASE_URL names.")
    if replica["NAME"] != database["NAME"]:
        raise ImproperlyConfigured("ASSAY_REPLICA_URL must name the same database as DATABASE_URL.")
    if [replica[part] for part in ("HOST", "PORT")] == [database[part] for part in ("HOST", "PORT")]:
        raise ImproperlyConfigured("ASSAY_REPLICA_URL and DATABASE_URL name the same server.")
    # No pool, which would try without end to reach one that is gone.
    _set_up_postgres(replica, connect_timeout=2)
    return {"replica": replica | {"CONN_MAX_AGE": 60}}


DATABASES = {"default": _database()}
DATABASES |= _replicas(DATABASES["default"])
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_USER_MODEL = "accounts.Person"
AUTHENTICATION_BACKENDS = ["assessor.accounts.access.PasswordBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "account_login"

# allauth does sign-in, passwords, second factors and the provider's accounts; what is ours in it is assessor.accounts.
ACCOUNT_ADAPTER = "assessor.accounts.adapters.AccountAdapter"
ACCOUNT_AUTHENTICATED_LOGIN_REDIRECTS = False
ACCOUNT_CHANGE_EMAIL = True  # one address: a new one takes the place of the old one when it is confirmed
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_FORMS = {
    "change_password": "assessor.accounts.forms.PasswordForm",
    "login": "assessor.accounts.forms.SignInForm",
    "reauthenticate": "assessor.accounts.forms.ConfirmForm",
    "reset_password": "assessor.accounts.forms.ForgottenForm",
    "reset_password_from_key": "assessor.accounts.forms.NewPasswordForm",
}
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_LOGIN_TIMEOUT = 300  # seconds from the password to the code
ACCOUNT_PASSWORD_RESET_TOKEN_GENERATOR = "assessor.accounts.links.LinkTokens"  # noqa: S105  # a name
# Five wrong passwords for one name from one address, or five wrong codes of one person from anywhere, in a quarter of
# an hour. An address is many people's, behind whose proxy they all sit: 120 sign-ins a minute. Ten mails an hour to
# whatever address somebody claims as theirs.
ACCOUNT_RATE_LIMITS = {
    "login_failed": "5/15m/key",
    "login": "120/m/ip",
    "change_password": None,
    "manage_email": "10/h/user",
}
ACCOUNT_REAUTHENTICATION_REQUIRED = True
ACCOUNT_SESSION_REMEMBER = True
MFA_ADAPTER = "assessor.accounts.adapters.FactorAdapter"
MFA_FORMS = {
    "activate_totp": "assessor.accounts.forms.SetUpForm",
    "add_webauthn": "assessor.accounts.passkeys.AddForm",
    "authenticate": "assessor.accounts.forms.CodeForm",
    "authenticate_webauthn": "assessor.accounts.passkeys.UseForm",
    "edit_webauthn": "assessor.accounts.passkeys.RenameForm",
    "login_webauthn": "assessor.accounts.passkeys.SignInForm",
    "reauthenticate": "assessor.accounts.forms.ConfirmCodeForm",
    "reauthenticate_webauthn": "assessor.accounts.passkeys.ConfirmForm",
}
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_RATE_LIMITS = {"webauthn_login": "120/m/ip"}
MFA_RECOVERY_CODE_COUNT = 8
MFA_RECOVERY_CODE_DIGITS = 12
MFA_RECOVERY_CODES_SHOW_ONCE = True
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_TOTP_ISSUER = "Assay"
MFA_TOTP_TOLERANCE = 1  # steps of half a minute that a clock may be off
MFA_WEBAUTHN_USER_VERIFICATION = "required"
SOCIALACCOUNT_ADAPTER = "assessor.accounts.adapters.SignOnAdapter"
SOCIALACCOUNT_REAUTHENTICATION_REQUIRED = True

# The provider by which people may sign in, if any.
SSO_ISSUER = issuer("ASSAY_SSO_ISSUER")
SSO_CLIENT_ID = text("ASSAY_SSO_CLIENT_ID", default="")
SSO_CLIENT_SECRET = text("ASSAY_SSO_CLIENT_SECRET", default="")
SSO_NAME = text("ASSAY_SSO_NAME", default="single sign-on")
SSO_TRUSTS_AMR = flag("ASSAY_SSO_TRUSTS_AMR", default=False)
if SSO_ISSUER and not (SSO_CLIENT_ID and SSO_CLIENT_SECRET):
    raise ImproperlyConfigured("ASSAY_SSO_ISSUER also needs ASSAY_SSO_CLIENT_ID and ASSAY_SSO_CLIENT_SECRET.")

_mail = mail_server("ASSAY_MAIL")
MAILS = _mail is not None
EMAIL_TIMEOUT = 10
if _mail:
    EMAIL_HOST, EMAIL_PORT, EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = _mail[:4]
    EMAIL_USE_TLS, EMAIL_USE_SSL, DEFAULT_FROM_EMAIL = _mail[4:]

# Hosts to which webhooks may lead; none named: there are none.
WEBHOOK_HOSTS = words("ASSAY_WEBHOOK_HOSTS", default="")

# Requests of one token that a web process answers in a minute.
API_REQUESTS_A_MINUTE = number("ASSAY_API_REQUESTS_A_MINUTE", default=600)
# With which Prometheus reads /metrics; without one the page is not there.
METRICS_TOKEN = text("ASSAY_METRICS_TOKEN", default="")

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
SESSION_ENGINE = "assessor.accounts.sessions"
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
STATICFILES_DIRS = [FILES / "static"]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "metaeval.bundle.BundleFinder",
]
OBJECT_STORAGE = object_storage("ASSAY_STORAGE")
STORAGES = {
    "uploads": storage_of("uploads", OBJECT_STORAGE),
    "exports": storage_of("exports", OBJECT_STORAGE),
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
WHITENOISE_KEEP_ONLY_HASHED_FILES = True  # pages name no others, and compressing is slow
FILE_UPLOAD_HANDLERS = ["assessor.imports.uploads.SignedInUploadHandler"]
DATA_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 20_000  # a plan for all topics of a large campaign at once
DATA_UPLOAD_MAX_NUMBER_FILES = 400  # a folder of runs; each is an open file until the request ends
# On the same disk as where uploads are kept, and swept with them when an upload breaks off.
FILE_UPLOAD_TEMP_DIR = DATA_DIR / "uploads"
# The largest file an upload page takes; larger ones come in by command.
MAX_UPLOAD_BYTES = number("ASSAY_MAX_UPLOAD_MB", default=512) * 1024 * 1024

LANGUAGE_CODE = "en"  # of pages; those that assessors work on have others too: see assessor.accounts.languages
LANGUAGES = [("en", "English"), ("de", "Deutsch"), ("es", "Español")]
LOCALE_PATHS = [BASE_DIR / "assessor" / "locale"]
USE_TZ = True
TIME_ZONE = "UTC"  # of files, and of people who chose none
FORMAT_MODULE_PATH = "assessor.runtime.date_formats"

CACHES = {
    # allauth's, whose limits hold over all web processes. Where more are counted, the database forgets some of them.
    "default": {
        "BACKEND": "django.core.cache.backends.db.DatabaseCache",
        "LOCATION": "accounts_limit",
        "OPTIONS": {"MAX_ENTRIES": 100_000},
    },
    # Of each process: what is kept there is named by the state that it was counted on, so that it is never an old one.
    "process": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"},
}

CELERY_BROKER_URL = text("CELERY_BROKER_URL", default="embedded://")
CELERY_TASK_IGNORE_RESULT = True
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
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
    },
    "take up jobs that nobody works on": {
        "task": "assessor.llm.tasks.take_up_jobs",
        "schedule": 15.0,
    },
    "ask control sets whose time has come": {
        "task": "assessor.studies.tasks.ask_control_sets",
        "schedule": 600.0,
    },
    "send notices that are due": {
        "task": "assessor.notices.tasks.take_up_notices",
        "schedule": 15.0,
    },
    "give what was planned and nobody has tried to": {
        "task": "assessor.plan.tasks.take_up_plans",
        "schedule": 60.0,
    },
    "take up exports, and remove old files": {
        "task": "assessor.exports.tasks.take_up_exports",
        "schedule": 60.0,
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
