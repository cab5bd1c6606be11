// The passages beside the list: which one is current, sentences chosen with keys, text chosen with the mouse, and
// the places that nuggets rest on. Spans count characters (code points) of the segment's text, as the server does.
"use strict";

window.assay = window.assay || {};

assay.Passages = class {
  constructor(panel) {
    this.panel = panel;
    this.articles = [...panel.querySelectorAll(".passage")];
    this.byDocid = new Map(this.articles.map((article) => [article.dataset.docid, article]));
    this.current = this.articles[0];
    this.cut = new Map(); // sentences of passages, found when first asked for
    this.next = new Map(); // the sentence that j begins with in a passage
    for (const article of this.articles) article.querySelector(".reading").normalize();
    panel.addEventListener("focusin", (event) => {
      const here = event.target.closest(".passage");
      if (here) this.current = here;
    });
  }

  // Have also those laid out that are out of sight, once the first ones are on screen: nothing may move later, when
  // somebody scrolls or clicks.
  layOutAll() {
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => this.panel.classList.remove("in-sight-first"))));
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

  static text(article) {
    return article.querySelector(".reading").firstChild;
  }

  go(article) {
    if (!article) return;
    for (const other of this.articles) other.tabIndex = -1;
    this.current = article;
    article.tabIndex = 0;
    article.focus({ preventScroll: true });
    const { top, bottom } = this.view();
    const fits = article.offsetHeight <= bottom - top;
    article.scrollIntoView({ block: fits ? "nearest" : "start" });
  }

  step(by) {
    this.go(this.articles[this.articles.indexOf(this.current) + by]);
  }

  // ---- sentences ----

  // Where the sentences of a passage begin and end, without the blanks around them.
  sentences(article) {
    if (!this.cut.has(article)) {
      const text = assay.Passages.text(article).data;
      const parts = Intl.Segmenter
        ? [...new Intl.Segmenter(undefined, { granularity: "sentence" }).segment(text)]
        : [{ index: 0, segment: text }];
      const spans = parts.map(({ index, segment }) => trimmed(text, index, index + segment.length));
      this.cut.set(article, spans.filter(([start, end]) => end > start));
    }
    return this.cut.get(article);
  }

  // The first and last sentence that the selection touches, or null.
  chosen(article) {
    const span = this.selection();
    if (!span || span.article !== article) return null;
    const touched = this.sentences(article).flatMap(([start, end], at) => (start < span.end && end > span.start ? [at] : []));
    return touched.length ? [touched[0], touched[touched.length - 1]] : null;
  }

  // One sentence more (by 1) or less (by -1); the first press chooses one.
  extend(article, by) {
    const chosen = this.chosen(article);
    if (!chosen) return this.choose(article, this.next.get(article) || 0, this.next.get(article) || 0);
    const [first, last] = chosen;
    if (last + by < first) return this.clear(article, first);
    this.choose(article, first, last + by);
  }

  // The next (by 1) or previous (by -1) sentence alone.
  move(article, by) {
    const chosen = this.chosen(article);
    const at = chosen ? (by > 0 ? chosen[1] : chosen[0]) + by : this.next.get(article) || 0;
    this.choose(article, at, at);
  }

  choose(article, first, last) {
    const sentences = this.sentences(article);
    if (first < 0 || last >= sentences.length) return;
    const text = assay.Passages.text(article);
    document.getSelection().setBaseAndExtent(text, sentences[first][0], text, sentences[last][1]);
    this.next.set(article, Math.min(last + 1, sentences.length - 1));
    this.reveal(range(text, sentences[last][0], sentences[last][1]));
  }

  // Choose nothing; j will begin with this sentence.
  clear(article, next) {
    document.getSelection().removeAllRanges();
    this.next.set(article, next);
  }

  // Let j begin with the sentence that holds a character.
  beginAt(article, character) {
    const at = this.sentences(article).findIndex(([, end]) => end > character);
    this.clear(article, Math.max(0, at));
  }

  // ---- spans ----

  // The texts that are selected, without blanks around them, in each passage that the selection touches; counted as
  // the browser counts.
  selections() {
    const selection = document.getSelection();
    if (!selection.rangeCount || selection.isCollapsed) return [];
    const selected = selection.getRangeAt(0);
    return this.articles.flatMap((article) => {
      const text = assay.Passages.text(article);
      if (!selected.intersectsNode(text)) return [];
      const start = selected.startContainer === text ? selected.startOffset : 0;
      const end = selected.endContainer === text ? selected.endOffset : text.length;
      const [from, to] = trimmed(text.data, start, end);
      return to > from ? [{ article, start: from, end: to }] : [];
    });
  }

  // The text that is selected in one passage, or null. What was selected in a passage that was left is not meant.
  selection() {
    const spans = this.selections();
    const elsewhere = this.focused && spans.length && spans[0].article !== this.focused;
    return spans.length === 1 && !elsewhere ? spans[0] : null;
  }

  get spansTwo() {
    return this.selections().length > 1;
  }

  // What a nugget made or supported now would rest on: the selected text, or the focused passage, or nothing.
  evidence() {
    const span = this.selection();
    if (!span) return this.focused ? { docid: this.focused.dataset.docid, start: null, end: null } : null;
    const text = assay.Passages.text(span.article).data;
    const [start, end] = [span.start, span.end].map((units) => [...text.slice(0, units)].length);
    return { docid: span.article.dataset.docid, start, end };
  }

  quote({ docid, start, end }) {
    const article = this.byDocid.get(docid);
    if (!article || start === null) return "";
    return [...assay.Passages.text(article).data].slice(start, end).join("");
  }

  range({ docid, start, end }) {
    const article = this.byDocid.get(docid);
    if (!article || start === null) return null;
    const text = assay.Passages.text(article);
    const points = [...text.data];
    const units = (count) => points.slice(0, count).join("").length;
    return range(text, units(start), units(end));
  }

  // Mark the places that the current nugget rests on.
  show(evidence) {
    assay.highlight("evidence", evidence.map((one) => this.range(one)).filter(Boolean));
  }

  goTo(evidence) {
    this.go(this.byDocid.get(evidence.docid));
    const place = this.range(evidence);
    if (place) this.reveal(place);
  }

  // What scrolls, and between which heights of the window passages can be read: the panel, or the page without its bars.
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

function trimmed(text, start, end) {
  while (start < end && /\s/.test(text[start])) start += 1;
  while (end > start && /\s/.test(text[end - 1])) end -= 1;
  return [start, end];
}

function range(text, start, end) {
  const made = document.createRange();
  made.setStart(text, start);
  made.setEnd(text, end);
  return made;
}

// Mark places without touching the page's elements.
assay.highlight = (name, ranges) => {
  if (!window.CSS?.highlights) return;
  if (ranges.length) CSS.highlights.set(name, new Highlight(...ranges));
  else CSS.highlights.delete(name);
};

// Search in all passages: every place marked, counted, and gone through with Enter and Shift+Enter.
assay.Search = class {
  constructor(form, passages) {
    this.passages = passages;
    this.input = form.querySelector("input");
    this.count = form.querySelector("#search-count");
    this.found = [];
    this.at = -1;
    form.addEventListener("submit", (event) => event.preventDefault());
    this.input.addEventListener("input", () => this.find());
    this.input.addEventListener("keydown", (event) => {
      if (event.isComposing) return;
      if (event.key === "Enter") {
        event.preventDefault();
        this.go(event.shiftKey ? -1 : 1);
      } else if (event.key === "Escape") {
        event.preventDefault();
        this.leave();
      }
    });
  }

  find() {
    const words = this.input.value.split(/\s+/).filter(Boolean);
    const pattern = words.length && new RegExp(words.map(escaped).join("\\s+"), "giu");
    this.found = [];
    let passages = 0;
    for (const article of pattern ? this.passages.articles : []) {
      const before = this.found.length;
      const text = assay.Passages.text(article);
      for (const match of text.data.matchAll(pattern)) {
        this.found.push({ article, start: match.index, place: range(text, match.index, match.index + match[0].length) });
      }
      if (this.found.length > before) passages += 1;
    }
    this.at = -1;
    assay.highlight("search", this.found.map(({ place }) => place));
    assay.highlight("search-here", []);
    if (!words.length) this.count.textContent = "";
    else if (!this.found.length) this.count.textContent = "nothing found";
    else this.count.textContent = `${this.found.length} in ${passages} passage${passages === 1 ? "" : "s"}`;
    if (this.found.length) this.passages.reveal(this.found[0].place);
  }

  go(by) {
    const all = this.found.length;
    if (!all) return;
    this.at = this.at < 0 && by < 0 ? all - 1 : (this.at + by + all) % all;
    const here = this.found[this.at];
    assay.highlight("search-here", [here.place]);
    this.count.textContent = `${this.at + 1} of ${all}`;
    this.passages.reveal(here.place);
  }

  // To the passage that was found; j begins there.
  leave() {
    const here = this.found[Math.max(0, this.at)];
    this.passages.go(here ? here.article : this.passages.current);
    if (here) {
      this.passages.beginAt(here.article, here.start);
      this.passages.reveal(here.place);
    }
  }
};

function escaped(word) {
  return word.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}
