"""Published prompt templates, read as they are published: YAML and text files, in the forms that prompts name.

A template is filled in with str.format: names in single braces, braces of the text doubled. In YAML the keys are
`method`, `system_message` (sent as it stands) and `prefix_user`; a text is the user message alone.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from assessor.formats.report import Problem, show
from assessor.llm.job_kind import job_prompts
from assessor.llm.prompt_sets import MOST_BYTES
from assessor.llm.prompts import Prompt, PromptSetError, PublishedTemplate, parts

_NO_TEXT = re.compile("[\x00\ud800-\udfff]")
_TOKEN = re.compile(r"\{\{|\}\}|\{([A-Za-z_]\w*)\}|[{}]")
_KEYS = ("method", "system_message", "prefix_user")
_TEXT = "tag:yaml.org,2002:str"
_NOTHING = "tag:yaml.org,2002:null"


_Form = tuple[Prompt[Any], PublishedTemplate]


class TemplateError(Exception):
    """Files that can't be read as templates; problems: what is wrong, each with its file."""

    def __init__(self, problems: Sequence[tuple[str, Problem]]) -> None:
        self.messages = [problem.told(file) for file, problem in problems]
        super().__init__("\n".join(self.messages))


class Template(NamedTuple):
    """A template as it was understood. method: "" in a text file; placeholders: ours by theirs; prompt: its name.

    text: as a prompt set has it.
    """

    file: str
    sha256: str
    method: str
    prompt: str
    reader: str
    placeholders: dict[str, str]
    text: str


class _Field(NamedTuple):
    """A text of a file, and the line that it begins in."""

    text: str
    line: int


class _Wrong(Exception):
    """A file is no template; the problem says why."""

    def __init__(self, line: int, field: str, found: object, expected: str, remedy: str) -> None:
        self.problem = Problem(line, show(field), show(found), expected, remedy)
        super().__init__(expected)


def read_templates(files: Sequence[tuple[str, bytes]]) -> list[Template]:
    """Return what files hold, by name and content, in the order of the prompts. Raises TemplateError."""
    problems: list[tuple[str, Problem]] = []
    by_prompt: dict[str, Template] = {}
    for name, data in files:
        name = show(name)
        try:
            template = _template(name, data)
        except _Wrong as wrong:
            problems.append((name, wrong.problem))
            continue
        other = by_prompt.setdefault(template.prompt, template)
        if other is not template:
            expected = f"one file for the prompt {template.prompt}, which {other.file} is for already"
            problems.append((name, Problem(0, "", "another one", expected, "Leave one of the two out.")))
    if problems:
        raise TemplateError(problems)
    return [by_prompt[name] for name in job_prompts() if name in by_prompt]


def _template(name: str, data: bytes) -> Template:
    ending = name.rpartition(".")[2].lower()
    if ending not in ("yaml", "yml", "txt"):
        remedy = "Give the file the ending that it was published with."
        raise _Wrong(0, "", f"the ending .{ending}" if "." in name else "no ending", ".yaml, .yml or .txt", remedy)
    if len(data) > MOST_BYTES:
        remedy = "A template is a prompt without passages: see whether this is the right file."
        raise _Wrong(0, "", f"{len(data):,} bytes", f"at most {MOST_BYTES:,}", remedy)
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise _Wrong(line, "", f"the byte 0x{data[error.start]:02x}", "UTF-8", "Save the file as UTF-8.") from error
    fields = {"prefix_user": _Field(text, 1)} if ending == "txt" else _fields(text)
    for key, field in fields.items():
        if odd := _NO_TEXT.search(field.text):  # YAML can write it with a backslash
            line = field.line + field.text.count("\n", 0, odd.start())
            raise _Wrong(line, "" if ending == "txt" else key, odd[0], "text", "Take the character out.")
    user = fields["prefix_user"]
    tokens = list(_tokens(user, "" if ending == "txt" else "prefix_user"))
    method = fields["method"].text if "method" in fields else ""
    if ending == "txt":
        prompt, form = _form_of_text(name.rpartition(".")[0], {place for _, place, _ in tokens if place})
    else:
        prompt, form = _form(fields["method"])
    system = fields.get("system_message", _Field("", 0)).text
    return Template(
        name,
        hashlib.sha256(data).hexdigest(),
        method,
        prompt.name,
        form.reader,
        {place: form.names[place] for _, place, _ in tokens if place in form.names},
        _text(prompt, form, system, tokens, "" if ending == "txt" else "prefix_user"),
    )


def _forms() -> dict[str, _Form]:
    """Return the forms of YAML files, by method."""
    return {method: (prompt, form) for prompt in job_prompts().values() for method, form in prompt.published.items()}


def _form(method: _Field) -> _Form:
    forms = _forms()
    if method.text not in forms:
        remedy = "Leave the file out: no job of Assay asks this. assay-1 is used for what no file gives."
        raise _Wrong(method.line, "method", method.text, f"one of {', '.join(forms)}", remedy)
    return forms[method.text]


def _form_of_text(name: str, placeholders: set[str]) -> _Form:
    """Return the form of a text file, by its placeholders. Some texts are named by a method, which tells the reader."""
    forms = [(prompt, form) for prompt in job_prompts().values() if (form := prompt.published_text)]
    for prompt, form in forms:
        if set(form.names) <= placeholders:
            return prompt, prompt.published.get(name, form)
    wanted = " or ".join(" and ".join(f"{{{name}}}" for name in form.names) for _, form in forms)
    remedy = "Other templates are YAML files with a method."
    raise _Wrong(0, "", _braced(placeholders) or "no placeholders", wanted, remedy)


def _text(
    prompt: Prompt[Any], form: PublishedTemplate, system: str, tokens: "list[tuple[str, str, int]]", field: str
) -> str:
    """Return a template as a text of a prompt set."""
    for _, place, line in tokens:
        if place and place not in form.names:
            remedy = "Write what it stands for in its place, or leave the file out."
            if place == "examples":
                remedy = "Assay draws no examples: write them in its place, or take the template without examples."
            raise _Wrong(line, field, f"{{{place}}}", f"placeholders of {_braced(form.names)}", remedy)
    filled = {form.names[place] for _, place, _ in tokens if place}
    lacking = [
        theirs
        for theirs, ours in form.names.items()
        if prompt.spellings.get(ours, ours) in prompt.needed and ours not in filled
    ]
    if lacking:
        remedy = f"The prompt {prompt.name} needs it: see whether the file is whole."
        raise _Wrong(0, field, _braced(place for _, place, _ in tokens if place) or "none", _braced(lacking), remedy)
    user = "".join(f"${{{form.names[place]}}}" if place else literal for literal, place, _ in tokens)
    text = f"# reply: {form.reader}\n# system\n{_literal(system)}\n# user\n{user}\n"
    try:
        whole = parts("", text) == (form.reader, f"{_literal(system)}\n", f"{user}\n")
    except PromptSetError:
        whole = False
    if not whole:
        remedy = "Write something to ask, and no line '# user' in the system message."
        raise _Wrong(0, field, "a prompt that can't be kept", "a user message", remedy)
    return text


def _tokens(field: _Field, name: str) -> Iterator[tuple[str, str, int]]:
    """Yield literal text or the name of a placeholder, and the line that it is in. Raises _Wrong for a lone brace."""
    text, end, line = field.text, 0, field.line
    for found in _TOKEN.finditer(text):
        yield _literal(text[end : found.start()]), "", 0
        line += text.count("\n", end, found.start())
        if found[1]:
            yield "", found[1], line
        elif len(found[0]) == 1:
            near = text[found.start() : found.start() + 20].split("\n")[0]
            remedy = "Write {{ and }} for braces that are part of the prompt."
            raise _Wrong(line, name, near, "a name in braces, such as {query}", remedy)
        else:
            yield found[0][0], "", 0
        end = found.end()
    yield _literal(text[end:]), "", 0


def _literal(text: str) -> str:
    return text.replace("$", "$$")


def _braced(names: Any) -> str:
    return ", ".join(f"{{{name}}}" for name in dict.fromkeys(names))


def _fields(text: str) -> dict[str, _Field]:
    """Return the keys of a YAML file. It is one mapping of texts: what could grow when it is read is refused before."""
    import yaml  # 0.9 MiB

    remedy = "Take the file as it is published: the keys method, system_message and prefix_user, each with a text."
    try:
        depth = 0
        for event in yaml.parse(text, yaml.SafeLoader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > 1 or isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                mark: Any = event.start_mark
                raise _Wrong(mark.line + 1, "", "lists, mappings or anchors inside", "texts alone", remedy)
        node = yaml.compose(text, yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error)
        raise _Wrong(mark.line + 1 if mark else 0, "", problem, "YAML", remedy) from error
    except (ValueError, OverflowError) as error:  # of a version, or a character
        raise _Wrong(0, "", "a number that is too large", "YAML", remedy) from error
    if not isinstance(node, yaml.MappingNode):
        raise _Wrong(1, "", "no keys", f"the keys {', '.join(_KEYS)}", remedy)
    fields: dict[str, _Field] = {}
    for key, value in node.value:
        line = key.start_mark.line + 1
        if key.value not in _KEYS:
            remedy = "Take the key out if it is no part of what is sent."
            raise _Wrong(line, key.value, "a key that is not known", f"one of {', '.join(_KEYS)}", remedy)
        if key.value in fields:
            raise _Wrong(line, key.value, "the key once more", "each key once", "Take one of the two out.")
        if value.tag not in (_TEXT, _NOTHING):
            raise _Wrong(line, key.value, value.value, "a text", "Put it in quotes.")
        is_block = value.style in ("|", ">")
        fields[key.value] = _Field("" if value.tag == _NOTHING else value.value, value.start_mark.line + 1 + is_block)
    for key in ("method", "prefix_user"):
        if key not in fields:
            raise _Wrong(0, key, "no such key", "a text", remedy)
    return fields
