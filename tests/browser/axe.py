"""axe on a page, in light and dark. A look that passed once is not looked at again: colours took most of its time."""

from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
COLOURS = ["color-contrast", "link-in-text-block"]
PREPARE = """colours => {
  if (axe.isPrepared) return;
  axe.isPrepared = true;
  axe.configure({rules: colours.map(id => ({id, selector: `[data-new-look~=${id}]`}))});
  const sheet = new CSSStyleSheet();
  sheet.replaceSync("* { transition: none !important }");  // on their way, colours are neither
  document.adoptedStyleSheets.push(sheet);
}"""
# Runs rules; those that look at colours on an element of each look that has not passed them yet. Returns what is wrong,
# and the looks that passed now. A look is all that a rule compares: of text its colour, whether it is large, and what
# all around it draw behind it; of a link also how all around it are drawn up to the text that it may be in.
# Of elements of one look that differ in name, class or font, each is looked at until one has passed: a rule does not
# apply to what is out of sight or switched off. Where it did not in light, it does not in dark.
RUN = """async ([within, options, isDark, passed]) => {
  const hash = text => {
    let a = 0xdeadbeef, b = 0x41c6ce57;
    for (let at = 0; at < text.length; at++) {
      a = Math.imul(a ^ text.charCodeAt(at), 2654435761);
      b = Math.imul(b ^ text.charCodeAt(at), 1597334677);
    }
    return (a >>> 0).toString(36) + (b >>> 0).toString(36);
  };
  const memoized = compute => {
    const values = new Map();
    return element => values.get(element) ?? values.set(element, compute(element)).get(element);
  };
  const hasText = element => [...element.childNodes].some(one => one.nodeType === 3 && one.data.trim());
  const drawn = memoized(element => {
    const style = getComputedStyle(element);
    return ["color", "fontSize", "fontWeight", "fontStyle", "textDecorationLine", "textShadow",
      "borderBottomStyle"].map(name => style[name]).join();
  });
  const around = memoized(element => {
    if (!element) return "";
    const style = getComputedStyle(element), isDisabled = element.matches(":disabled, [aria-disabled]");
    const behind = ["backgroundColor", "backgroundImage", "opacity", "position", "filter", "mixBlendMode"].map(
      name => style[name]).join();
    const isNothing = behind === "rgba(0, 0, 0, 0),none,1,static,none,normal" && !isDisabled;
    return isNothing ? around(element.parentElement) : hash([around(element.parentElement), behind, isDisabled].join());
  });
  const block = element => getComputedStyle(element).display === "inline"
    ? drawn(element) + block(element.parentElement) : drawn(element);
  const text = element => {  // large is what WCAG 1.4.3 asks less contrast of: 18 points, or 14 in bold
    const {color, textShadow, fontSize, fontWeight} = getComputedStyle(element);
    return [color, textShadow, parseFloat(fontSize) >= (fontWeight >= 700 ? 14 : 18) * 96 / 72].join();
  };
  const looks = {
    "color-contrast": element => hash([around(element), text(element), hasText(element)].join()),
    "link-in-text-block": element => hash([around(element), block(element)].join()),
  };
  const candidates = {
    "color-contrast": element => element.matches("input, select, textarea") || hasText(element),
    "link-in-text-block": element => element.matches("a[href], [role=link]"),
  };
  const key = (id, element) => id[0] + looks[id](element);
  const known = new Set(passed.split(" ")), alike = new Map(), marked = [];
  const isInSight = element => {
    const {width, height} = element.getBoundingClientRect();
    return width > 1 && height > 1 && element.checkVisibility({visibilityProperty: true});
  };
  if (!isDark) axe.isOutside = Object.fromEntries(Object.keys(looks).map(id => [id, new Set()]));
  for (const element of document.querySelectorAll(`${within} *`)) {
    const ids = Object.keys(looks).filter(id => candidates[id](element) && !axe.isOutside[id].has(element)
      && !known.has(key(id, element)));
    if (!ids.length || !isInSight(element)) continue;
    const firsts = ids.filter(id => {
      const one = [key(id, element), element.localName, element.getAttribute("class"), drawn(element)].join();
      if (!alike.has(one)) alike.set(one, {id, elements: []});
      return alike.get(one).elements.push(element) === 1;
    });
    if (!firsts.length) continue;
    element.dataset.newLook = firsts.join(" ");
    marked.push(element);
  }
  if (!marked.length && isDark) return [[], []];
  const rules = await axe.run(within, {...options, reporter: (rules, _, done) => done(rules)});
  for (const {id, passes, violations, incomplete} of rules.filter(rule => rule.id in looks)) {
    const inside = new Set([...passes, ...violations, ...incomplete].map(({node}) => node.element));
    for (const {id: of, elements} of alike.values()) {
      if (of === id && !inside.has(elements[0])) elements.forEach(element => axe.isOutside[id].add(element));
    }
  }
  const html = ({source}) => source.replaceAll(/ data-new-look="[^"]*"/g, "");
  const result = [
    rules.filter(rule => rule.violations.length).map(rule => (
      {id: rule.id, impact: rule.impact, html: html(rule.violations[0].node)})),
    rules.filter(rule => rule.id in looks).flatMap(rule => rule.passes.map(({node}) => key(rule.id, node.element))),
  ];
  for (const element of marked) delete element.dataset.newLook;
  return result;
}"""
_passed: set[str] = set()


def load_with_each_page(page: Page) -> None:
    """Have axe in all that is opened: where each page is looked at, the browser compiles it once for many."""
    page.add_init_script(AXE_SCRIPT)


def _violations(page: Page, within: str, **which: Any) -> list[dict[str, str]]:
    page.wait_for_load_state()  # half of a page lacks headings and landmarks
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    page.evaluate(PREPARE, COLOURS)
    violations: list[dict[str, str]] = []
    for scheme, options in ("light", which), ("dark", {"runOnly": COLOURS}):
        page.emulate_media(color_scheme=scheme)
        found, passed = page.evaluate(RUN, [within, options, scheme == "dark", " ".join(_passed)])
        _passed.update(passed)
        violations += found
    page.emulate_media(color_scheme="light")
    return violations


def _in_words(violations: list[dict[str, str]]) -> list[str]:
    """Return what axe found, as "rule: first element"."""
    return [f"{one['id']}: {one['html']}" for one in violations]


def grave(page: Page, within: str = "html") -> list[str]:
    """Return what axe finds serious or critical within an element."""
    return _in_words([one for one in _violations(page, within) if one["impact"] in ("serious", "critical")])


def against_rules(page: Page) -> list[str]:
    """Return all that axe finds against WCAG 2.2 A and AA or good practice, however grave."""
    return _in_words(_violations(page, "html", runOnly={"type": "tag", "values": TAGS}))
