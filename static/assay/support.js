// The screen of support: one sentence in its answer, and beside it one passage that it cites.
const holder = document.getElementById("passages");
const keysOf = (text) => (text || "").split(" ").filter(Boolean);
const sentenceOf = (key) => key.split(".")[0];

class Support extends assay.Workbench {
  AHEAD = 3;

  asked({ said }) {
    return said.open;
  }

  sentence(sheet, key) {
    return sheet.article?.querySelector(`[data-sentence="${sentenceOf(key)}"]`);
  }

  wordsOf(sheet, key) {
    return this.sentence(sheet, key)?.querySelector(".reading").textContent || assay.say("gone-item");
  }

  elementOf(sheet, key) {
    return sheet?.passages?.querySelector(`[data-citations~="${key}"]`);
  }

  taken(sheet, article) {
    sheet.passages = article.querySelector(".cited");
    holder.append(sheet.passages);
  }

  drop(sheet) {
    super.drop(sheet);
    sheet.passages?.remove();
  }

  of(sheet, key) {
    return key ? { docid: this.elementOf(sheet, key)?.dataset.docid || "" } : {};
  }

  // ---- equal citations ----
  answered(change, text) {
    const told = super.answered(change, text);
    const sheet = this.sheets.get(change.thread);
    if (told && sheet && !sheet.said) sheet.toDo -= sheet.equal;
    if (told?.equal) this.settle(told.equal, change.about);
  }

  // What was said of a citation holds for those that are equal to it, on these sheets.
  settle(equal, about) {
    for (const { sheet: key, citations, seen, version, to_do: toDo } of equal) {
      const sheet = this.sheets.get(String(key));
      if (!sheet) continue;
      this.outbox.follow(sheet.id, seen, version);
      if (!sheet.said) sheet.equal = toDo - sheet.toDo;
      else for (const item of citations) this.effect(sheet, { ...about, item });
    }
    this.draw();
  }

  // How many citations of an answer lack a label, those too that are not asked here.
  left(sheet) {
    const { said } = sheet;
    if (!said) return sheet.toDo + sheet.equal;
    return this.toDo(sheet) + said.equal.filter((key) => !(key in said.labels || key in said.cannot)).length;
  }

  turnedDown(changes, status, text) {
    super.turnedDown(changes, status, text);
    if (status !== 409) return;
    const sheet = this.sheets.get(changes[0].thread);
    if (sheet && !sheet.said) sheet.toDo -= sheet.equal;
    // There is something to judge now that did not come with the answer.
    if (sheet?.said && this.asked(sheet).some((key) => !this.elementOf(sheet, key))) return this.forget(sheet);
    // Once what was refused has left the outbox.
    queueMicrotask(() => {
      if (!this.present) return;
      if (this.asked(this.present).includes(this.item)) this.reveal();
      else this.open(this.present);
    });
  }

  // ---- drawing ----
  progress() {
    const sheets = this.inOrder();
    const ofSheet = ({ said, total }) => (said ? said.open.length + said.equal.length : total);
    const total = sheets.reduce((sum, sheet) => sum + ofSheet(sheet), 0);
    const done = total - sheets.reduce((sum, sheet) => sum + this.left(sheet), 0);
    return { done, total, answers: sheets.length };
  }

  draw() {
    super.draw();
    const { present, item } = this;
    const passage = item && this.elementOf(present, item);
    // One by one: what is hidden for a moment loses the focus.
    for (const one of holder.querySelectorAll(".passage")) one.hidden = one !== passage;
    if (present) this.drawSentences(present);
    document.getElementById("which").textContent = present && item ? this.whichOf(present, item) : "";
  }

  // Which of a sentence's citations it is, where several are judged.
  whichOf(sheet, key) {
    const same = this.asked(sheet).filter((other) => sentenceOf(other) === sentenceOf(key));
    return same.length > 1 ? assay.say("which", { number: same.indexOf(key) + 1, total: same.length }) : "";
  }

  drawSentences({ article, said }) {
    const labelOf = (key) => said.labels[key] || (key in said.cannot ? assay.say("cannot-chip") : "");
    for (const line of article.querySelectorAll("[data-sentence]")) {
      const [keys, equal] = [keysOf(line.dataset.citations), keysOf(line.dataset.equal)];
      line.ariaCurrent = keys.includes(this.item) ? "true" : null;
      const words = keys
        .filter((key) => labelOf(key) || key in said.flags)
        .map((key) => labelOf(key) + (key in said.flags ? " ⚑" : ""));
      const settled = equal.map((key) => [labelOf(key), assay.say("judged-with-equal")].filter(Boolean).join(", "));
      const told = [words.join(", "), ...settled].filter(Boolean).join("; ");
      if (keys.length || equal.length) line.querySelector(".told").textContent = told;
    }
  }

  pick(key) {
    this.since = assay.active;
    super.pick(key);
    if (!key) return;
    const passage = this.elementOf(this.present, key);
    const line = this.sentence(this.present, key);
    passage?.setAttribute("aria-labelledby", `${line.querySelector(".reading").id} ${passage.querySelector("h3").id}`);
    holder.scrollTop = 0;
    line.scrollIntoView({ block: "nearest" }); // with some of the answer around it
    window.scrollTo(0, 0); // where the passage stands below the answer, that is read first
  }

  clicked(event) {
    const line = event.target.closest("[data-citations][data-sentence]");
    if (line && document.getSelection().isCollapsed) this.pick(keysOf(line.dataset.citations)[0]);
  }
}

new Support(await assay.tab()).start();
