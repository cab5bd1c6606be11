// The nugget list on screen: making it say what the server says, without touching what a person is at.
"use strict";

window.assay = window.assay || {};

assay.NuggetList = class {
  // holder: the element around the list; onLost(row, typed) gets a text being typed that the server's list overtook.
  constructor(holder, onLost) {
    this.holder = holder;
    this.onLost = onLost;
    this.advised = Number(holder.dataset.advised);
    this.most = Number(holder.dataset.most);
    this.template = document.getElementById("new-row");
    this.counter = document.getElementById("count");
  }

  get element() {
    return document.getElementById("nugget-list");
  }

  get rows() {
    return [...this.element.children];
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

  static text(row) {
    return row.querySelector("textarea");
  }

  static folded(text) {
    return text.split(/\s+/).filter(Boolean).join(" ");
  }

  static parse(html) {
    return new DOMParser().parseFromString(html, "text/html").getElementById("nugget-list");
  }

  mark(row) {
    for (const other of this.rows) other.removeAttribute("aria-current");
    row.setAttribute("aria-current", "true");
  }

  go(row) {
    if (!row) return;
    this.mark(row);
    row.focus();
    row.scrollIntoView({ block: "nearest" });
  }

  // Put a nugget that is not saved yet at the end.
  append(uid, text) {
    const row = this.template.content.firstElementChild.cloneNode(true);
    row.id = `n-${uid}`;
    row.dataset.uid = uid;
    row.dataset.text = text;
    assay.NuggetList.text(row).value = text;
    for (const radio of row.querySelectorAll("input[type=radio]")) radio.name = `importance-${uid}`;
    this.element.append(row);
    return row;
  }

  // Make the list say what the fresh one says. Rows are changed where they differ and never replaced, so that no
  // cursor, selection, composition or click half done is lost. Returns the rows that are new.
  show(fresh) {
    const focused = document.activeElement;
    const cursor = focused.matches("textarea") ? [focused.selectionStart, focused.selectionEnd] : null;
    const added = [];
    const wanted = [...fresh.children].map((row) => {
      const present = this.row(row.dataset.uid);
      if (present) this.patch(present, row);
      else added.push(document.importNode(row, true));
      return present || added[added.length - 1];
    });
    for (const row of this.rows) {
      if (wanted.includes(row)) continue;
      const typed = assay.NuggetList.folded(assay.NuggetList.text(row).value);
      if (typed !== row.dataset.text) this.onLost(row, typed);
      row.remove();
    }
    wanted.forEach((row, at) => {
      if (this.element.children[at] !== row) this.element.insertBefore(row, this.element.children[at] || null);
    });
    Object.assign(this.element.dataset, fresh.dataset);
    this.tidy();
    if (document.activeElement !== focused && focused.isConnected) {
      focused.focus({ preventScroll: true }); // moved in the list
      if (cursor) focused.setSelectionRange(...cursor);
    }
    return added;
  }

  patch(row, fresh) {
    const text = assay.NuggetList.text(row);
    const typed = assay.NuggetList.folded(text.value);
    if (fresh.dataset.text !== row.dataset.text) {
      if (typed !== row.dataset.text && typed !== fresh.dataset.text) this.onLost(row, typed);
      text.value = row.dataset.text = fresh.dataset.text;
    }
    for (const radio of fresh.querySelectorAll("input[type=radio]")) {
      row.querySelector(`input[value="${radio.value}"]`).checked = radio.checked;
    }
    const [chips, freshChips] = [row.querySelector(".chips"), fresh.querySelector(".chips")];
    if (chips.innerHTML !== freshChips.innerHTML) chips.replaceWith(document.importNode(freshChips, true));
  }

  // Numbers, names, counts and flags that follow from the texts.
  tidy() {
    const firstPlace = new Map();
    this.rows.forEach((row, at) => {
      const text = assay.NuggetList.text(row);
      const words = assay.NuggetList.folded(text.value);
      const importance = row.querySelector("input:checked")?.value;
      row.querySelector(".place").textContent = at + 1;
      row.querySelector("legend").textContent = `Importance of nugget ${at + 1}`;
      text.setAttribute("aria-label", `Text of nugget ${at + 1}`);
      row.setAttribute("aria-label", `Nugget ${at + 1}, ${importance || "neither vital nor okay"}: ${words}`);
      this.countWords(row.querySelector(".words"), words);
      row.querySelector(".unset").hidden = Boolean(importance);
      const same = row.querySelector(".same");
      const first = words && firstPlace.get(words.toLowerCase());
      if (words && !first) firstPlace.set(words.toLowerCase(), at + 1);
      same.hidden = !first;
      same.textContent = first ? `same as ${first}` : "";
      assay.fit(text);
    });
    this.counter.textContent = this.rows.length;
    this.counter.classList.toggle("over", this.rows.length > this.most);
  }

  countWords(chip, text) {
    const words = text ? text.split(" ").length : 0;
    chip.textContent = `${words} word${words === 1 ? "" : "s"}`;
    chip.classList.toggle("warn", words > this.advised);
  }
};

// Where the browser can't size a text field by its content, do it here.
assay.fit = (text) => {
  if (CSS.supports("field-sizing", "content")) return;
  text.style.height = "auto";
  text.style.height = `${text.scrollHeight}px`;
};
