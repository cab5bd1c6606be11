"""Tries compose.yaml without a container engine: each command in it, by hand, with the environment that it gives.

What .dockerignore lets into the image is copied to an empty folder and run from there, as a user without a home, on a
database and with two roles that deploy/postgres/*.sql make on the PostgreSQL of 127.0.0.1, behind nginx with
deploy/nginx/*.conf and a certificate of its own. Only names of hosts, ports and folders are other ones. Given
the folder of an unpacked image, it runs that instead, as the image's user and with nothing else in sight.

    python -m tests.deploy.try_deployment [redis | amqp] [IMAGE]
"""

import json
import os
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import httpx2
import psutil
import psycopg

from tests.deploy.compose import ROOT, let_into_the_image, read_env, services
from tests.ports import free_port

BIN = Path(sys.executable).parent
PSQL = ["psql", "-qX", "-h", "127.0.0.1", "-U", "postgres"]
PASSWORD = "an organizer's password"
_STARTS = 120  # seconds


def told(what: str) -> None:
    print(f"{time.monotonic() - _begun:7.1f} s  {what}", flush=True)


_begun = time.monotonic()


def wait_until(happens: Callable[[], Any], what: str) -> Any:
    until = time.monotonic() + _STARTS
    while time.monotonic() < until:
        try:
            if found := happens():
                return found
        except (httpx2.HTTPError, OSError, subprocess.CalledProcessError):
            pass
        time.sleep(0.3)
    raise SystemExit(f"{what}: not within {_STARTS} s")


class Trial:
    """An installation in a folder, from what the files for containers say."""

    def __init__(self, folder: Path, broker: str, image: Path | None = None) -> None:
        self.folder, self.broker, self.image = folder, broker, image
        self.database = f"assay_try_{secrets.token_hex(3)}"
        env = read_env((ROOT / ".env.example").read_text()) | {"ASSAY_HOSTS": "localhost", "COMPOSE_PROFILES": broker}
        self.env = {name: value or secrets.token_hex(32) for name, value in env.items()}
        self.services = services(self.env)
        self.web, self.tls, self.plain, self.queue = (free_port() for _ in range(4))
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.program, self.data = ((image or folder) / name for name in ("assay", "data"))

    def environment(self, name: str) -> dict[str, str]:
        """Return a service's environment, with the hosts, ports and folders of here."""
        here = {
            "@postgres:5432/assay": f"@127.0.0.1:5432/{self.database}",
            "@broker/": f"@127.0.0.1:{self.queue}/" if self.broker == "redis" else "@127.0.0.1:5672/assay-try",
        }
        env = {
            "PATH": f"{'/venv/bin' if self.image else BIN}:/usr/bin:/bin",
            "PYTHONDONTWRITEBYTECODE": "1",
            "HOME": "/home/assay",
        }  # of the Dockerfile
        env |= {"ASSAY_DATA_DIR": self.seen(self.data), "ASSAY_BIND": f"127.0.0.1:{self.web}"}
        for variable, value in self.services[name]["environment"].items():
            for there, instead in here.items():
                value = value.replace(there, instead)
            env[variable] = value
        return env

    def seen(self, path: Path) -> str:
        """Return a path as the program sees it."""
        return f"/{path.relative_to(self.image)}" if self.image else str(path)

    def inside(self, *command: str) -> list[str]:
        """Return the command that runs one where the program is."""
        chroot = ["/usr/sbin/chroot", "--userspec=assay:assay", str(self.image), "env", "-C", "/assay"]
        return [*chroot, *command] if self.image else [*command]

    def run(self, name: str, *command: str, **more: str) -> str:
        """Run a command to its end with a service's environment, and more of it; return what it printed."""
        env = self.environment(name) | more
        done = subprocess.run(self.inside(*command), cwd=self.program, env=env, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{' '.join(command)}:\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def start(self, name: str) -> None:
        log = (self.folder / f"{name}.log").open("a")
        command = self.inside(*self.services[name]["command"])
        self.processes[name] = subprocess.Popen(
            command, cwd=self.program, env=self.environment(name), stdout=log, stderr=log, start_new_session=True
        )

    def stop(self, *names: str) -> None:
        for name in names:
            self.processes[name].terminate()
        for name in names:
            self.processes.pop(name).wait(timeout=60)

    def copy_the_program(self) -> None:
        """Copy what .dockerignore lets in, and nothing else."""
        for name in let_into_the_image():
            there = self.program / name
            there.parent.mkdir(parents=True, exist_ok=True)
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, there, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(ROOT / name, there)
        self.data.mkdir(mode=0o700)

    def make_database(self, name: str) -> None:
        sql(ROOT / "deploy/postgres/database.sql", f"database={name}")

    def start_broker(self) -> None:
        if self.broker == "amqp":
            password = self.env["BROKER_PASSWORD"]
            for words in (
                ["add_vhost", "assay-try"],
                ["add_user", "assay", password],
                ["set_permissions", "-p", "assay-try", "assay", ".*", ".*", ".*"],
            ):
                subprocess.run(["rabbitmqctl", "-q", *words], check=True, stdout=subprocess.DEVNULL)
            return
        command = [*self.services["redis"]["command"]]
        command[-1] += f" --port {self.queue} --bind 127.0.0.1 --dir {self.folder}"
        env = os.environ | self.services["redis"]["environment"]
        log = (self.folder / "redis.log").open("w")
        self.processes["redis"] = subprocess.Popen(command, env=env, stdout=log, stderr=log, start_new_session=True)

    def start_proxy(self) -> None:
        """Start nginx with the project's files; the ports and the certificate are of here."""
        server = (ROOT / "deploy/nginx/assay.conf").read_text()
        server = re.sub(r"listen \[::\].*\n", "", server)
        server = server.replace("listen 80;", f"listen 127.0.0.1:{self.plain};")
        server = server.replace("listen 443 ssl", f"listen 127.0.0.1:{self.tls} ssl")
        server = server.replace("/etc/nginx/tls/", f"{self.folder}/")
        upstream = (ROOT / "deploy/nginx/upstream.conf").read_text().replace("127.0.0.1:8000", f"127.0.0.1:{self.web}")
        subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
        files = ["-keyout", f"{self.folder}/assay.key", "-out", f"{self.folder}/assay.crt"]
        certificate = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *subject, *files]
        subprocess.run(certificate, check=True, capture_output=True)
        temporary = "".join(
            f"{kind}_temp_path {self.folder}/nginx-{kind};"
            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        configuration = (
            # Its workers must get into this folder, which is this user's alone.
            f"user root; daemon off; pid {self.folder}/nginx.pid; error_log stderr; events {{}}"
            f"http {{ include /etc/nginx/mime.types; access_log off; {temporary} {upstream} {server} }}"
        )
        path = self.folder / "nginx.conf"
        path.write_text(configuration)
        log = (self.folder / "proxy.log").open("w")
        self.processes["proxy"] = subprocess.Popen(["nginx", "-c", str(path)], stdout=log, stderr=log)

    def client(self) -> httpx2.Client:
        return httpx2.Client(
            base_url=f"https://localhost:{self.tls}", verify=str(self.folder / "assay.crt"), timeout=60, trust_env=False
        )

    def close(self) -> None:
        self.stop(*[name for name in self.processes if self.processes[name].poll() is None])
        if self.broker == "amqp":
            for words in (["delete_vhost", "assay-try"], ["delete_user", "assay"]):
                subprocess.run(["rabbitmqctl", "-q", *words], stdout=subprocess.DEVNULL, check=False)
        for statement in (
            f"DROP DATABASE IF EXISTS {self.database} WITH (FORCE)",
            f"DROP DATABASE IF EXISTS {self.database}_2 WITH (FORCE)",
            "DROP ROLE IF EXISTS assay",
            "DROP ROLE IF EXISTS assay_owner",
        ):
            subprocess.run([*PSQL, "-c", statement], check=True, stderr=subprocess.DEVNULL)


def sql(path: Path, *variables: str) -> None:
    words = [word for variable in variables for word in ("-v", variable)]
    subprocess.run([*PSQL, *words], check=True, stdin=path.open(), stdout=subprocess.DEVNULL)


def sign_in(trial: Trial) -> httpx2.Client:
    client = trial.client()
    client.get("/login/")
    answer = post(client, "/login/", {"username": "olga", "password": PASSWORD})
    assert (answer.status_code, answer.headers["location"]) == (302, "/"), answer.text
    told("signed in over https")
    return client


def post(client: httpx2.Client, path: str, data: dict[str, str], **more: Any) -> httpx2.Response:
    """Send a form as a browser does, with its origin and the token of its cookie."""
    headers = {"Origin": str(client.base_url).rstrip("/"), "X-CSRFToken": client.cookies["csrftoken"]}
    return client.post(path, data=data, headers=headers, **more)


def check_the_web(trial: Trial) -> None:
    """What a browser and a probe see."""
    with httpx2.Client(trust_env=False) as probe:
        assert probe.get(f"http://127.0.0.1:{trial.web}/readyz").text == "ok\n"
        assert probe.get(f"http://localhost:{trial.plain}/x?y=1").headers["location"] == "https://localhost/x?y=1"
        # Who comes past the proxy, in plain HTTP, is sent away.
        assert probe.get(f"http://127.0.0.1:{trial.web}/login/", headers={"Host": "localhost"}).status_code == 301
    with trial.client() as client:
        assert client.get("/readyz").status_code == client.get("/healthz").status_code == 404
        page = client.get("/login/")
        assert page.status_code == 200
        assert "max-age=31536000" in page.headers["strict-transport-security"]
        assert "secure" in page.headers["set-cookie"].lower()
        assert len(page.headers["x-request-id"]) == 32
        [style, *_] = re.findall(r'"(/static/[^"]+\.css)"', page.text)
        assert re.search(r"\.[0-9a-f]{12}\.css$", style), style
        answer = client.get(style, headers={"Accept-Encoding": "br"})
        assert (answer.status_code, answer.headers["content-encoding"]) == (200, "br")
        assert "immutable" in answer.headers["cache-control"]
    told("TLS, redirects, cookies, ids, static files: as they must be")


def check_work(trial: Trial, client: httpx2.Client) -> None:
    """An import and an export that two workers' machinery carries through."""
    topics = "".join(f"t{number}\twhy do cats purr {number}\n" for number in range(300))
    answer = post(
        client, "/campaigns/study/imports/", {"kind": "topics"}, files={"uploads": ("topics.tsv", topics.encode())}
    )
    assert answer.status_code == 302, answer.text
    report = answer.headers["location"]
    wait_until(lambda: "300" in client.get(report, headers={"HX-Request": "true"}).text, "the import")
    told("an upload is imported by the worker")
    qrels = "".join(f"t{topic} 0 d{document} 1\n" for topic in range(300) for document in range(200))
    data = {"kind": "qrels", "source": "NIST", "by": "people"}
    answer = post(client, "/campaigns/study/imports/", data, files={"uploads": ("qrels", qrels.encode())})
    assert answer.status_code == 302, answer.text
    report = answer.headers["location"]
    wait_until(lambda: "hx-trigger" not in client.get(report, headers={"HX-Request": "true"}).text, "the grades")
    name = re.findall(r'<option value="([^"]+)"', client.get("/campaigns/study/exports/qrels/").text)[0]
    answer = post(client, "/campaigns/study/exports/qrels/", {"of": name, "form": "txt"})
    assert answer.status_code == 302, answer.text
    made = answer.headers["location"]
    file = wait_until(lambda: (got := client.get(f"{made}file")).status_code == 200 and got.text, "the export")
    assert sorted(file.splitlines()) == sorted(qrels.splitlines())
    told("an export of 60,000 lines is made by the worker, and downloaded")


def check_the_role(trial: Trial) -> None:
    """What the program's role must not do."""
    url = trial.environment("web")["DATABASE_URL"].replace("postgres:", "postgresql:", 1)
    for statement in (
        "CREATE TABLE x (y int)",
        "CREATE TEMP TABLE x (y int)",
        "DROP TABLE campaigns_topic",
        "ALTER TABLE campaigns_topic ADD x int",
        "TRUNCATE campaigns_topic CASCADE",
        "CREATE ROLE x",
        "CREATE DATABASE x",
        "COPY campaigns_topic TO PROGRAM 'cat'",
        "SELECT pg_read_file('/etc/passwd')",
    ):
        with psycopg.connect(url, autocommit=True) as connection:
            try:
                connection.execute(statement)
            except psycopg.errors.InsufficientPrivilege:
                continue
        raise SystemExit(f"The role of the program may do this: {statement}")
    with psycopg.connect(url) as connection:
        assert connection.execute("SHOW idle_in_transaction_session_timeout").fetchone() == ("5min",)
    told("the program's role can make, drop and alter nothing")


def check_backups(trial: Trial) -> None:
    """pg_dump into another database, and the archive into it after its campaign is gone."""
    rows = "SELECT count(*) FROM campaigns_topic"
    second = f"{trial.database}_2"
    dump = trial.folder / "assay.dump"
    archive, again = (trial.data / name for name in ("study.zip", "again.zip"))
    tools = ["-h", "127.0.0.1", "-U", "postgres"]
    subprocess.run(["pg_dump", *tools, "-Fc", "-f", str(dump), trial.database], check=True)
    trial.make_database(second)
    subprocess.run(["pg_restore", *tools, "--exit-on-error", "-d", second, str(dump)], check=True)
    url = trial.environment("web")["DATABASE_URL"].replace(trial.database, second)
    with psycopg.connect(url.replace("postgres:", "postgresql:", 1)) as connection:
        assert connection.execute(rows).fetchone() == (300,)
    there = {"DATABASE_URL": url, "ASSAY_DATA_DIR": trial.seen(trial.data / "second")}
    manage = ("python", "manage.py")
    trial.run("web", *manage, "archive_campaign", "study", "-o", trial.seen(archive))
    trial.run("web", *manage, "archive_campaign", "study", "-o", trial.seen(again), **there)
    assert archive.read_bytes() == again.read_bytes()
    told("pg_dump and pg_restore: the archive of the restored database has the same bytes")
    subprocess.run([*PSQL, "-c", f"DROP DATABASE {second} WITH (FORCE)"], check=True)
    trial.make_database(second)
    owner = trial.environment("migrate")["DATABASE_URL"].replace(trial.database, second)
    trial.run("migrate", *manage, "migrate", "--noinput", **there | {"DATABASE_URL": owner})
    trial.run("web", *manage, "verify_archive", trial.seen(archive))
    trial.run("web", *manage, "restore_archive", trial.seen(archive), **there)
    again.unlink()
    trial.run("web", *manage, "archive_campaign", "study", "-o", trial.seen(again), **there)
    assert archive.read_bytes() == again.read_bytes()
    told("the archive, restored as the program's role into an empty database, has the same bytes")


def check_logs(trial: Trial) -> None:
    """Every line is JSON, and no secret is in any."""
    count = 0
    for name in ("web", "imports", "jobs", "beat"):
        text = (trial.folder / f"{name}.log").read_text()
        for secret in [value for key, value in trial.env.items() if key.endswith(("PASSWORD", "KEY"))] + [PASSWORD]:
            assert secret not in text
        odd = []
        for line in text.splitlines():
            try:
                event = json.loads(line)
                count += 1
                assert event["level"] in ("INFO", "WARNING"), line
            except json.JSONDecodeError:
                odd.append(line)
        if odd:
            told(f"{name}: {len(odd)} lines that are no JSON, as {odd[0]!r}")
    told(f"{count} lines of logs: none an error, no secret in any")


@contextmanager
def with_devices(image: Path) -> Iterator[None]:
    """Let an unpacked image see this machine's processes and devices, as a container sees its own."""
    for name in ("proc", "dev"):
        subprocess.run(["mount", "--rbind", "--make-rslave", f"/{name}", str(image / name)], check=True)
    try:
        yield
    finally:
        for name in ("proc", "dev"):
            subprocess.run(["umount", "-R", "-l", str(image / name)], check=True)


def main() -> None:
    broker = sys.argv[1] if len(sys.argv) > 1 else "redis"
    image = Path(sys.argv[2]) if len(sys.argv) > 2 else None
    with with_devices(image) if image else nullcontext():
        try_all(Trial(Path(tempfile.mkdtemp(prefix="assay-try-")), broker, image))


def try_all(trial: Trial) -> None:
    try:
        if not trial.image:
            trial.copy_the_program()
        roles = (f"owner_password={trial.env['OWNER_PASSWORD']}", f"password={trial.env['DATABASE_PASSWORD']}")
        sql(ROOT / "deploy/postgres/roles.sql", *roles)
        trial.make_database(trial.database)
        trial.start_broker()
        trial.run("migrate", *trial.services["migrate"]["command"])
        told("migrated, static files collected")
        found = trial.run("web", "python", "manage.py", "check", "--deploy", "--fail-level", "WARNING")
        told(f"check --deploy: {found.strip()}")
        people = (
            f"from assessor.accounts.models import Person; Person.objects.create_user('olga', password={PASSWORD!r})"
        )
        trial.run("web", "python", "manage.py", "shell", "--no-imports", "-c", people)
        trial.run("web", "python", "manage.py", "create_campaign", "study", "--organizer", "olga")
        begun = time.monotonic()
        for name in ("web", "imports", "jobs", "beat"):
            trial.start(name)
        trial.start_proxy()
        wait_until(lambda: trial.client().get("/login/").status_code == 200, "the first page")
        told(f"first page through the proxy {time.monotonic() - begun:.1f} s after the start of all processes")
        check_the_web(trial)
        client = sign_in(trial)
        check_work(trial, client)
        # An upgrade: all stops, migrations, all starts; who was signed in goes on.
        trial.stop("web", "imports", "jobs", "beat")
        trial.run("migrate", *trial.services["migrate"]["command"])
        for name in ("web", "imports", "jobs", "beat"):
            trial.start(name)
        wait_until(lambda: client.get("/campaigns/study/").status_code == 200, "the page after the upgrade")
        told("stopped, migrated and started again; the session goes on")
        client.close()
        check_the_role(trial)
        check_backups(trial)
        for process in psutil.Process(trial.processes["web"].pid).children():
            told(f"a web process: {process.memory_info().rss / 2**20:.0f} MiB")
        check_logs(trial)
        told(f"all is well, with {trial.broker}")
    finally:
        trial.close()
    shutil.rmtree(trial.folder)


if __name__ == "__main__":
    main()
