"""Where labels are kept is known to the tests of their own apps, and to tests/judging.py for all others."""

import re
from pathlib import Path

TESTS = Path(__file__).parent
OF_LABELS = re.compile(r"^\s*from (?:assignment|support)\.models import|\.(?:answer|support)_sheets\b", re.MULTILINE)
# That what was written stays is tested of every model.
KNOW = ("assignment/", "support/", "judging.py", "test_judging.py", "work/test_history.py")


def test_other_tests_name_no_model_of_labels() -> None:
    others = {path.relative_to(TESTS).as_posix(): path for path in TESTS.rglob("*.py")}
    found = [name for name, path in others.items() if not name.startswith(KNOW) and OF_LABELS.search(path.read_text())]
    assert len(others) > 200
    assert found == []
