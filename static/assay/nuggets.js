// The nugget list on screen: making it say what the server says, without touching what a person is at.
"use strict";

window.assay = window.assay || {};

assay.NuggetList = class {
  // holder: the element around the list; passages: those beside it; onLost(field, typed) gets a text being typed
  // that the server's list overtook.
  constructor(holder, passages, onLost) {
    this.holder = holder;
    this.passages = passages;
    this.onLost = onLost;
    this.advised = Number(holder.dataset.advised);
    this.most = Number(holder.dataset.most);
    this.template = document.getElementById("new-row");
    this.counter = document.getElementById("count");
    // One list on screen; where drafts are edited two, of those to decide and those decided.
    this.lists = [...this.element.querySelectorAll("ol")];
    this.bar = document.getElementById("decided-bar");
    // In the order of the list, whichever section they are shown in.
    this.rows = this.onScreen.sort((one, other) => placeOf(one) - placeOf(other));
    this.pressed = false;
    this.letSettle();
    this.onDrop = () => {}; // (row, place) after a row was dragged to another place
    this.onTidy = () => {}; // after each change of the list
    this.letDrag();
  }

  get element() {
    return document.getElementById("nugget-list");
  }

  get onScreen() {
    return [...this.element.querySelectorAll(".nugget")];
  }

  static isUndecided(row) {
    return row.hasAttribute("data-undecided");
  }

  // The draft to decide after a row, from the top again after the last; none if there is no other.
  undecidedAfter(row) {
    const at = this.rows.indexOf(row);
    return [...this.rows.slice(at + 1), ...this.rows.slice(0, at)].find(assay.NuggetList.isUndecided);
  }

  section(row) {
    return this.lists[assay.NuggetList.isUndecided(row) ? 0 : this.lists.length - 1];
  }

  // Put every row into its section, in order. Where a person is at, and while the mouse is pressed, a row stays in the
  // section that it is in: what moved under a hand would take a click or a key meant for another.
  arrange(stays = document.activeElement.closest(".nugget")) {
    const sections = this.rows.map((row) => (row.isConnected && (row === stays || this.pressed) ? row.parentElement : this.section(row)));
    // What leaves goes first: else those that stay would be moved past it, and lose the focus.
    this.rows.forEach((row, at) => {
      if (row.parentElement !== sections[at]) sections[at].append(row);
    });
    for (const list of this.lists) {
      this.rows.filter((row, at) => sections[at] === list).forEach((row, at) => {
        if (list.children[at] !== row) list.insertBefore(row, list.children[at] || null);
      });
      const title = document.getElementById(`${list.id}-title`);
      if (title) say(title.querySelector("span"), String(this.rows.filter((row) => this.section(row) === list).length));
    }
    if (!this.bar) return;
    this.bar.value = this.bar.max - this.rows.filter(assay.NuggetList.isUndecided).length;
    say(document.getElementById("decided-count"), `${this.bar.value} of ${this.bar.max} drafts decided`);
  }

  // A decided row goes to its section once the focus has left it and the mouse is up.
  letSettle() {
    if (this.lists.length === 1) return;
    const settle = () => setTimeout(() => this.arrange());
    this.holder.addEventListener("focusout", settle);
    for (const [name, pressed] of [["pointerdown", true], ["pointerup", false], ["pointercancel", false]]) {
      document.addEventListener(name, () => {
        this.pressed = pressed;
        if (!pressed) settle();
      });
    }
  }

  // Put a row before another one, or at the end.
  move(row, before = null) {
    this.rows = this.rows.filter((other) => other !== row);
    this.rows.splice(before ? this.rows.indexOf(before) : this.rows.length, 0, row);
    this.arrange();
  }

  remove(row) {
    this.rows = this.rows.filter((other) => other !== row);
    row.remove();
  }

  row(uid) {
    return document.getElementById(`n-${uid}`);
  }

  place(row) {
    return this.rows.indexOf(row) + 1;
  }

  get current() {
    return this.element.querySelector('[aria-current="true"]');
  }

  get chosen() {
    return this.rows.filter((row) => row.querySelector(".chosen").checked);
  }

  static text(row) {
    return row.querySelector("[data-field=text]");
  }

  static note(row) {
    return row.querySelector("[data-field=note]");
  }

  static fields(row) {
    return [...row.querySelectorAll("[data-field]")];
  }

  static evidence(row) {
    return JSON.parse(row.dataset.evidence);
  }

  static folded(text) {
    return text.split(/\s+/).filter(Boolean).join(" ");
  }

  // What near-duplicates have in common: no case, blanks, punctuation, or forms of one character (as
  // nuggets.queries.folded).
  static bare(text) {
    return assay.NuggetList.folded(text.normalize("NFKC").replace(/\p{P}/gu, " ").toLowerCase().toUpperCase().toLowerCase());
  }

  // What the list says, in the form in which the server tells it.
  get told() {
    const { text, note, evidence } = assay.NuggetList;
    const nuggets = this.rows.map((row) => ({
      uid: row.dataset.uid,
      text: text(row).dataset.saved,
      importance: row.querySelector("input[type=radio]:checked")?.value || "",
      note: note(row).dataset.saved,
      evidence: evidence(row),
      origin: row.querySelector(".origin").textContent,
      draft: row.dataset.draft,
      undecided: assay.NuggetList.isUndecided(row),
    }));
    return { about: { ...this.element.dataset }, nuggets };
  }

  mark(row) {
    for (const other of this.rows) other.removeAttribute("aria-current");
    row.setAttribute("aria-current", "true");
    this.passages.show(assay.NuggetList.evidence(row));
  }

  go(row) {
    if (!row) return;
    this.mark(row);
    row.focus();
    row.scrollIntoView({ block: "nearest" });
  }

  // Put a nugget before another one, or at the end.
  insert({ uid, text, evidence = [], importance = "", note = "", origin, draft = null, undecided = false }, before = null) {
    const row = this.template.content.firstElementChild.cloneNode(true);
    row.id = `n-${uid}`;
    row.dataset.uid = uid;
    row.dataset.evidence = JSON.stringify(evidence);
    for (const [field, value] of [[assay.NuggetList.text(row), text], [assay.NuggetList.note(row), note]]) {
      field.value = field.dataset.saved = value;
    }
    for (const radio of row.querySelectorAll("input[type=radio]")) {
      radio.name = `importance-${uid}`;
      radio.checked = radio.value === importance;
    }
    const chip = row.querySelector(".origin"); // it has what one that is typed here is
    if (origin !== undefined) chip.textContent = origin;
    chip.hidden = !chip.textContent;
    if (draft !== null) row.dataset.draft = draft;
    row.toggleAttribute("data-undecided", undecided);
    this.move(row, before);
    this.drawEvidence(row);
    return row;
  }

  // The places that a nugget rests on, each with a way to take it away.
  drawEvidence(row) {
    const buttons = assay.NuggetList.evidence(row).map((one, at) => {
      const number = this.passages.number(one.docid);
      const quote = this.passages.quote(one);
      const name = number ? `passage ${number}` : one.docid;
      const go = this.chip(`¶${number || "?"}`, `Evidence: ${name}${quote && `, “${quote}”`}`, "where", at);
      const remove = this.chip("×", `Remove evidence: ${name}`, "detach", at);
      remove.classList.add("remove");
      return [go, remove];
    });
    row.querySelector(".evidence").replaceChildren(...buttons.flat());
    if (row.hasAttribute("aria-current")) this.passages.show(assay.NuggetList.evidence(row));
  }

  chip(text, label, act, at) {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", className: "chip", textContent: text, title: label });
    Object.assign(button.dataset, { act, at });
    button.setAttribute("aria-label", label);
    return button;
  }

  setEvidence(row, evidence) {
    row.dataset.evidence = JSON.stringify(evidence);
    this.drawEvidence(row);
  }

  // Make the list say what the fresh one says. Rows are changed where they differ and never replaced, so that no
  // cursor, selection, composition or click half done is lost. Returns the rows that are new, or to decide again.
  show(fresh) {
    const focused = document.activeElement;
    const cursor = focused.matches("textarea") ? [focused.selectionStart, focused.selectionEnd] : null;
    const added = [];
    const at = this.onScreen.indexOf(focused.closest(".nugget"));
    const there = this.rows;
    const again = [];
    const wanted = fresh.nuggets.map((nugget) => {
      const present = this.row(nugget.uid);
      if (present && nugget.undecided && !assay.NuggetList.isUndecided(present)) again.push(present);
      if (present) this.patch(present, nugget);
      else added.push(this.insert(nugget));
      return present || added[added.length - 1];
    });
    for (const row of there) {
      if (wanted.includes(row)) continue;
      for (const field of assay.NuggetList.fields(row)) {
        const typed = assay.NuggetList.folded(field.value);
        if (typed !== field.dataset.saved) this.onLost(field, typed);
      }
      this.remove(row);
    }
    this.rows = wanted;
    Object.assign(this.element.dataset, fresh.about);
    this.tidy();
    if (at >= 0 && !focused.isConnected) this.go(this.onScreen[Math.min(at, this.rows.length - 1)]);
    else if (document.activeElement !== focused && focused.isConnected) {
      focused.focus({ preventScroll: true }); // moved in the list
      if (cursor) focused.setSelectionRange(...cursor);
    }
    return [...added, ...again];
  }

  patch(row, nugget) {
    for (const field of assay.NuggetList.fields(row)) this.patchField(field, nugget[field.dataset.field]);
    for (const radio of row.querySelectorAll("input[type=radio]")) radio.checked = radio.value === nugget.importance;
    row.toggleAttribute("data-undecided", Boolean(nugget.undecided));
    const there = assay.NuggetList.evidence(row);
    if (JSON.stringify(there) !== JSON.stringify(nugget.evidence)) this.setEvidence(row, nugget.evidence);
  }

  patchField(field, saved) {
    if (saved === field.dataset.saved) return;
    const typed = assay.NuggetList.folded(field.value);
    if (typed !== field.dataset.saved && typed !== saved) this.onLost(field, typed);
    field.value = field.dataset.saved = saved;
  }

  // What keeps the list from being handed in, as nuggets.queries.findings.
  get missing() {
    const missing = this.rows.flatMap((row, at) => {
      if (assay.NuggetList.isUndecided(row)) return [];
      const { uid } = row.dataset;
      const text = assay.NuggetList.folded(assay.NuggetList.text(row).value);
      return [
        ...(text ? [] : [{ uid, message: `Nugget ${at + 1} has no text.` }]),
        ...(row.querySelector("input[type=radio]:checked") ? [] : [{ uid, message: `Nugget ${at + 1} is neither vital nor okay yet.` }]),
      ];
    });
    const count = this.rows.length;
    if (!count) missing.push({ message: "There is no nugget yet." });
    if (count > this.most) missing.push({ message: `There are ${count} nuggets; at most ${this.most} can be handed in.` });
    return missing;
  }

  get undecided() {
    return this.rows.flatMap((row, at) => {
      const text = assay.NuggetList.text(row).dataset.saved;
      return assay.NuggetList.isUndecided(row) ? [{ uid: row.dataset.uid, message: `Nugget ${at + 1}: ${text}` }] : [];
    });
  }

  // Numbers, names, counts and flags that follow from the texts.
  tidy() {
    this.arrange();
    const firstPlace = new Map();
    this.rows.forEach((row, at) => {
      const text = assay.NuggetList.text(row);
      const note = assay.NuggetList.note(row);
      const words = assay.NuggetList.folded(text.value);
      const importance = row.querySelector("input[type=radio]:checked")?.value;
      say(row.querySelector(".number"), String(at + 1));
      say(row.querySelector("legend"), `Importance of nugget ${at + 1}`);
      name(row.querySelector(".chosen"), `Choose nugget ${at + 1}`);
      name(text, `Text of nugget ${at + 1}`);
      name(note, `Private note on nugget ${at + 1}`);
      const chip = row.querySelector(".origin");
      const { draft } = row.dataset; // its own text, if it is one
      const undecided = assay.NuggetList.isUndecided(row);
      if (draft !== undefined) say(chip, ![text.value, words].includes(draft) ? "edited" : undecided ? "draft" : "kept");
      name(row, `Nugget ${at + 1}${chip.textContent && `, ${chip.textContent}`}, ${importance || "neither vital nor okay"}: ${words}`);
      note.hidden = !note.value && document.activeElement !== note;
      this.countWords(row.querySelector(".words"), words);
      row.querySelector(".question").hidden = !/[?\uff1f\u061f]$/u.test(words);
      row.querySelector(".unset").hidden = Boolean(importance) || undecided;
      const bare = assay.NuggetList.bare(words);
      const first = bare && firstPlace.get(bare);
      if (bare && !first) firstPlace.set(bare, at + 1);
      row.querySelector(".same").hidden = !first;
      say(row.querySelector(".same"), first ? `same as ${first}` : "");
      for (const field of [text, note]) assay.fit(field);
    });
    say(this.counter, String(this.rows.length));
    this.counter.classList.toggle("over", this.rows.length > this.most);
    this.onTidy();
  }

  // Rows can be dragged by their handle.
  letDrag() {
    let dragged = null;
    this.holder.addEventListener("mousedown", (event) => {
      const row = event.target.closest(".handle")?.closest(".nugget");
      if (row) row.draggable = true;
    });
    this.holder.addEventListener("dragstart", (event) => {
      const row = event.target.closest?.(".nugget");
      if (!row?.draggable) return; // text that is selected can be dragged too
      dragged = row;
      event.dataTransfer.effectAllowed = "move";
      event.dataTransfer.setData("text/plain", assay.NuggetList.text(dragged).dataset.saved);
    });
    this.holder.addEventListener("dragover", (event) => {
      const over = dragged && event.target.closest(".nugget");
      if (!over || over.parentElement !== dragged.parentElement) return;
      event.preventDefault();
      const box = over.getBoundingClientRect();
      for (const row of this.rows) row.removeAttribute("data-drop");
      over.dataset.drop = event.clientY < box.top + box.height / 2 ? "before" : "after";
    });
    this.holder.addEventListener("drop", (event) => {
      const over = this.element.querySelector("[data-drop]");
      if (!dragged || !over) return;
      event.preventDefault();
      const others = this.rows.filter((row) => row !== dragged);
      if (over !== dragged) this.onDrop(dragged, others.indexOf(over) + (over.dataset.drop === "after" ? 1 : 0));
    });
    for (const name of ["dragend", "mouseup"]) {
      document.addEventListener(name, () => {
        dragged = null;
        for (const row of this.rows) {
          row.removeAttribute("data-drop");
          row.draggable = false;
        }
      });
    }
  }

  countWords(chip, text) {
    const words = text ? text.split(" ").length : 0;
    say(chip, `${words} word${words === 1 ? "" : "s"}`);
    chip.classList.toggle("warn", words > this.advised);
  }
};

const placeOf = (row) => Number(row.querySelector(".number").textContent);

// What is there already is not written again: each write would cost a layout at every key.
function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function name(element, label) {
  if (element.getAttribute("aria-label") !== label) element.setAttribute("aria-label", label);
}

// Where the browser can't size a text field by its content, do it here.
assay.fit = (text) => {
  if (CSS.supports("field-sizing", "content")) return;
  text.style.height = "auto";
  text.style.height = `${text.scrollHeight}px`;
};
