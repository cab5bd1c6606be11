"""Text in LaTeX."""

_ESCAPED = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
} | {char: f"\\{char}" for char in "{}$&#_%"}


def as_latex(text: str) -> str:
    """Return text as LaTeX shows it, on one line."""
    return "".join(_ESCAPED.get(char, char) for char in " ".join(text.split()))
