// The passages beside the list: which one is current, sentences chosen with keys, text chosen with the mouse, and
// the places that nuggets rest on. What is selected or marked of a text is a range within its text node.
const readingOf = (article) => article.querySelector(".reading").firstChild;
const passageOf = (span) => span.startContainer.parentElement.closest(".passage");

assay.Passages = class {
  constructor(panel) {
    this.panel = panel;
    this.articles = [...panel.querySelectorAll(".passage")];
    this.byDocid = new Map(this.articles.map((article) => [article.dataset.docid, article]));
    this.current = this.articles[0];
    this.next = new Map(); // the sentence that j begins with in a passage
    panel.normalize();
    panel.addEventListener("focusin", (event) => {
      const here = event.target.closest(".passage");
      if (here) this.current = here;
    });
  }

  // Have also those laid out that are out of sight, once the first ones are on screen: nothing may move later, when
  // somebody scrolls or clicks.
  layOutAll() {
    const layOut = () => this.panel.classList.remove("in-sight-first");
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(layOut)));
  }

  get focused() {
    return document.activeElement.closest(".passage");
  }

  number(docid) {
    return this.articles.indexOf(this.byDocid.get(docid)) + 1;
  }

  title(docid) {
    return this.byDocid.get(docid)?.querySelector("h3 bdi").textContent.trim() || docid;
  }

  go(article) {
    if (!article) return;
    for (const one of this.articles) one.tabIndex = one === article ? 0 : -1;
    this.current = article;
    article.focus({ preventScroll: true });
    const { top, bottom } = this.view();
    const fits = article.offsetHeight <= bottom - top;
    article.scrollIntoView({ block: fits ? "nearest" : "start" });
  }

  step(by) {
    this.go(this.articles[this.articles.indexOf(this.current) + by]);
  }

  showRead(docids) {
    for (const article of this.articles) article.toggleAttribute("data-read", docids.includes(article.dataset.docid));
    const number = this.panel.querySelectorAll("[data-read]").length;
    document.getElementById("read-count").textContent = number ? assay.say("read-count", { number }) : "";
  }

  // ---- sentences ----

  // The sentences of a passage, without the blanks around them.
  sentences(article) {
    const text = readingOf(article);
    const parts = [...new Intl.Segmenter(undefined, { granularity: "sentence" }).segment(text.data)];
    return nonBlank(parts.map(({ index, segment }) => [text, index, index + segment.length]));
  }

  // The first and last sentence that the selection touches, or null.
  chosen(article) {
    const span = this.selection();
    if (span?.startContainer !== readingOf(article)) return null;
    const isTouched = ({ startOffset, endOffset }) => startOffset < span.endOffset && endOffset > span.startOffset;
    const sentences = this.sentences(article);
    return [sentences.findIndex(isTouched), sentences.findLastIndex(isTouched)];
  }

  // One sentence more (by 1) or less (by -1); the first press chooses one.
  extend(article, by) {
    const chosen = this.chosen(article);
    if (!chosen) return this.move(article, by);
    const [first, last] = chosen;
    if (last + by < first) this.clear(article, first);
    else this.choose(article, first, last + by);
  }

  // The next (by 1) or previous (by -1) sentence alone; where none is chosen, the one that j begins with.
  move(article, by) {
    const chosen = this.chosen(article);
    const at = chosen ? (by > 0 ? chosen[1] : chosen[0]) + by : this.next.get(article) || 0;
    this.choose(article, at);
  }

  choose(article, first, last = first) {
    const sentences = this.sentences(article);
    const [from, to] = [sentences[first], sentences[last]];
    if (!from || !to) return;
    document.getSelection().setBaseAndExtent(from.startContainer, from.startOffset, to.endContainer, to.endOffset);
    this.next.set(article, Math.min(last + 1, sentences.length - 1));
    this.reveal(to);
  }

  // Choose nothing; j will begin with this sentence.
  clear(article, next) {
    document.getSelection().removeAllRanges();
    this.next.set(article, next);
  }

  // ---- spans ----

  // What is selected, in each passage that the selection touches.
  selections() {
    return assay.selectedIn(this.articles.map(readingOf));
  }

  // What is selected in one passage, or null. What was selected in a passage that was left is not meant.
  selection() {
    const [span, other] = this.selections();
    if (!span || other || (this.focused && this.focused !== passageOf(span))) return null;
    return span;
  }

  // What a nugget made or supported now would rest on: the selected text, or the focused passage, or nothing.
  evidence() {
    const span = this.selection();
    const article = span ? passageOf(span) : this.focused;
    const [start, end] = span ? assay.pointsOf(span) : [null, null];
    return article && { docid: article.dataset.docid, start, end };
  }

  quote(evidence) {
    return String(this.range(evidence) || "");
  }

  range({ docid, start, end }) {
    const article = this.byDocid.get(docid);
    return article && start !== null ? assay.rangeOf(readingOf(article), start, end) : null;
  }

  show(evidence) {
    assay.highlight("evidence", evidence.map((one) => this.range(one)).filter(Boolean));
  }

  goTo(evidence) {
    this.go(this.byDocid.get(evidence.docid));
    const place = this.range(evidence);
    if (place) this.reveal(place);
  }

  // What scrolls, and between which heights passages can be read: the panel, or the page without its bars.
  view() {
    const { panel } = this;
    const { top, bottom } = panel.getBoundingClientRect();
    if (panel.scrollHeight > panel.clientHeight) return { scroller: panel, top, bottom };
    return { scroller: window, top: window.innerHeight * 0.3, bottom: window.innerHeight * 0.7 };
  }

  // Scroll as little as shows a place with a line around it.
  reveal(place) {
    const margin = 24;
    const { scroller, top, bottom } = this.view();
    const shown = place.getBoundingClientRect();
    if (shown.top < top + margin) scroller.scrollBy(0, shown.top - top - margin);
    else if (shown.bottom > bottom - margin) scroller.scrollBy(0, shown.bottom - bottom + margin);
  }
};

assay.isSamePlace = (one, other) => ["docid", "start", "end"].every((part) => one[part] === other[part]);

function range(text, start, end) {
  const span = document.createRange();
  span.setStart(text, start);
  span.setEnd(text, end);
  return span;
}

// Parts of texts without the blanks around them; of what is blank, none.
function nonBlank(parts) {
  const spans = parts.map(([text, start, end]) => {
    const part = text.data.slice(start, end);
    return range(text, end - part.trimStart().length, start + part.trimEnd().length);
  });
  return spans.filter((span) => !span.collapsed);
}

// What is selected of some texts, without the blanks around it: a range in each of those that the selection touches.
assay.selectedIn = (texts) => {
  const selection = document.getSelection();
  if (selection.isCollapsed) return [];
  const all = selection.getRangeAt(0);
  const start = (text) => (all.startContainer === text ? all.startOffset : 0);
  const end = (text) => (all.endContainer === text ? all.endOffset : text.length);
  return nonBlank(texts.filter((text) => all.intersectsNode(text)).map((text) => [text, start(text), end(text)]));
};

// The server counts characters (code points), where the browser counts UTF-16 units.
assay.pointsOf = ({ startContainer: { data }, startOffset, endOffset }) =>
  [startOffset, endOffset].map((units) => [...data.slice(0, units)].length);

assay.rangeOf = (text, ...points) =>
  range(text, ...points.map((count) => [...text.data].slice(0, count).join("").length));

// Mark places without touching the page's elements, where the browser can.
assay.highlight = (name, ranges) => CSS.highlights?.set(name, new Highlight(...ranges));

// Search in all passages: every place marked, counted, and gone through with Enter and Shift+Enter.
assay.search = (form, passages) => {
  const input = form.querySelector("input");
  const count = form.querySelector("#search-count");
  let found = [];
  let at = -1; // the place gone to last

  // Go to a place that was found; before Enter was pressed, it is only brought into sight.
  function show(place) {
    at = place;
    assay.highlight("search-here", at < 0 ? [] : [found[at]]);
    if (found.length) passages.reveal(found[Math.max(at, 0)]);
  }

  function find() {
    const words = input.value.trim().replace(/[.*+?^${}()|[\]\\/]/g, "\\$&").replace(/\s+/g, "\\s+");
    found = (words ? passages.articles : []).map(readingOf).flatMap((text) => {
      const matches = [...text.data.matchAll(new RegExp(words, "giu"))];
      return matches.map(({ index, 0: { length } }) => range(text, index, index + length));
    });
    assay.highlight("search", found);
    const holding = assay.count(new Set(found.map(passageOf)).size, "passage");
    const told = assay.say(found.length ? "found" : "not-found", { number: found.length, passages: holding });
    count.textContent = words && told;
    show(-1);
  }

  function go(by) {
    const all = found.length;
    if (!all) return;
    show(at < 0 && by < 0 ? all - 1 : (at + by + all) % all);
    count.textContent = assay.say("found-at", { place: at + 1, all });
  }

  // To the passage that was found; j begins there.
  function leave() {
    const here = found[Math.max(0, at)];
    const article = here ? passageOf(here) : passages.current;
    passages.go(article);
    if (!here) return;
    passages.clear(article, passages.sentences(article).findIndex(({ endOffset }) => endOffset > here.startOffset));
    passages.reveal(here);
  }

  input.addEventListener("input", find);
  input.addEventListener("keydown", (event) => {
    if (event.isComposing || !["Enter", "Escape"].includes(event.key)) return;
    event.preventDefault();
    if (event.key === "Escape") leave();
    else go(event.shiftKey ? -1 : 1);
  });
};
