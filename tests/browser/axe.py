"""axe on a page, in light and dark. Contrast takes most of its time: what passed once is not looked at again."""

from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
WITHOUT_TRANSITIONS = """() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync("* { transition: none !important }");
  document.adoptedStyleSheets.push(sheet);
}"""
RUN = """async ([within, options]) => (await axe.run(within, options)).violations.map(rule => (
  {id: rule.id, impact: rule.impact, html: rule.nodes[0].html}
))"""
# Runs the rules that look at colours on a text of each look that has not passed yet; returns what is wrong, and the
# looks that passed now. A look is what an element and all around it are and how they are drawn.
RUN_ON_COLOURS = """async passed => {
  const hash = text => {
    let a = 0xdeadbeef, b = 0x41c6ce57;
    for (let at = 0; at < text.length; at++) {
      a = Math.imul(a ^ text.charCodeAt(at), 2654435761);
      b = Math.imul(b ^ text.charCodeAt(at), 1597334677);
    }
    return (a >>> 0).toString(36) + (b >>> 0).toString(36);
  };
  const drawn = ["color", "backgroundColor", "backgroundImage", "opacity", "position", "fontSize", "fontWeight",
    "fontStyle", "textDecorationLine", "textShadow", "filter", "mixBlendMode", "borderBottomStyle"];
  const hasText = element => [...element.childNodes].some(one => one.nodeType === 3 && one.data.trim());
  const looks = new Map();
  const look = element => {
    if (!element) return "";
    if (!looks.has(element)) {
      const style = getComputedStyle(element);
      looks.set(element, hash([look(element.parentElement), element.localName, element.getAttribute("class"),
        element.matches(":disabled, [aria-disabled]"), hasText(element), ...drawn.map(name => style[name])].join()));
    }
    return looks.get(element);
  };
  const known = new Set(passed.split(" "));
  const include = [...document.querySelectorAll("body *")].filter(element =>
    (hasText(element) || element.matches("a, input, select, textarea"))
    && element.checkVisibility({visibilityProperty: true}) && !known.has(look(element)) && known.add(look(element)));
  if (!include.length) return [[], []];
  const {violations, passes} = await axe.run({include}, {
    runOnly: ["color-contrast", "link-in-text-block"], resultTypes: ["violations", "passes"], selectors: false,
    elementRef: true,
  });
  return [
    violations.map(rule => ({id: rule.id, impact: rule.impact, html: rule.nodes[0].html})),
    passes.filter(rule => rule.id === "color-contrast").flatMap(rule => rule.nodes.map(node => look(node.element))),
  ];
}"""
_passed: set[str] = set()


def _violations(page: Page, within: str, **which: Any) -> list[dict[str, str]]:
    page.wait_for_load_state()  # half of a page lacks headings and landmarks
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
        page.evaluate(WITHOUT_TRANSITIONS)  # on their way, colours are neither
    options = {"resultTypes": ["violations"], "selectors": False, "rules": {"color-contrast": {"enabled": False}}}
    violations: list[dict[str, str]] = page.evaluate(RUN, [within, options | which])
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme)
        found, passed = page.evaluate(RUN_ON_COLOURS, " ".join(_passed))
        _passed.update(passed)
        violations += found
    return violations


def _in_words(violations: list[dict[str, str]]) -> list[str]:
    """Return what axe found, as "rule: first element"."""
    return [f"{one['id']}: {one['html']}" for one in violations]


def grave(page: Page, within: str = "html") -> list[str]:
    """Return what axe finds serious or critical within an element, and of colours on all of the page."""
    return _in_words([one for one in _violations(page, within) if one["impact"] in ("serious", "critical")])


def against_rules(page: Page) -> list[str]:
    """Return all that axe finds against WCAG 2.2 A and AA or good practice, however grave."""
    return _in_words(_violations(page, "html", runOnly={"type": "tag", "values": TAGS}))
