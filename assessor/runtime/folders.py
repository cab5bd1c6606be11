"""Where the program's files are, and where its data are: in the source tree, and where a wheel is installed."""

from pathlib import Path

from assessor.runtime.environment import text

_PACKAGES = Path(__file__).resolve().parents[2]
_IS_WHEEL = (_PACKAGES / "assay" / "templates").is_dir()
# What is no Python package. The wheel has it in the package assay, so that nothing else lies among others' packages.
FILES = _PACKAGES / "assay" if _IS_WHEEL else _PACKAGES


def with_packages(path: list[str]) -> list[str]:
    """Return where modules are looked for, with the program's first; a wheel's are where all packages are.

    Where its folder is there already, it is there twice: Celery's command takes the current folder away again.
    """
    return path if _IS_WHEEL else [str(_PACKAGES), *path]


def data_folder() -> Path:
    """Return ASSAY_DATA_DIR, or else var/ of the source tree, or a folder of the user's where a wheel is installed."""
    if named := text("ASSAY_DATA_DIR", default=""):
        return Path(named).resolve()
    if not _IS_WHEEL:
        return _PACKAGES / "var"
    users = Path(text("XDG_DATA_HOME", default="~/.local/share")).expanduser()
    return (users / "assay").resolve()
