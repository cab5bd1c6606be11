"""No kind of label is named outside its app: who needs kinds asks those that are registered."""

import ast
import re
from pathlib import Path

import pytest

from assessor.campaigns.condition_kind import ADJUDICATED, IMPORTED, condition_kinds, kind_named, method_choices
from assessor.campaigns.models import Campaign, Condition
from assessor.labels.label_kind import label_kinds

ROOT = Path(__file__).parent.parent
APPS = {
    **{"nuggets": "nuggets", "assignment": "assignment", "support": "support"},
    **{"relevance": "assessor/relevance", "preference": "assessor/preference"},
}
KINDS = {kind.name for kind in condition_kinds()}
METHODS = dict(method_choices()).keys() - {ADJUDICATED, IMPORTED}
MODELS = {"AnswerSheet", "Assignment", "SupportSheet", "SupportJudgment", "RelevanceJudgment", "PreferencePair"}


def product() -> list[Path]:
    """Return the modules outside the apps of kinds."""
    found = [path for app in ("assessor", "metaeval") for path in sorted((ROOT / app).rglob("*.py"))]
    apart = [ROOT / APPS[name] for name in ("relevance", "preference")]
    outside = [path for path in found if not any(path.is_relative_to(folder) for folder in apart)]
    return [path for path in outside if "migrations" not in path.parts and path != ROOT / "assessor/settings.py"]


def constants(node: ast.AST | None) -> set[str]:
    """Return the texts that stand in an expression: itself, or in a list, tuple or set of texts."""
    items = node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else [node]
    return {one.value for one in items if isinstance(one, ast.Constant) and isinstance(one.value, str)}


def parsed(text: str) -> ast.AST:
    """Parse a module. Python 3.11.2 counts the depth of trees for all threads together, and now and then miscounts."""
    try:
        return ast.parse(text)
    except (SystemError, RecursionError):
        return ast.parse(text)


def named(tree: ast.AST) -> list[str]:
    """Return the lines of a module that compare with a kind, are keyed by kinds, or ask for the model of one."""
    found = []
    for node in ast.walk(tree):
        names: set[str] = set()
        if isinstance(node, ast.Compare):
            names = {name for side in (node.left, *node.comparators) for name in constants(side)}
            # Keys of records and files are looked for too, as in `"nuggets" in record`.
            is_same = isinstance(node.ops[0], ast.Eq | ast.NotEq)
            is_among = isinstance(node.ops[0], ast.In | ast.NotIn) and "kind" in ast.unparse(node.left)
            names = names if is_same or is_among else set()
        elif isinstance(node, ast.Dict):
            keys = [name for key in node.keys for name in constants(key)]
            names = set(keys) - {"nuggets"} if len(set(keys) & KINDS) > 1 else set()
        elif isinstance(node, ast.keyword) and (node.arg or "").startswith(("kind", "method", "condition__")):
            names = constants(node.value)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("isinstance", "issubclass"):
            names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)} & MODELS
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(
            ("kind_named", "label_kind", "condition_of")
        ):
            names = {name for argument in node.args for name in constants(argument)}
        elif isinstance(node, ast.Call):
            names = {name for argument in node.args for name in constants(argument)} & METHODS
        elif isinstance(node, ast.Attribute):
            names = (
                {node.attr}
                if re.search(r"Kind\.(NUGGETS|ASSIGNMENT|SUPPORT|RELEVANCE|PREFERENCE)$", ast.unparse(node))
                else set()
            )
        if names & (KINDS | METHODS | MODELS) or (isinstance(node, ast.Attribute) and names):
            found.append(f"{getattr(node, 'lineno', '')}: {ast.unparse(node)[:100]}")
    return found


def test_no_module_names_a_kind_of_another_app():
    found = {str(path.relative_to(ROOT)): lines for path in product() if (lines := named(parsed(path.read_text())))}
    assert found == {}, "ask the kind instead"


def test_no_template_or_script_asks_for_a_kind_by_its_name():
    pages = [*(ROOT / "templates").rglob("*.html"), *(ROOT / "static/assay").glob("*.js")]
    asks = re.compile(rf"kind\s*[!=]==?\s*[\"'](?:{'|'.join(sorted(KINDS))})[\"']")
    assert [str(path.relative_to(ROOT)) for path in pages if asks.search(path.read_text())] == []


def test_what_is_looked_for_is_found():
    for line in (
        'x.kind == "assignment"',
        'if condition.kind in ("support", "assignment"): ...',
        'WAYS = {"assignment": 1, "support": 2}',
        'conditions.filter(kind="relevance")',
        'conditions.filter(method="AutoAssign")',
        "isinstance(sheet, SupportSheet)",
        "Condition.Kind.NUGGETS",
        'kind_named("support")',
    ):
        assert named(ast.parse(line)), line


def test_every_kind_of_label_has_its_own_words():
    for kind in label_kinds():
        assert kind.labels
        assert kind.blind_method in kind.peoples_methods
        assert set(kind.peoples_methods) <= set(kind.methods)
        assert kind.guidelines()
    methods = [method for kind in condition_kinds() for method in kind.methods]
    assert len(methods) == len(set(methods))


def test_no_condition_is_of_a_kind_that_no_app_brings(campaign: Campaign):
    with pytest.raises(KeyError):
        Condition.objects.create(
            campaign=campaign, name="x", kind="grammar", method="by hand", protocol=campaign.protocol
        )
    with pytest.raises(KeyError):
        kind_named("grammar")


def test_no_two_kinds_ask_the_same_field_of_new_conditions(campaign: Campaign):
    parts = [part for kind in condition_kinds() if (part := kind.condition_fields(campaign))]
    # A part that is made from another's asks the same with the same fields.
    own = [part for part in parts if not any(issubclass(type(part), type(other)) for other in parts if other != part)]
    names = [name for part in own for name in part.fields]
    assert len(names) == len(set(names))
    for part in parts:
        needed = {name for fields in part.NEEDS.values() for name in fields}
        assert part.NEEDS.keys() <= part.METHODS.keys()
        assert {*part.OPTIONAL, *part.SHOWN, *part.GIVEN} <= needed == part.fields.keys()
