// The screen of support: one sentence in its answer, and beside it one passage that it cites. Where a model's label goes
// with a citation, it is asked for once the citation is on screen: that it is shown is recorded before it is.
"use strict";

(async () => {
  const holder = document.getElementById("passages");
  const choices = [...document.querySelectorAll("[data-label]")];
  const shown = document.getElementById("shown"); // the model's label; from scratch there is no such place
  const sentenceOf = (key) => key.split(".")[0];

  class Support extends assay.Sheets {
    AHEAD = 3;

    constructor(tab) {
      super({ tab, kind: "support", field: "citation", decide: "decide what to do with the changes above the answer." });
      this.effects.show = () => {};
      this.dialogs = Object.fromEntries(["cannot", "flag", "ending"].map((id) => [id, document.getElementById(id)]));
    }

    // equal: how many lack a label that come with that of an equal citation, which is in another place: not asked here.
    fromQueue([key, number, toDo, total, version, putOff, equal]) {
      return { ...super.fromQueue([key, number, toDo - equal, version, putOff]), total, equal };
    }

    asked({ said }) {
      return said.open;
    }

    line(sheet, key) {
      return sheet.article?.querySelector(`[data-sentence="${sentenceOf(key)}"]`);
    }

    wordsOf(sheet, key) {
      return this.line(sheet, key)?.querySelector(".reading").textContent || "a sentence that is gone";
    }

    passage(sheet, key) {
      return sheet.passages?.querySelector(`[data-citations~="${key}"]`);
    }

    taken(sheet, article) {
      sheet.passages = article.querySelector(".cited");
      holder.append(sheet.passages);
    }

    drop(sheet) {
      super.drop(sheet);
      sheet.passages?.remove();
    }

    // What a citation points to goes with all that is said of it: its key may become another one's.
    docidOf(sheet, key) {
      return this.passage(sheet, key)?.dataset.docid || "";
    }

    standing(sheet, action, item) {
      const there = super.standing(sheet, action, item);
      return item ? { ...there, docid: this.docidOf(sheet, item) } : there;
    }

    change(sheet, action, item, fields, now) {
      super.change(sheet, action, item, item ? { docid: this.docidOf(sheet, item), ...fields } : fields, now);
    }

    // ---- the model's label ----
    get isReady() {
      return !shown || Boolean(this.present?.said.shown[this.item]);
    }

    // Have the model's label of the citation on screen. What was on its way for another that has left it is not sent.
    reveal() {
      const { present, item, outbox } = this;
      if (!shown || this.closed || !present || !item || this.isReady) return;
      if (outbox.of(present.id).some(({ about }) => about.action === "show" && about.item === item)) return;
      this.forgetShows(1);
      this.change(present, "show", item, {}, {});
    }

    forgetShows(from) {
      const { outbox } = this;
      outbox.changes = outbox.changes.filter(({ about }, at) => at < from || about.action !== "show");
      outbox.keep();
    }

    answered(change, text) {
      const told = super.answered(change, text);
      const sheet = this.sheets.get(change.thread);
      if (told && sheet && !sheet.said) sheet.toDo -= sheet.equal;
      if (told?.equal) this.settle(told.equal, change.about);
      if (change.about.action !== "show") return;
      if (sheet?.said) sheet.said.shown[change.about.item] = told.shown;
      this.draw();
    }

    // What was said of a citation holds for those that are equal to it, on these sheets.
    settle(equal, about) {
      for (const { sheet: key, citations, seen, version, to_do: toDo } of equal) {
        const sheet = this.sheets.get(String(key));
        if (!sheet) continue;
        this.outbox.follow(sheet.id, seen, version);
        if (!sheet.said) sheet.equal = toDo - sheet.toDo;
        else for (const item of citations) this.effects[about.action](sheet, { ...about, item });
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
      if (changes[0].about.action === "show" && status !== 409) {
        this.state.tell(text);
        const sheet = this.sheets.get(changes[0].thread);
        if (status === 404) this.sheets.delete(changes[0].thread);
        // What the server has is asked for anew.
        if (status === 404 || status === 410) this.forget(sheet);
        return;
      }
      super.turnedDown(changes, status, text);
      const sheet = this.sheets.get(changes[0].thread);
      if (sheet && !sheet.said && status === 409) sheet.toDo -= sheet.equal;
      // There is something to judge now that did not come with the answer.
      if (sheet?.said && this.asked(sheet).some((key) => !this.passage(sheet, key))) return this.forget(sheet);
      // Once what was refused has left the outbox.
      queueMicrotask(() => {
        if (!this.present) return;
        if (this.asked(this.present).includes(this.item)) this.reveal();
        else this.open(this.present);
      });
    }

    isKept({ action }) {
      return action !== "show";
    }

    // ---- drawing ----
    draw() {
      const { present, wanted, closed, item } = this;
      const all = this.inOrder();
      const ofSheet = ({ said, total }) => (said ? said.open.length + said.equal.length : total);
      const total = all.reduce((sum, sheet) => sum + ofSheet(sheet), 0);
      const done = total - all.reduce((sum, sheet) => sum + this.left(sheet), 0);
      const words = `${done} of ${total} citations${wanted ? ` · answer ${wanted.number} of ${all.length}` : ""}`;
      this.drawFrame({ done, total, words });
      const passage = present && item && this.passage(present, item);
      // One by one: what is hidden for a moment loses the focus.
      for (const one of holder.querySelectorAll(".passage")) one.hidden = one !== passage;
      if (present) this.drawSentences(present);
      document.getElementById("which").textContent = present && item ? this.whichOf(present, item) : "";
      if (shown) shown.textContent = (item && present?.said.shown[item]) || "…";
      for (const choice of choices) {
        choice.disabled = Boolean(closed) || !passage || !this.isReady;
        choice.setAttribute("aria-pressed", String(Boolean(passage) && present.said.labels[item] === choice.dataset.label));
      }
      const told = document.getElementById("told");
      told.replaceChildren(...(passage ? this.toldOf(present, item) : []));
      this.button("cannot").disabled = Boolean(closed) || !passage || !this.isReady;
      for (const act of ["flag", "later"]) this.button(act).disabled = Boolean(closed) || !passage;
    }

    // Which of a sentence's citations it is, where several are judged.
    whichOf(sheet, key) {
      const same = this.asked(sheet).filter((other) => sentenceOf(other) === sentenceOf(key));
      return same.length > 1 ? `${same.indexOf(key) + 1} of ${same.length} for this sentence` : "";
    }

    drawSentences({ article, said }) {
      for (const line of article.querySelectorAll("[data-sentence]")) {
        const keys = (line.dataset.citations || "").split(" ").filter(Boolean);
        if (keys.includes(this.item)) line.setAttribute("aria-current", "true");
        else line.removeAttribute("aria-current");
        const told = keys.filter((key) => key in said.labels || key in said.cannot || key in said.flags);
        const words = told.map((key) => {
          const flagged = key in said.flags ? " ⚑" : "";
          return (said.labels[key] || (key in said.cannot ? "can't judge" : "")) + flagged;
        });
        const equal = (line.dataset.equal || "").split(" ").filter(Boolean);
        const settled = equal.map((key) => {
          const label = said.labels[key] || (key in said.cannot ? "can't judge" : "");
          return `${label}${label && ", "}judged with an equal one`;
        });
        if (keys.length || equal.length) line.querySelector(".told").textContent = [words.join(", "), ...settled].filter(Boolean).join("; ");
      }
    }

    // What stands of a citation besides a label, as elements.
    toldOf(sheet, key) {
      const { cannot, flags } = sheet.said;
      const line = (parts) => {
        const made = document.createElement("p");
        made.dir = "auto";
        made.append(...parts);
        return made;
      };
      const told = [
        this.decided(sheet, key),
        key in cannot && [assay.chip("can't judge"), ` ${cannot[key]}`],
        key in flags && [assay.chip("flag"), ` ${flags[key]}`],
        ...this.repliesOn(sheet, key).map((text) => [assay.chip("your organizer"), ` ${text}`]),
        this.saidUnder(sheet, key),
      ];
      return told.filter(Boolean).map(line);
    }

    // ---- citations ----
    arrive(sheet, key) {
      const all = this.asked(sheet);
      const named = { first: all[0], last: all[all.length - 1] }[key] || (all.includes(key) ? key : null);
      this.pick(named || this.unsaid(sheet)[0] || all[0] || null);
    }

    // Have a citation of the present answer on screen.
    pick(key) {
      this.item = key;
      this.since = assay.active;
      this.draw();
      if (!key) return;
      const passage = this.passage(this.present, key);
      const line = this.line(this.present, key);
      passage?.setAttribute("aria-labelledby", `${line.querySelector(".reading").id} ${passage.querySelector("h3").id}`);
      holder.scrollTop = 0;
      this.focus();
      this.scrollTo(line);
      window.scrollTo(0, 0); // where the passage stands below the answer, that is read first
      this.reveal();
    }

    focus() {
      if (this.present && this.item) this.passage(this.present, this.item)?.focus({ preventScroll: true });
    }

    // Have a sentence in sight, with some of the answer around it; where it is, nothing moves.
    scrollTo(line) {
      const panel = this.main.firstElementChild;
      const [at, frame] = [line.getBoundingClientRect(), panel.getBoundingClientRect()];
      if (at.top >= frame.top && at.bottom <= frame.bottom - frame.height / 4) return;
      panel.scrollTop += at.top - frame.top - Math.max(0, (frame.height - at.height) / 3);
    }

    move(by) {
      if (!this.present) return;
      const all = this.asked(this.present);
      const next = all[all.indexOf(this.item) + by];
      if (next) return this.pick(next);
      const answers = this.inOrder();
      const answer = answers[answers.indexOf(this.present) + by];
      if (answer) this.open(answer, by > 0 ? "first" : "last");
      else this.state.tell(by > 0 ? "This is the last citation." : "This is the first citation.");
    }

    label(given) {
      const { present, item } = this;
      if (this.closed || !present || !item || !this.isReady) return;
      const changed = this.changed(item, given);
      if (present.said.labels[item] !== given) {
        this.act(present, "label", item, { label: given, seconds: this.spent() }, { label: given, reason: "" });
      }
      this.advance(changed);
    }

    askAbout(dialog, field, column) {
      if (this.present && this.item) this.ask(dialog, field, column, this.item);
    }
  }

  const screen = new Support(await assay.tab());
  const { dialogs } = screen;
  const reason = document.getElementById("reason");
  const note = document.getElementById("note");
  screen.onConfirmed(dialogs.cannot, reason, {
    toldBy: (text) => ({ reason: text, label: "" }),
    take(sheet, key, text, told) {
      if (text) screen.act(sheet, "cannot", key, { reason: text, seconds: screen.spent() }, told);
      if (text && sheet === screen.present && key === screen.item) screen.advance();
      else screen.focus();
    },
    leave: () => screen.focus(),
  });
  screen.onConfirmed(dialogs.flag, note, {
    toldBy: (text) => ({ note: text }),
    take(sheet, key, text, told) {
      if (text !== (sheet.said.flags[key] || "")) screen.act(sheet, "flag", key, { note: text }, told);
      screen.focus();
    },
    leave: () => screen.focus(),
  });

  const acts = {
    label: (element) => screen.label(element.dataset.label),
    down: () => screen.move(1),
    up: () => screen.move(-1),
    undo: () => screen.undo(),
    flag: () => screen.askAbout(dialogs.flag, note, "flags"),
    cannot: () => screen.askAbout(dialogs.cannot, reason, "cannot"),
    later: () => screen.later(),
    next: () => (screen.closed ? screen.move(1) : screen.goOn()),
    signOff: () => screen.askForTheEnd(dialogs.ending),
  };
  document.addEventListener("click", (event) => {
    const element = event.target.closest("[data-act]");
    const line = event.target.closest("[data-citations][data-sentence]");
    if (element) acts[element.dataset.act](element);
    else if (line && document.getSelection().isCollapsed) screen.pick(line.dataset.citations.split(" ")[0]);
  });
  screen.forgetShows(0); // what was on screen when the page was left is not now
  screen.start();
})();
