// The nugget list on screen: making it say what the server says, without touching what a person is at.

// The rows on screen, and the parts of a row. row.nugget is what the list says of it.
const rowOf = (uid) => document.getElementById(`n-${uid}`);
const rowsOnScreen = () => [...document.querySelectorAll("#nugget-list .nugget")];
const currentRow = () => document.querySelector('.nugget[aria-current="true"]');
const textOf = (row) => row.querySelector("[data-field=reword]");
const noteOf = (row) => row.querySelector("[data-field=note]");
const fieldsOf = (row) => [textOf(row), noteOf(row)];
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
    this.advised = Number(holder.dataset.advised);
    this.most = Number(holder.dataset.most);
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

  mark(row) {
    for (const one of this.rows) one.ariaCurrent = one === row ? "true" : null;
    this.passages.show(row.nugget.evidence);
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
    for (const radio of row.querySelectorAll("input[type=radio]")) radio.name = `importance-${uid}`;
    return row;
  }

  // The places that a nugget rests on, each with a way to take it away.
  drawEvidence(row) {
    const { evidence } = row.nugget;
    const buttons = evidence.map((one, at) => {
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
    row.querySelector(".evidence").replaceChildren(...buttons);
    if (row.hasAttribute("aria-current")) this.passages.show(evidence);
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
    for (const radio of row.querySelectorAll("input[type=radio]")) radio.checked = radio.value === nugget.importance;
    row.toggleAttribute("data-undecided", Boolean(nugget.undecided));
    const before = row.nugget;
    row.nugget = nugget;
    if (!assay.same(before?.evidence, nugget.evidence)) this.drawEvidence(row);
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
      for (const one of row.querySelectorAll(".chosen, fieldset, textarea")) {
        assay.write(one, one.ariaLabel.replace(/\d+$/, place), "ariaLabel");
      }
      // The blank row says what one is that is typed here; a draft's own text is there if the nugget is one.
      const { draft, origin = chip.textContent, importance, undecided } = row.nugget;
      const became = row.nugget.text !== draft ? "edited" : undecided ? "draft" : "kept";
      assay.write(chip, typeof draft === "string" ? assay.say(became) : origin);
      const rated = importance || assay.say("neither");
      const told = { place, origin: chip.textContent && `, ${chip.textContent}`, words, importance: rated };
      assay.write(row, assay.say("nugget-name", told), "ariaLabel");
      note.hidden = !note.value && document.activeElement !== note;
      this.countWords(row.querySelector(".words"), words);
      row.querySelector(".question").hidden = !/[?\uff1f\u061f]$/u.test(words);
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
      this.onDrop(dragged, this.rows.indexOf(over));
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

const NEW = { importance: "", note: "", evidence: [] };
const isFirst = (one, at, all) => all.findIndex((other) => assay.isSamePlace(one, other)) === at;

const inNugget = {
  keep: () => ({ undecided: false }),
  reword: (nugget, { text }) => ({ text, undecided: false }),
  importance: (nugget, { importance }) => ({ importance, undecided: false }),
  note: (nugget, { text }) => ({ note: text }),
  attach: (nugget, { evidence }) => ({ evidence: [...nugget.evidence, evidence].filter(isFirst) }),
  detach: (nugget, { evidence }) => ({ evidence: nugget.evidence.filter((one) => !assay.isSamePlace(one, evidence)) }),
};

const inList = {
  add(nuggets, { uid, text, importance, evidence }) {
    if (nuggets.some((one) => one.uid === uid)) return nuggets; // the answer was lost
    return [...nuggets, { ...NEW, uid, text, importance, evidence: evidence ? [evidence] : [] }];
  },
  delete: (nuggets, { uid }) => nuggets.filter((one) => one.uid !== uid),
  move(nuggets, { uid, to }) {
    const others = nuggets.filter((one) => one.uid !== uid);
    others.splice(to, 0, ...nuggets.filter((one) => one.uid === uid));
    return others;
  },
  merge(nuggets, { uid, uids, text }) {
    const parents = nuggets.filter((one) => uids.includes(one.uid));
    const [importance, ...others] = new Set(parents.map((one) => one.importance));
    const merged = {
      uid,
      text,
      importance: others.length ? "" : importance,
      note: assay.notesOf(parents),
      evidence: parents.flatMap(({ evidence }) => evidence).filter(isFirst),
      origin: assay.say("merged", { number: parents.length }),
    };
    const withMerged = nuggets.map((one) => (one === parents[0] ? merged : one));
    return withMerged.filter((one) => !parents.includes(one));
  },
  split: (nuggets, { uid, into }) =>
    nuggets.flatMap((one) => {
      if (one.uid !== uid) return [one];
      const { note, evidence } = one;
      return into.map((half) => ({ ...NEW, ...half, note, evidence, origin: assay.say("split") }));
    }),
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
