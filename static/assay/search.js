// Search in all passages: every place marked, counted, and gone through with Enter and Shift+Enter.
"use strict";

window.assay = window.assay || {};

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
        this.found.push({ article, start: match.index, place: assay.range(text, match.index, match.index + match[0].length) });
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
