"""What works in a notebook, where Django is neither configured nor loaded."""

import subprocess
import sys
from pathlib import Path

import metaeval

PACKAGES = ("stats", "charts")
MODULES = [
    f"metaeval.{package}.{path.stem}"
    for package in PACKAGES
    for path in sorted((Path(metaeval.__file__).parent / package).glob("*.py"))
    if path.stem != "__init__"
]


def run(code: str) -> str:
    """Run a program in a process of its own, without any environment; return what it prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={}, check=False)
    assert not done.stderr
    return done.stdout.strip()


# Loads each module in a child of its own, of a process that has what they all compute with.
EACH_ALONE = """
import os, sys
import numpy, scipy.stats
for module in {modules}:
    if not os.fork():
        __import__(module)
        if loaded := {{"django", "celery", "assessor"}} & set(sys.modules):
            print(module, *sorted(loaded), flush=True)
        os._exit(0)
    if status := os.wait()[1]:
        print(module, "can't be loaded", status, flush=True)
"""


def test_django_is_not_loaded():
    modules = ["metaeval.stats", "metaeval.charts", *MODULES, "assignment.measures", "support.measures", "assay.stats"]
    assert run(EACH_ALONE.format(modules=modules)) == ""


def test_formats_and_data_sets_need_no_django_either():
    code = "from assay.formats import *; from assay.datasets import *"
    assert run(f"import sys; {code}; print(sorted({{'django', 'celery'}} & set(sys.modules)))") == "[]"


def test_assay_stats_has_all_modules_and_loads_those_that_are_asked_for():
    code = "import sys, assay.stats as s; s.correlation; print('metaeval.stats.bias' in sys.modules, *dir(s))"
    names = [module.rpartition(".")[2] for module in MODULES if module.startswith("metaeval.stats.")]
    assert run(code).split() == ["False", *names]
    assert run("import assay.stats as s; print(hasattr(s, 'nonsense'), hasattr(s, 'charts'))") == "False False"


def test_statistics_work_where_nothing_is_configured():
    code = "from metaeval.stats import correlation; print(correlation.kendall_tau([1, 2, 3], [1, 2, 3]).value)"
    assert run(code) == "1.0"


def test_a_web_process_starts_without_what_it_rarely_needs():
    """Workers, charts, signatures, second factors, guidelines and error reports load these themselves."""
    heavy = {"altair", "cryptography", "httpx2", "markdown_it", "openai", "scipy", "sentry_sdk", "vl_convert"}
    heavy |= {"fido2", "jwt", "numpy.random", "oauthlib", "qrcode", "requests"}
    code = (
        "import os, sys, django; os.environ['DJANGO_SETTINGS_MODULE'] = 'tests.lint_settings'; django.setup();"
        f"import assessor.urls; print(sorted({heavy!r} & set(sys.modules)))"
    )
    assert run(code) == "[]"


def test_the_overview_compares_a_judges_labels_without_scipy():
    """Each web process of an organizer's shows it: SciPy takes 27 MiB."""
    code = "from metaeval.stats.monitoring import compare_shares; compare_shares([[5, 2, 1]], [[3, 3, 1]])"
    assert run(f"import sys; {code}; print('scipy' in sys.modules)") == "False"
