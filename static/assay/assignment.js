// The blind screen: nuggets beside one answer after another.
"use strict";

// Words of an answer that carry a nugget: selected with the mouse, or whole sentences with keys. A mark is [sentence,
// start, end], in characters (code points) of the sentence's text, as the server counts.
assay.marks = (() => {
  const sentences = (article) => [...article.querySelectorAll(".sentences .reading")];
  const points = (text, units) => [...text.slice(0, units)].length;
  const units = (text, count) => [...text].slice(0, count).join("").length;

  // What is selected of an answer, without the blanks around it, sentence by sentence.
  function selected(article) {
    const selection = document.getSelection();
    if (!selection.rangeCount || selection.isCollapsed) return [];
    const chosen = selection.getRangeAt(0);
    return sentences(article).flatMap((sentence, at) => {
      const text = sentence.firstChild;
      if (!text || !chosen.intersectsNode(text)) return [];
      const from = chosen.startContainer === text ? chosen.startOffset : 0;
      const to = chosen.endContainer === text ? chosen.endOffset : text.length;
      const [start, end] = trimmed(text.data, from, to);
      return end > start ? [[at, points(text.data, start), points(text.data, end)]] : [];
    });
  }

  // Marks in order, those that touch each other joined.
  function joined(marks) {
    const found = [];
    for (const [sentence, start, end] of [...marks].sort((a, b) => a[0] - b[0] || a[1] - b[1])) {
      const last = found[found.length - 1];
      if (last && last[0] === sentence && start <= last[2]) last[2] = Math.max(last[2], end);
      else found.push([sentence, start, end]);
    }
    return found;
  }

  function words(article, [sentence, start, end]) {
    return [...sentences(article)[sentence].textContent].slice(start, end).join("");
  }

  function show(article, marks) {
    const places = marks.map(([sentence, start, end]) => {
      const text = sentences(article)[sentence].firstChild;
      return range(text, units(text.data, start), units(text.data, end));
    });
    assay.highlight("evidence", places);
  }

  // Select the next sentence (by 1) or the one before (by -1) of the one that is selected; the first press the first.
  function step(article, by) {
    const all = sentences(article);
    const { anchorNode } = document.getSelection();
    const at = all.findIndex((sentence) => sentence.contains(anchorNode));
    const sentence = all[at < 0 ? 0 : Math.min(Math.max(at + by, 0), all.length - 1)];
    if (!sentence) return;
    document.getSelection().selectAllChildren(sentence);
    sentence.scrollIntoView({ block: "nearest" });
  }

  return { selected, joined, words, show, step };
})();

(async () => {
  const rows = [...document.querySelectorAll(".fact")];
  const byNugget = new Map(rows.map((row) => [row.dataset.nugget, row]));

  class Assignment extends assay.Sheets {
    constructor(tab) {
      super({ tab, kind: "assignment", field: "nugget", decide: "decide what to do with the changes above the answer." });
      const { label, cannot } = this.effects;
      Object.assign(this.effects, {
        label(sheet, about) {
          label(sheet, about);
          if (about.label) delete sheet.said.stale[about.item];
        },
        cannot(sheet, about) {
          cannot(sheet, about);
          delete sheet.said.stale[about.item];
        },
        mark: ({ said }, { item, marks }) => assay.put(said.marks, item, marks),
      });
      this.dialogs = Object.fromEntries(
        ["cannot", "flag", "across", "ending"].map((id) => [id, document.getElementById(id)]),
      );
    }

    asked({ said }) {
      const asked = said.asked && new Set(said.asked.map(String));
      return [...byNugget.keys()].filter((nugget) => !asked || asked.has(nugget));
    }

    get row() {
      return byNugget.get(this.item);
    }

    wordsOf(sheet, nugget) {
      return byNugget.get(nugget)?.querySelector(".text").textContent || "a nugget that is gone";
    }

    standing(sheet, action, nugget) {
      if (action === "mark") return { marks: sheet.said.marks[nugget] || [] };
      const found = super.standing(sheet, action, nugget);
      return ["label", "cannot"].includes(action) ? { ...found, stale: sheet.said.stale[nugget] || "" } : found;
    }

    inWords(about) {
      if (about.marks !== undefined) return about.marks.length ? "words marked" : "no words marked";
      return super.inWords(about);
    }

    reversal(action, before) {
      if (action === "mark") return ["mark", { marks: JSON.stringify(before.marks) }];
      return super.reversal(action, before);
    }

    tookBack(sheet, nugget, before) {
      if (before.stale) sheet.said.stale[nugget] = before.stale;
    }

    taken(sheet, article) {
      sheet.older = JSON.parse(article.dataset.older);
      if (article.dataset.edition !== this.edition) this.outdated();
    }

    changedElsewhere(there) {
      if (String(there.edition) !== this.edition) this.outdated();
    }

    outdated() {
      this.stop("The nuggets were changed meanwhile.", " to go on with them as they are now.");
    }

    arrive(sheet, nugget, isNew) {
      if (isNew) {
        for (const panel of this.main.children) panel.scrollTop = 0;
        this.state.announced.textContent = `Answer ${sheet.number} of ${this.sheets.size}`;
      }
      const all = this.asked(sheet);
      this.pick(all.includes(nugget) ? nugget : this.unsaid(sheet)[0] || all[0] || null);
      if (isNew) window.scrollTo(0, 0); // where nuggets stand below the answer, that is read first
    }

    // ---- drawing ----
    draw() {
      const { present, wanted, closed } = this;
      const all = this.inOrder();
      const done = all.filter((sheet) => !this.toDo(sheet)).length;
      const words = wanted ? `Answer ${wanted.number} of ${all.length} · ${done} done` : `${done} of ${all.length} done`;
      this.drawFrame({ done, total: all.length, words });
      for (const one of rows) this.drawRow(one);
      document.getElementById("said-count").textContent = present
        ? `${this.asked(present).length - this.unsaid(present).length} of ${this.asked(present).length}`
        : "";
      for (const act of ["flag", "cannot", "mark", "later"]) this.button(act).disabled = Boolean(closed) || !present;
      this.drawMarks();
    }

    drawRow(one) {
      const { nugget } = one.dataset;
      const sheet = this.present;
      one.hidden = Boolean(sheet) && !this.asked(sheet).includes(nugget);
      for (const choice of one.querySelectorAll("[data-label]")) {
        choice.disabled = !sheet || Boolean(this.closed);
        choice.setAttribute("aria-pressed", String(sheet?.said.labels[nugget] === choice.dataset.label));
      }
      const told = one.querySelector(".told");
      told.replaceChildren(...(sheet ? this.toldOf(sheet, nugget) : []));
      told.hidden = !told.childNodes.length;
    }

    // What stands of a nugget besides a label, as elements.
    toldOf(sheet, nugget) {
      const { said, older, article } = sheet;
      const lines = [];
      const line = (...parts) => {
        const made = document.createElement("p");
        made.dir = "auto";
        made.append(...parts);
        lines.push(made);
      };
      const decided = this.decided(sheet, nugget);
      if (decided) line(...decided);
      if (nugget in said.cannot) line(assay.chip("can't judge"), ` ${said.cannot[nugget]}`);
      if (nugget in said.stale) {
        const pieces = (older[nugget] || []).flatMap(([kind, words]) => {
          const piece = document.createElement({ both: "span", old: "del", new: "ins" }[kind]);
          piece.textContent = words;
          return [" ", piece];
        });
        line(assay.chip(`was: ${said.stale[nugget]}, on an older text`), ...pieces);
      }
      if (nugget in said.flags) line(assay.chip("flag"), ` ${said.flags[nugget]}`);
      for (const text of this.repliesOn(sheet, nugget)) line(assay.chip("your organizer"), ` ${text}`);
      const under = this.saidUnder(sheet, nugget);
      if (under) line(...under);
      if (nugget in said.marks) {
        line(said.marks[nugget].map((mark) => `“${assay.marks.words(article, mark)}”`).join(" "));
        lines[lines.length - 1].className = "marked";
      }
      return lines;
    }

    drawMarks() {
      const { present, item } = this;
      const marks = (item && present?.said.marks[item]) || [];
      if (present) assay.marks.show(present.article, marks);
    }

    // ---- nuggets ----

    // Let the keys be about a nugget; none: about no nugget.
    pick(nugget) {
      if (this.row) {
        this.row.removeAttribute("aria-current");
        for (const choice of this.row.querySelectorAll("[data-key]")) {
          choice.removeAttribute("data-key");
          choice.removeAttribute("aria-keyshortcuts");
        }
      }
      this.item = nugget;
      this.drawMarks();
      if (!nugget) return;
      this.row.setAttribute("aria-current", "true");
      for (const choice of this.row.querySelectorAll("[data-its-key]")) {
        choice.dataset.key = choice.dataset.itsKey;
        choice.dataset.keyLabel = `This nugget: ${choice.dataset.label}`;
      }
      assay.relabel();
      this.focus();
      this.row.scrollIntoView({ block: "nearest" });
    }

    focus() {
      this.row?.focus({ preventScroll: true });
    }

    move(by) {
      if (!this.present) return;
      const all = this.asked(this.present);
      const next = all.indexOf(this.item) + by;
      this.pick(all[Math.min(Math.max(next, 0), all.length - 1)] || null);
    }

    // ---- what a person does ----
    label(one, given) {
      const { present } = this;
      if (this.closed || !present) return;
      const { nugget } = one.dataset;
      if (nugget !== this.item) this.pick(nugget); // by mouse
      const changed = this.changed(nugget, given);
      if (present.said.labels[nugget] !== given) {
        this.act(present, "label", nugget, { label: given, seconds: this.spent() }, { label: given, reason: "", stale: "" });
      }
      this.advance(changed);
    }

    askAbout(dialog, field, column) {
      if (!this.present || !this.item) return this.state.tell(`Choose a nugget first${assay.byKeys("j", "k")}.`);
      this.ask(dialog, field, column, this.item);
    }

    mark() {
      const { present, item: nugget, state } = this;
      if (!present || !nugget) return state.tell(`Choose a nugget first${assay.byKeys("j", "k")}.`);
      const before = present.said.marks[nugget] || [];
      const chosen = assay.marks.selected(present.article);
      if (!chosen.length && !before.length) return state.tell(`Select words of the answer first, with the mouse or sentence by sentence${assay.byKeys("[", "]")}.`);
      const marks = chosen.length ? assay.marks.joined([...before, ...chosen]) : [];
      document.getSelection().removeAllRanges();
      if (!assay.same(marks, before)) this.act(present, "mark", nugget, { marks: JSON.stringify(marks) }, { marks });
    }

    async across() {
      if (!this.item) return this.state.tell(`Choose a nugget first${assay.byKeys("j", "k")}.`);
      const place = document.getElementById("across-text");
      place.textContent = "…";
      this.dialogs.across.showModal();
      try {
        const address = `${this.base}nuggets/${this.item}/`;
        const response = await fetch(address, { headers: { "X-Assay-Write": "1" } });
        if (!response.ok) throw new Error(response.status);
        const found = new DOMParser().parseFromString(await response.text(), "text/html");
        place.replaceChildren(...document.importNode(found.body, true).childNodes);
      } catch {
        place.textContent = "This can't be shown now: the server does not answer.";
      }
    }

    step(by) {
      const all = this.inOrder();
      const next = all[all.indexOf(this.wanted) + by];
      if (next) this.open(next);
      else this.state.tell(by > 0 ? "This is the last answer." : "This is the first answer.");
    }
  }

  const screen = new Assignment(await assay.tab());
  const { dialogs } = screen;
  const reason = document.getElementById("reason");
  const note = document.getElementById("note");
  const leave = () => screen.focus();
  screen.onConfirmed(dialogs.cannot, reason, {
    toldBy: (text) => ({ reason: text, label: "", stale: "" }),
    take(sheet, nugget, text, told) {
      if (text) screen.act(sheet, "cannot", nugget, { reason: text, seconds: screen.spent() }, told);
      if (text && sheet === screen.present && nugget === screen.item) screen.advance();
      else leave();
    },
    leave,
  });
  screen.onConfirmed(dialogs.flag, note, {
    toldBy: (text) => ({ note: text }),
    take(sheet, nugget, text, told) {
      if (text !== (sheet.said.flags[nugget] || "")) screen.act(sheet, "flag", nugget, { note: text }, told);
      leave();
    },
    leave,
  });

  const { marks } = assay;
  const acts = {
    label: (element) => screen.label(element.closest(".fact"), element.dataset.label),
    down: () => screen.move(1),
    up: () => screen.move(-1),
    undo: () => screen.undo(),
    flag: () => screen.askAbout(dialogs.flag, note, "flags"),
    cannot: () => screen.askAbout(dialogs.cannot, reason, "cannot"),
    sentence: () => screen.present && marks.step(screen.present.article, 1),
    sentenceBefore: () => screen.present && marks.step(screen.present.article, -1),
    mark: () => screen.mark(),
    later: () => screen.later(),
    before: () => screen.step(-1),
    after: () => screen.step(1),
    next: () => (screen.closed ? screen.step(1) : screen.goOn()),
    across: () => screen.across(),
    signOff: () => screen.askForTheEnd(dialogs.ending),
  };

  document.addEventListener("click", (event) => {
    const element = event.target.closest("[data-act]");
    const link = event.target.closest("#across-text [data-sheet]");
    if (element) acts[element.dataset.act](element);
    else if (link && screen.sheets.has(link.dataset.sheet)) {
      event.preventDefault();
      dialogs.across.close();
      screen.open(screen.sheets.get(link.dataset.sheet), link.dataset.nugget);
    } else {
      const one = event.target.closest(".fact");
      if (one && !event.target.closest("button")) screen.pick(one.dataset.nugget);
    }
  });
  screen.start(new URLSearchParams(window.location.search).get("nugget"));
})();
