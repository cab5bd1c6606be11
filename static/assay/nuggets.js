// The nugget list on screen: making it say what the server says, without touching what a person is at.

// The rows on screen, and the parts of a row. row.nugget is what the list says of it.
const rowOf = (uid) => document.getElementById(`n-${uid}`);
const rowsOnScreen = () => [...document.querySelectorAll("#nugget-list .nugget")];
const currentRow = () => document.querySelector('.nugget[aria-current="true"]');
const textOf = (row) => row.querySelector("[data-field=reword]");
const noteOf = (row) => row.querySelector("[data-field=note]");
const fieldsOf = (row) => [...row.querySelectorAll("[data-field]")];
const isUndecided = (row) => row.hasAttribute("data-undecided");

const folded = (text) => text.trim().replace(/\s+/g, " ");
// Whether something is typed that is not saved yet.
const isTyped = (field) => folded(field.value) !== field.dataset.saved;

Object.assign(assay, { rowOf, rowsOnScreen, currentRow, textOf, noteOf, fieldsOf, isUndecided, folded, isTyped });

assay.NuggetList = class {
  // holder: the element around the list; passages: those beside it; onLost(field) is told of a text being typed that
  // the server's list overtook, before it is replaced; onDrop(row, place) that a row was dragged to another place.
  constructor(holder, passages, { onLost, onDrop }) {
    Object.assign(this, { holder, passages, onLost, onDrop });
    this.advised = Number(holder.dataset.advised || Infinity);
    this.most = Number(holder.dataset.most);
    this.dated = holder.dataset.dated && new RegExp(holder.dataset.dated, "u"); // of inherited nuggets
    this.element = document.getElementById("nugget-list");
    this.reading = document.getElementById("own-reading");
    this.counter = document.getElementById("count");
    // One list on screen; where drafts are edited two, of those to decide and those decided.
    this.lists = [...this.element.querySelectorAll("ol")];
    this.rows = rowsOnScreen(); // in the order of the list, whichever section they are in
    this.isPressed = false;
    this.letSettle();
    this.letDrag();
  }

  place(row) {
    return this.rows.indexOf(row) + 1;
  }

  // Where a row goes that moves up (by -1) or down: past the one beside it in its section, and what is under either
  // goes along. -1 where there is none.
  beside(row, by) {
    const rows = [...row.parentElement.children];
    const size = (one) => blockOf(this.nuggets, one.dataset.uid).length;
    const level = (one) => this.levels.get(one.dataset.uid);
    const at = rows.indexOf(row);
    if (by < 0) return this.rows.indexOf(rows.slice(0, at).findLast((one) => level(one) <= level(row)));
    const next = rows[at + size(row)];
    if (!next) return -1;
    return this.rows.indexOf(next) + (level(next) < level(row) ? 1 : size(next)) - size(row);
  }

  // Whether a row, or something under it, is as deep as questions go.
  isDeepest(row) {
    return blockOf(this.nuggets, row.dataset.uid).some(({ uid }) => this.levels.get(uid) === MAX_LEVELS);
  }

  // The draft to decide after a row, from the top again after the last; none if there is no other.
  undecidedAfter(row) {
    const at = this.rows.indexOf(row);
    return [...this.rows.slice(at + 1), ...this.rows.slice(0, at)].find(isUndecided);
  }

  // Put every row into its section, in order. Where a person is at, and while the mouse is pressed, a row stays in the
  // section that it is in: what moved under a hand would take a click or a key meant for another.
  arrange(stays = document.activeElement.closest(".nugget")) {
    const focused = document.activeElement;
    const cursor = focused.matches("textarea") && [focused.selectionStart, focused.selectionEnd];
    const sections = this.rows.map((row) => {
      const isHeld = row.isConnected && (row === stays || this.isPressed);
      return isHeld ? row.parentElement : this.lists.at(isUndecided(row) ? 0 : -1);
    });
    // What leaves goes first: else those that stay would be moved past it, and lose the focus.
    this.rows.forEach((row, at) => {
      if (row.parentElement !== sections[at]) sections[at].append(row);
    });
    for (const list of this.lists) {
      this.rows.filter((row, at) => sections[at] === list).forEach((row, at) => {
        if (list.children[at] !== row) list.insertBefore(row, list.children[at]);
      });
    }
    if (document.activeElement !== focused && focused.isConnected) {
      focused.focus({ preventScroll: true }); // moved in the list
      if (cursor) focused.setSelectionRange(...cursor);
    }
    if (this.lists.length > 1) this.countDecided();
  }

  countDecided() {
    const bar = document.getElementById("decided-bar");
    const left = this.rows.filter(isUndecided).length;
    bar.value = bar.max - left;
    assay.write(document.getElementById("decided-count"), assay.say("decided", { number: bar.value, all: bar.max }));
    assay.write(document.querySelector("#undecided-title span"), String(left));
    assay.write(document.querySelector("#decided-title span"), String(this.rows.length - left));
  }

  // A decided row goes to its section once the focus has left it and the mouse is up; a note that stays empty goes out
  // of sight again.
  letSettle() {
    const settle = () => setTimeout(() => this.arrange());
    this.holder.addEventListener("focusout", (event) => {
      if (event.target.matches("[data-field=note]")) event.target.hidden = !event.target.value;
      settle();
    });
    for (const name of ["pointerdown", "pointerup", "pointercancel"]) {
      document.addEventListener(name, () => {
        this.isPressed = name === "pointerdown";
        if (!this.isPressed) settle();
      });
    }
  }

  // Mark where a person is at: a row, and maybe a gold answer of it.
  mark(row, answer = null) {
    const marked = [row, answer];
    for (const one of this.element.querySelectorAll(".nugget, .gold-answer")) {
      one.ariaCurrent = marked.includes(one) ? "true" : null;
    }
    this.passages.show(placesOf(row.nugget));
  }

  // The gold answer that a person is at, or was at last in the marked row.
  get answer() {
    return this.element.querySelector('.nugget[aria-current="true"] .gold-answer[aria-current="true"]');
  }

  go(row) {
    if (!row) return;
    this.mark(row);
    row.focus();
    row.scrollIntoView({ block: "nearest" });
  }

  make(uid) {
    const row = document.getElementById("new-row").content.firstElementChild.cloneNode(true);
    row.id = `n-${uid}`;
    row.dataset.uid = uid;
    for (const radio of row.querySelectorAll("input[type=radio]")) radio.name += `-${uid}`;
    return row;
  }

  // The places that a nugget or a gold answer rests on, each with a way to take it away.
  drawPlaces(element, places) {
    const buttons = places.map((one, at) => {
      const made = document.getElementById("new-evidence").content.cloneNode(true);
      const number = this.passages.number(one.docid);
      const quote = this.passages.quote(one);
      const passage = number ? assay.say("passage-number", { number }) : one.docid;
      const told = { passage, quote: quote && `, “${quote}”` };
      for (const button of made.children) {
        button.dataset.at = at;
        button.title = button.ariaLabel = assay.say(`evidence-${button.dataset.act}`, told);
      }
      made.firstElementChild.textContent = `¶${number || "?"}`;
      return made;
    });
    element.querySelector(".evidence").replaceChildren(...buttons);
    const row = element.closest('[aria-current="true"].nugget');
    if (row) this.passages.show(placesOf(row.nugget));
  }

  // Make the screen say what a list says. Rows are changed where they differ and never replaced, so that no
  // cursor, selection, composition or click half done is lost. Returns the rows that are new, or to decide again.
  show({ about, nuggets }) {
    const focused = document.activeElement;
    const at = rowsOnScreen().indexOf(focused.closest(".nugget"));
    const added = [];
    const rows = nuggets.map((nugget) => {
      const row = rowOf(nugget.uid) || this.make(nugget.uid);
      if (!row.isConnected || (nugget.undecided && !isUndecided(row))) added.push(row);
      this.patch(row, nugget);
      return row;
    });
    for (const row of this.rows.filter((one) => !rows.includes(one))) {
      fieldsOf(row).filter(isTyped).forEach((field) => this.onLost(field));
      row.remove();
    }
    this.rows = rows;
    this.nuggets = nuggets;
    this.levels = levelsOf(nuggets);
    this.patchField(this.reading, about.reading);
    Object.assign(this.element.dataset, about);
    this.passages.showRead(JSON.parse(about.read));
    this.tidy();
    if (at >= 0 && !focused.isConnected) this.go(rowsOnScreen()[Math.min(at, this.rows.length - 1)]);
    return added;
  }

  patch(row, nugget) {
    this.patchField(textOf(row), nugget.text);
    this.patchField(noteOf(row), nugget.note);
    const chosen = [nugget.importance, nugget.aggregator || "OR"];
    for (const radio of row.querySelectorAll("input[type=radio]")) radio.checked = chosen.includes(radio.value);
    row.toggleAttribute("data-undecided", Boolean(nugget.undecided));
    const before = row.nugget;
    row.nugget = nugget;
    if (!assay.same(before?.evidence, nugget.evidence)) this.drawPlaces(row, nugget.evidence);
    if (nugget.gold) this.patchGold(row, nugget);
  }

  patchGold(row, { gold, aggregator }) {
    const listed = row.querySelector(".answers");
    const before = [...listed.children];
    const answers = gold.map(({ id, text, references }) => {
      const answer = before.find((one) => one.dataset.gold === id) || this.makeAnswer(id);
      this.patchField(answer.querySelector("textarea"), text);
      return Object.assign(answer, { references });
    });
    for (const answer of before.filter((one) => !answers.includes(one))) {
      [answer.querySelector("textarea")].filter(isTyped).forEach((field) => this.onLost(field));
      answer.remove();
    }
    answers.forEach((answer, at) => {
      if (listed.children[at] !== answer) listed.insertBefore(answer, listed.children[at] ?? null);
      if (!assay.same(answer.drawn, answer.references)) this.drawPlaces(answer, answer.references);
      answer.drawn = answer.references;
    });
    row.querySelector(".aggregator").hidden = gold.length < 2 && aggregator !== "AND";
  }

  makeAnswer(id) {
    const answer = document.getElementById("new-gold-answer").content.firstElementChild.cloneNode(true);
    answer.dataset.gold = answer.querySelector("textarea").dataset.gold = id;
    return answer;
  }

  patchField(field, saved) {
    if (saved === field.dataset.saved) return;
    if (isTyped(field) && folded(field.value) !== saved) this.onLost(field);
    field.dataset.saved = saved;
    if (isTyped(field)) field.value = saved; // a blank at its end may be the start of the next word
  }

  // Numbers, names, counts and flags that follow from the texts.
  tidy() {
    this.arrange();
    const firstPlace = new Map();
    this.rows.forEach((row, at) => {
      const place = at + 1;
      const [text, note, chip] = [textOf(row), noteOf(row), row.querySelector(".origin")];
      const words = folded(text.value);
      assay.write(row.querySelector(".number"), String(place));
      for (const one of row.querySelectorAll(".chosen, fieldset, textarea:not(.gold-answer *)")) {
        assay.write(one, one.ariaLabel.replace(/\d+$/, place), "ariaLabel");
      }
      // The blank row says what one is that is typed here; a draft's own text is there if the nugget is one.
      const { draft, origin = chip.textContent, importance, undecided } = row.nugget;
      const became = row.nugget.text !== draft ? "edited" : undecided ? "draft" : "kept";
      assay.write(chip, typeof draft === "string" ? assay.say(became) : origin);
      const rated = importance || assay.say("neither");
      const { under } = row.nugget;
      assay.write(row.dataset, String(this.levels.get(row.dataset.uid)), "level");
      const part = under ? assay.say("part", { place: this.place(rowOf(under)) }) : "";
      const told = { place, part, origin: chip.textContent && `, ${chip.textContent}`, words, importance: rated };
      assay.write(row, assay.say("nugget-name", told), "ariaLabel");
      row.querySelectorAll(".gold-answer").forEach((answer, at) => {
        const [field, remove] = [answer.querySelector("textarea"), answer.querySelector("[data-act=delete]")];
        const named = { number: at + 1, place };
        assay.write(field, assay.say("answer-name", named), "ariaLabel");
        assay.write(remove, assay.say("answer-remove", named), "ariaLabel");
      });
      note.hidden = !note.value && document.activeElement !== note;
      this.countWords(row.querySelector(".words"), words);
      // Of a fact it is said that it is a question, of a question that it seems to be none.
      row.querySelector(".question").hidden = /[?\uff1f\u061f]$/u.test(words) === Boolean(row.nugget.gold);
      if (this.dated) {
        row.querySelector(".dated").hidden = typeof draft !== "string" || !this.dated.test(words);
      }
      const key = bare(words);
      const first = key && firstPlace.get(key);
      if (key && !first) firstPlace.set(key, place);
      assay.write(row.querySelector(".same"), first ? assay.say("same", { first }) : "");
    });
    assay.write(this.counter, String(this.rows.length));
    this.counter.classList.toggle("over", this.rows.length > this.most);
  }

  countWords(chip, text) {
    const words = text ? text.split(" ").length : 0;
    assay.write(chip, assay.count(words, "word"));
    chip.classList.toggle("warn", words > this.advised);
  }

  // Rows can be dragged by their handle, within their section: to the place of the row that they are dropped on.
  letDrag() {
    let dragged = null;
    const marked = () => this.element.querySelector("[data-drop]");
    this.holder.addEventListener("dragstart", ({ target, dataTransfer }) => {
      dragged = target.matches?.(".handle") ? target.closest(".nugget") : null; // else it is selected text
      if (!dragged) return;
      dataTransfer.effectAllowed = "move";
      dataTransfer.setData("text/plain", dragged.nugget.text);
      dataTransfer.setDragImage(dragged, 0, 0);
    });
    this.holder.addEventListener("dragover", (event) => {
      const over = dragged && event.target.closest(".nugget");
      if (!over || over.parentElement !== dragged.parentElement) return;
      event.preventDefault();
      marked()?.removeAttribute("data-drop");
      over.dataset.drop = this.place(over) < this.place(dragged) ? "before" : "after";
    });
    this.holder.addEventListener("drop", (event) => {
      const over = marked();
      if (!over) return;
      event.preventDefault();
      const behind = blockOf(this.nuggets, dragged.dataset.uid).length - 1;
      this.onDrop(dragged, this.rows.indexOf(over) - (over.dataset.drop === "after" ? behind : 0));
    });
    document.addEventListener("dragend", () => {
      dragged = null;
      marked()?.removeAttribute("data-drop");
    });
  }
};

// What near-duplicates have in common: no case, blanks, punctuation, or forms of one character (as
// nuggets.queries.folded).
const bare = (text) => folded(text.normalize("NFKC").replace(/\p{P}/gu, " ").toLowerCase().toUpperCase().toLowerCase());

// What each change makes of the list, before the server has answered; also of changes that an earlier visit left. The
// server's list has the last word. A list is what the server tells of it: {about, nuggets}.

// The notes of nuggets, each once: the halves of a nugget share theirs.
assay.notesOf = (nuggets) => [...new Set(nuggets.map(({ note }) => note).filter(Boolean))].join(" / ");

// All that a nugget rests on.
const placesOf = ({ evidence, gold = [] }) => [...evidence, ...gold.flatMap(({ references }) => references)];

const isOfQuestions = Boolean(document.getElementById("new-gold-answer"));
const OF_QUESTION = { gold: [], last_gold: 0, aggregator: "", under: null };
const NEW = { importance: "", note: "", evidence: [], ...(isOfQuestions && OF_QUESTION) };
const isFirst = (one, at, all) => all.findIndex((other) => assay.isSamePlace(one, other)) === at;


// Questions that are parts of another follow it on the list: as in nuggets/editing.py, which has the last word.
const MAX_LEVELS = 3;

function levelsOf(nuggets) {
  const levels = new Map();
  for (const { uid, under } of nuggets) levels.set(uid, (levels.get(under) || 0) + 1);
  return levels;
}

// A nugget with all that is under it.
function blockOf(nuggets, uid) {
  const levels = levelsOf(nuggets);
  const first = nuggets.findIndex((one) => one.uid === uid);
  if (first < 0) return [];
  const end = nuggets.findIndex((one, at) => at > first && levels.get(one.uid) <= levels.get(uid));
  return nuggets.slice(first, end < 0 ? undefined : end);
}

// Each nugget under the last one before it that is a level higher.
function nested(nuggets, levels) {
  const above = [];
  return nuggets.map((one) => {
    above.splice(Math.min(levels.get(one.uid), MAX_LEVELS) - 1);
    const under = above.at(-1) ?? null;
    above.push(one.uid);
    return under === (one.under ?? null) ? one : { ...one, under };
  });
}

const shifted = (levels, block, by) => block.forEach(({ uid }) => levels.set(uid, levels.get(uid) + by));

// Others in the place of a nugget; what is under it is under the last of them, or goes up a level.
function replaced(nuggets, uid, others) {
  const levels = levelsOf(nuggets);
  if (!others.length) shifted(levels, blockOf(nuggets, uid).slice(1), -1);
  for (const one of others) levels.set(one.uid, levels.get(uid));
  return nested(nuggets.flatMap((one) => (one.uid === uid ? others : [one])), levels);
}

// The gold answers of several questions, those of one text as one.
function united(lists) {
  const gold = lists.flat();
  const texts = [...new Set(gold.map(({ text }) => folded(text)))];
  return texts.map((text, at) => {
    const same = gold.filter((one) => folded(one.text) === text);
    const references = same.flatMap((one) => one.references).filter(isFirst);
    return { ...same[0], id: `g${at + 1}`, references };
  });
}

const inGold = ({ gold }, id, change) => ({ gold: gold.flatMap((one) => (one.id === id ? change(one) : [one])) });

const inNugget = {
  keep: () => ({ undecided: false }),
  reword: (nugget, { text }) => ({ text, undecided: false }),
  importance: (nugget, { importance }) => ({ importance, undecided: false }),
  note: (nugget, { text }) => ({ note: text }),
  attach: (nugget, { evidence }) => ({ evidence: [...nugget.evidence, evidence].filter(isFirst) }),
  detach: (nugget, { evidence }) => ({ evidence: nugget.evidence.filter((one) => !assay.isSamePlace(one, evidence)) }),
  gold_add({ gold, last_gold: last }, { text }) {
    return { last_gold: last + 1, gold: [...gold, { id: `g${last + 1}`, text, references: [] }] };
  },
  gold_reword: (nugget, { gold, text }) => inGold(nugget, gold, (one) => [{ ...one, text }]),
  gold_remove: (nugget, { gold }) => inGold(nugget, gold, () => []),
  gold_cite: (nugget, { gold, evidence }) =>
    inGold(nugget, gold, (one) => [{ ...one, references: [...one.references, evidence].filter(isFirst) }]),
  gold_uncite: (nugget, { gold, evidence }) =>
    inGold(nugget, gold, (one) => [
      { ...one, references: one.references.filter((place) => !assay.isSamePlace(place, evidence)) },
    ]),
  aggregate: (nugget, { aggregator }) => ({ aggregator }),
};

const inList = {
  add(nuggets, { uid, text, importance, evidence }) {
    if (nuggets.some((one) => one.uid === uid)) return nuggets; // the answer was lost
    return [...nuggets, { ...NEW, uid, text, importance, evidence: evidence ? [evidence] : [] }];
  },
  delete: (nuggets, { uid }) => replaced(nuggets, uid, []),
  move(nuggets, { uid, to }) {
    const levels = levelsOf(nuggets);
    const block = blockOf(nuggets, uid);
    const others = nuggets.filter((one) => !block.includes(one));
    const [before, after] = [others.slice(0, to), others.slice(to)];
    // Among those under another it is one of them: else it would take those behind it from that one.
    const least = after.length ? levels.get(after[0].uid) : 1;
    const most = before.length ? levels.get(before.at(-1).uid) + 1 : 1;
    shifted(levels, block, Math.min(Math.max(levels.get(uid), least), most) - levels.get(uid));
    return nested([...before, ...block, ...after], levels);
  },
  nest(nuggets, { uid, deeper }) {
    const levels = levelsOf(nuggets);
    const block = blockOf(nuggets, uid);
    shifted(levels, block, deeper ? 1 : -1);
    if (deeper) return nested(nuggets, levels);
    // Behind the others that are under the same question.
    const around = blockOf(nuggets, block[0]?.under);
    const last = around.filter((one) => !block.includes(one)).at(-1);
    const others = nuggets.filter((one) => !block.includes(one));
    return nested(others.flatMap((one) => (one === last ? [one, ...block] : [one])), levels);
  },
  merge(nuggets, { uid, uids, text }) {
    const parents = nuggets.filter((one) => uids.includes(one.uid));
    const agreed = (name) => parents.map((one) => one[name]).reduce((one, other) => (one === other ? one : ""));
    if (!parents.length) return nuggets;
    const [first, ...others] = parents;
    const gold = isOfQuestions && united(parents.map((one) => one.gold));
    const merged = {
      uid,
      text,
      importance: agreed("importance"),
      note: assay.notesOf(parents),
      evidence: parents.flatMap(({ evidence }) => evidence).filter(isFirst),
      origin: assay.say("merged", { number: parents.length }),
      ...(gold && { gold, last_gold: gold.length, aggregator: agreed("aggregator") }),
    };
    const left = others.reduce((before, one) => replaced(before, one.uid, []), nuggets);
    return replaced(left, first.uid, [merged]);
  },
  split(nuggets, { uid, into }) {
    const one = nuggets.find((each) => each.uid === uid);
    if (!one) return nuggets;
    const { note, evidence, gold, last_gold, aggregator } = one;
    const same = { note, evidence, origin: assay.say("split"), ...(gold && { gold, last_gold, aggregator }) };
    return replaced(nuggets, uid, into.map((half) => ({ ...NEW, ...half, ...same })));
  },
};

const inAbout = {
  reading: (about, { text }) => ({ reading: text }),
  read(about, { docid, read }) {
    const others = JSON.parse(about.read).filter((other) => other !== docid);
    return { read: JSON.stringify(read ? [...others, docid] : others) };
  },
};

const NO_EDITS = ["note", "reading", "read", "finish"]; // undo does not touch them

assay.effect = ({ about, nuggets }, change) => {
  const { action, uid } = change;
  // What can be undone and redone is known for sure when the answer is here.
  const edit = { undo: 1, redo: Number(["undo", "redo"].includes(action)) };
  const listed = inList[action]?.(nuggets, change) || nuggets;
  return {
    about: { ...about, ...(NO_EDITS.includes(action) ? {} : edit), ...inAbout[action]?.(about, change) },
    nuggets: listed.map((one) => (one.uid === uid ? { ...one, ...inNugget[action]?.(one, change) } : one)),
  };
};
