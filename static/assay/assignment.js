// The blind screen: nuggets beside one answer after another.
const byNugget = new Map([...document.querySelectorAll(".fact")].map((row) => [row.dataset.nugget, row]));
const nuggetAt = (element) => element.closest(".fact")?.dataset.nugget;

// Words of an answer that carry a nugget: selected with the mouse, or whole sentences with keys. A mark is [sentence,
// start, end], in characters of the sentence's text.
const sentencesOf = (article) => [...article.querySelectorAll(".sentences .reading")];
const spanOf = (article, [at, ...points]) => assay.rangeOf(sentencesOf(article)[at].firstChild, ...points);

function selectedMarks(article) {
  const texts = sentencesOf(article).map((sentence) => sentence.firstChild);
  const spans = assay.selectedIn(texts.filter(Boolean));
  return spans.map((span) => [texts.indexOf(span.startContainer), ...assay.pointsOf(span)]);
}

// Marks in order, those that touch each other joined.
function joined(marks) {
  const all = [];
  for (const [sentence, start, end] of [...marks].sort((a, b) => a[0] - b[0] || a[1] - b[1])) {
    const last = all.at(-1);
    if (last?.[0] === sentence && start <= last[2]) last[2] = Math.max(last[2], end);
    else all.push([sentence, start, end]);
  }
  return all;
}

class Assignment extends assay.Workbench {
  STAYS = true;

  constructor(tab) {
    super(tab);
    const { label, cannot } = this.actions;
    // Whoever labels it anew has seen the text as it is now.
    for (const { columns } of [label, cannot]) columns.push("stale");
    this.actions.mark = { columns: ["marks"], fields: ({ marks }) => ({ marks: JSON.stringify(marks || []) }) };
  }

  asked({ said }) {
    const asked = said.asked && new Set(said.asked.map(String));
    return [...byNugget.keys()].filter((nugget) => !asked || asked.has(nugget));
  }

  itemAt(element) {
    return nuggetAt(element) || this.item;
  }

  elementOf(sheet, nugget) {
    return byNugget.get(nugget);
  }

  inWords(said) {
    if (said.marks !== undefined) return assay.say(said.marks.length ? "marked" : "not-marked");
    return super.inWords(said);
  }

  taken(sheet, article) {
    sheet.older = JSON.parse(article.dataset.older);
    this.changedElsewhere(article.dataset);
  }

  answered(change, text) {
    const told = super.answered(change, text);
    const { action, item } = change.about;
    if (action === "show" && change.thread === this.present?.id && item === this.item) {
      this.state.announced.textContent = assay.say("model-says", { label: told.shown });
    }
    return told;
  }

  changedElsewhere({ edition }) {
    if (String(edition) !== this.edition) this.stop(assay.say("nuggets-changed"), assay.say("to-go-on"));
  }

  arrive(sheet, nugget, isNew) {
    if (isNew) {
      for (const panel of this.main.children) panel.scrollTop = 0;
      this.state.announced.textContent = assay.say("this-answer", { number: sheet.number, total: this.sheets.size });
    }
    super.arrive(sheet, nugget);
    if (isNew) window.scrollTo(0, 0); // where nuggets stand below the answer, that is read first
  }

  // ---- drawing ----
  draw() {
    super.draw();
    const { present, item } = this;
    const all = present && this.asked(present);
    for (const [nugget, row] of byNugget) {
      row.hidden = Boolean(present) && !all.includes(nugget);
      const lines = row.querySelector(".told");
      lines.replaceChildren(...(present ? this.toldOf(present, nugget) : []));
      lines.hidden = !lines.childNodes.length;
    }
    const told = present && { done: all.length - this.unsaid(present).length, total: all.length };
    document.getElementById("said-count").textContent = told ? assay.say("said-count", told) : "";
    if (!present) return;
    assay.highlight("evidence", (present.said.marks[item] || []).map((mark) => spanOf(present.article, mark)));
  }

  toldOf(sheet, nugget) {
    const { said, older, article } = sheet;
    const lines = super.toldOf(sheet, nugget);
    if (nugget in said.stale) {
      const tags = { both: "span", old: "del", new: "ins" };
      const pieces = (older[nugget] || []).flatMap(([kind, words]) => [" ", assay.element(tags[kind], {}, words)]);
      lines.push(this.line(assay.say("was", { label: said.stale[nugget] }), ...pieces));
    }
    if (nugget in said.marks) {
      const words = said.marks[nugget].map((mark) => `“${spanOf(article, mark)}”`);
      lines.push(Object.assign(this.line("", words.join(" ")), { className: "marked" }));
    }
    return lines;
  }

  // ---- nuggets ----
  pick(nugget) {
    const row = byNugget.get(nugget);
    for (const one of byNugget.values()) one.ariaCurrent = one === row ? "true" : null;
    // Keys are about the present row alone (keys.js).
    for (const choice of this.choices) {
      choice.ariaKeyShortcuts = (row?.contains(choice) && choice.dataset.key) || null;
    }
    super.pick(nugget);
    row?.scrollIntoView({ block: "nearest" });
  }

  // ---- what a person does ----
  next() {
    return this.closed ? this.step(1) : super.next();
  }

  mark() {
    const { present, item: nugget, state } = this;
    const before = present.said.marks[nugget] || [];
    const chosen = selectedMarks(present.article);
    if (!chosen.length && !before.length) return state.tell(assay.say("select-first"));
    const now = chosen.length ? joined([...before, ...chosen]) : [];
    document.getSelection().removeAllRanges();
    if (!assay.same(now, before)) this.act(present, "mark", nugget, { marks: now });
  }

  // Select the next sentence (by 1) or the one before (by -1) of the one that is selected; the first press the first.
  selectSentence(by) {
    const selection = document.getSelection();
    const all = this.present ? sentencesOf(this.present.article) : [];
    const at = all.findIndex((sentence) => sentence.contains(selection.anchorNode));
    const sentence = all[at + by] || all[Math.max(at, 0)];
    if (!sentence) return;
    selection.selectAllChildren(sentence);
    sentence.scrollIntoView({ block: "nearest" });
  }

  async across() {
    if (!this.item) return this.state.tell(assay.say("choose-first"));
    const place = document.getElementById("across-text");
    place.textContent = "…";
    document.getElementById("across").showModal();
    const { part } = await this.ask(assay.get(`${this.base}nuggets/${this.item}/`), "body");
    place.replaceChildren(...(part ? part.childNodes : [assay.say("not-shown")]));
  }

  clicked({ target }) {
    const nugget = nuggetAt(target);
    if (nugget && !target.closest("button")) this.pick(nugget);
  }
}

new Assignment(await assay.tab()).start();
