"""Which version of the program this is, for packages and for what it writes."""

VERSION = "0.1.0"


def program_version() -> str:
    return f"assay {VERSION}"
