"""The messages of translated pages: `make messages` takes them from the code into the catalogs, and compiles these."""

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog
from babel.messages.extract import DEFAULT_KEYWORDS, extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.conf import settings
from django.utils.translation.template import templatize

LOCALES: Path = settings.LOCALE_PATHS[0]
LANGUAGES = [code for code, _ in settings.LANGUAGES if code != settings.LANGUAGE_CODE]
CODE = ("assessor", "nuggets", "assignment", "support")
KEYWORDS = {**DEFAULT_KEYWORDS, "gettext_noop": None, "gettext_lazy": None}


def messages_of(path: Path) -> Iterator[Any]:
    """Yield the messages of a module or a template."""
    source = path.read_text()
    if path.suffix == ".html":
        # Django makes Python's calls of a template's tags; where they stood on their lines is of no use to Python.
        source = "\n".join(line.strip() for line in templatize(source).splitlines())
    if "gettext" in source or "_(" in source:
        yield from extract("python", BytesIO(source.encode()), KEYWORDS)


def in_code() -> Catalog:
    """Return what the code has to say."""
    found = Catalog()
    root = Path(settings.BASE_DIR)
    paths = [*(root / "templates").rglob("*.html"), *(path for one in CODE for path in (root / one).rglob("*.py"))]
    for path in sorted(paths):
        for _line, message, _comments, context in messages_of(path):
            found.add(message, context=context)
    return found


def kept(language: str) -> Catalog:
    """Return the catalog of a language."""
    with po_path(language).open("rb") as file:
        return read_po(file, locale=language)


def po_path(language: str) -> Path:
    return LOCALES / language / "LC_MESSAGES" / "django.po"


def compiled(catalog: Catalog) -> bytes:
    """Return a catalog as Django reads it."""
    made = BytesIO()
    write_mo(made, catalog)
    return made.getvalue()


def update(language: str) -> int:
    """Bring a catalog to what the code says; return how many of its messages are still to be translated."""
    catalog = kept(language)
    template = in_code()
    template.creation_date = catalog.creation_date
    catalog.update(template, no_fuzzy_matching=True)
    catalog.obsolete.clear()
    with po_path(language).open("wb") as file:
        write_po(file, catalog, width=120, no_location=True, sort_output=True)
    po_path(language).with_suffix(".mo").write_bytes(compiled(catalog))
    return sum(
        not all(message.string if message.pluralizable else [message.string]) for message in catalog if message.id
    )


if __name__ == "__main__":
    for one in LANGUAGES:
        print(f"{one}: {update(one)} messages to translate")  # noqa: T201
