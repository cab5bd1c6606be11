"""Text and tables in LaTeX."""

from collections.abc import Iterable, Iterator, Sequence

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


# A box that is made narrower where its content is wider than a line.
_FITTING = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"


def table(caption: str, columns: str, head: Sequence[str], *groups: Iterable[str]) -> Iterator[str]:
    """Yield a table for a paper (booktabs, graphicx): groups of rows, as row() makes them, with rules between them.

    columns: as tabular has them. All is LaTeX already. A table that is wider than a line is made to fit.
    """
    yield "\\begin{table}\n"
    yield f"\\caption{{{caption}.}}\n"
    yield f"{_FITTING}\n\\begin{{tabular}}{{{columns}}}\n\\toprule\n"
    yield " & ".join(head) + " \\\\\n"
    for group in groups:
        yield "\\midrule\n"
        yield from group
    yield "\\bottomrule\n\\end{tabular}}\n\\end{table}\n"


def marked(text: str, is_marked: bool) -> str:
    """Return text as LaTeX, with an asterisk where its labels differ."""
    return as_latex(text) + ("$^{\\ast}$" if is_marked else "")


def text_columns(number: int, share: float = 0.95) -> str:
    """Return columns of running text for tabular, which together take this share of a line."""
    return f"p{{{share / number:.3f}\\linewidth}}" * number


def stacked(*lines: str) -> str:
    """Return the head of a column in several lines, each LaTeX already."""
    in_lines = "\\\\".join(lines)
    return f"\\shortstack[r]{{{in_lines}}}"


def row(cells: Iterable[str], comment: str = "") -> str:
    """Return a row of a table; what stands in the comment is no LaTeX."""
    # After the braces, \\ of the row before takes no name that begins with [ or * for its argument.
    told = f" % {' '.join(comment.split())}" if comment else ""  # a line break would end the comment
    return f"{{}}{' & '.join(cells)} \\\\{told}\n"
