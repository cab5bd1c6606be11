// What the screens have in common on which a person says something of the items of answers: of nuggets, of citations.
// What they say shows at once and goes into the outbox; each answer is a thread of its own there. Answers come with the
// page or are fetched before the person gets to them, and stay in it. Undo, what was refused, signing off, the end.
"use strict";

window.assay = window.assay || {};

// A screen extends this. It has to know asked(sheet), the items of an answer that is in the page, in their order;
// wordsOf(sheet, item); draw(); arrive(sheet, item, isNew), which goes to an item of the present answer: the one that is
// named, else the first of which nothing is said; pick(item), which goes there; and focus(), on the item as it is.
assay.Sheets = class {
  AHEAD = 4; // answers to be done that are there before the person gets to them
  KEPT = 500; // acts that can be undone

  // kind: of work, as the stores call it; field: what a write calls an item; decide: what to do about refused changes.
  constructor({ tab, kind, field, decide }) {
    this.main = document.getElementById("main");
    const { base, person, task, edition = "" } = this.main.dataset;
    Object.assign(this, { tab, field, base, edition, subject: `${person}.${kind}.${task}` });
    this.holder = document.getElementById("answers");
    // A person's answers, by the key of their sheet. said: what stands there, once the answer is in the page.
    this.sheets = new Map(
      JSON.parse(this.main.dataset.queue).map((row) => {
        const sheet = { said: null, article: null, ...this.fromQueue(row) };
        return [sheet.id, sheet];
      }),
    );
    this.replies = JSON.parse(this.main.dataset.replies); // of the organizer, by sheet and item
    this.closed = this.main.dataset.closed || ""; // why nothing can be said
    this.wanted = null; // the answer that the person is at
    this.present = null; // the same, once it is here
    this.item = null; // the one that keys are about
    this.since = 0; // active seconds when the answer came or the label before was given
    this.about = null; // what the open dialog is about
    this.state = new assay.StateLine({ decide, isRefused: () => this.refused.changes.length > 0 });
    this.refused = this.makeRefused();
    this.outbox = this.makeOutbox();
    this.readDone();
  }

  fromQueue([key, number, toDo, version, putOff]) {
    return { id: String(key), number, toDo, version, putOff };
  }

  inOrder() {
    return [...this.sheets.values()].sort((a, b) => a.putOff - b.putOff || a.number - b.number);
  }

  unsaid(sheet) {
    return this.asked(sheet).filter((item) => !(item in sheet.said.labels || item in sheet.said.cannot));
  }

  // The next item of the present answer of which nothing is said, from where the person is and round; none: null.
  nextUnsaid() {
    const all = this.asked(this.present);
    const after = all.indexOf(this.item) + 1;
    const left = new Set(this.unsaid(this.present));
    return [...all.slice(after), ...all.slice(0, after)].find((item) => left.has(item)) ?? null;
  }

  toDo(sheet) {
    return sheet.said ? this.unsaid(sheet).length : sheet.toDo;
  }

  button(act) {
    return document.querySelector(`.keys-bar [data-act="${act}"]`);
  }

  // ---- what changes do ----
  effects = {
    label({ said }, { item, label }) {
      assay.put(said.labels, item, label);
      delete said.cannot[item];
    },
    cannot({ said }, { item, reason }) {
      assay.put(said.cannot, item, reason);
      delete said.labels[item];
    },
    flag: ({ said }, { item, note }) => assay.put(said.flags, item, note),
    later: (sheet, { to }) => (sheet.putOff = to),
  };

  // What stands of an item, as far as an action changes it.
  standing(sheet, action, item) {
    if (action === "later") return { to: sheet.putOff };
    const { labels, cannot, flags } = sheet.said;
    if (action === "flag") return { note: flags[item] || "" };
    return { label: labels[item] || "", reason: cannot[item] || "" };
  }

  inWords({ label, reason, note }) {
    if (note !== undefined) return note ? `flag: ${note}` : "no flag";
    return label || (reason ? `can't be judged: ${reason}` : "nothing");
  }

  // The write that puts back what stood before an action: its own action, and its fields.
  reversal(action, before) {
    if (action === "later") return ["later", { to: before.to }];
    if (action === "flag") return ["flag", { note: before.note }];
    return before.reason ? ["cannot", { reason: before.reason }] : ["label", { label: before.label }];
  }

  // ---- what was refused ----
  refusedOf(name) {
    return `assay.refused.${this.subject}.${name}`;
  }

  makeRefused() {
    return new assay.Refused({
      name: this.refusedOf(this.tab.name),
      notices: document.getElementById("notices"),
      inWords: ({ about }) => {
        const which = `Answer ${about.number}`;
        if (about.action === "later") return `${which}: later`;
        return `${which}, “${about.text}”: ${this.inWords(about)}`;
      },
      there: ({ about }) => about.there || "",
      // A label is about the texts as they were when it was given.
      canRedo: ({ thread, about }) => !this.closed && about.edition === this.edition && this.sheets.has(thread),
      again: (changes) => {
        for (const { url, fields, thread, about } of changes) {
          const sheet = this.sheets.get(thread);
          if (sheet?.said) this.effects[about.action](sheet, about);
          this.outbox.add({ url, fields, thread, about });
        }
        this.draw();
      },
      onChange: () => this.state.show(),
    });
  }

  // ---- saving ----
  makeOutbox() {
    return new assay.Outbox({
      subject: this.subject,
      tab: this.tab,
      versions: Object.fromEntries([...this.sheets.values()].map(({ id, version }) => [id, version])),
      onAnswer: (change, response, text) => this.answered(change, text),
      onRefused: (changes, response, text) => this.turnedDown(changes, response.status, text),
      onState: (...told) => this.state.set(...told),
    });
  }

  answered(change, text) {
    if (change.about.action === "signOff") return window.location.assign(this.main.dataset.home);
    const told = JSON.parse(text);
    this.outbox.versions[change.thread] = told.version;
    const sheet = this.sheets.get(change.thread);
    if (sheet && !sheet.said) sheet.toDo = told.to_do;
    return told;
  }

  turnedDown(changes, status, text) {
    const [change] = changes;
    const sheet = this.sheets.get(change.thread);
    if (change.about.action === "signOff") return this.signOffRefused(status, text);
    if (status !== 409) {
      // Nothing of it was done: what the server has is asked for anew.
      if (status === 404) this.sheets.delete(change.thread);
      this.forget(sheet);
      this.refused.add(changes, text, false);
      return;
    }
    const there = JSON.parse(text);
    if (there.closed) this.close(there.closed);
    this.outbox.versions[change.thread] = there.version;
    if (sheet?.said) Object.assign(sheet, { said: there.said, putOff: there.put_off });
    else if (sheet) Object.assign(sheet, { toDo: there.to_do, putOff: there.put_off });
    for (const { about } of changes) {
      const now = { said: there.said, putOff: there.put_off };
      if (about.action !== "later") about.there = this.inWords(this.standing(now, about.action, about.item));
    }
    this.changedElsewhere(there);
    this.draw();
    const lost = changes.filter(({ about }) => this.isKept(about));
    const why = this.closed ? "This came too late." : "This answer was changed elsewhere meanwhile.";
    if (lost.length) this.refused.add(lost, why, !this.closed);
  }

  // For a screen to add to: what else a 409 tells, and whether a refused change is of any worth to the person.
  changedElsewhere() {}

  isKept() {
    return true;
  }

  // A sign-off is about all that was seen, so after a refusal it is for the person to look and to do it anew.
  signOffRefused(status, text) {
    if (status !== 409) return this.state.tell(`Not signed off: ${text}`);
    const why = JSON.parse(text).closed;
    if (why) this.close(why);
    else this.stop("Something was changed elsewhere meanwhile, so the topic is not signed off.", ", look, then sign off again.");
  }

  change(sheet, action, item, fields, now) {
    const text = item && this.wordsOf(sheet, item);
    const about = { action, item, text, number: sheet.number, edition: this.edition, ...now };
    this.effects[action](sheet, about);
    const sent = item ? { [this.field]: item, ...fields } : fields;
    this.outbox.add({ url: `${this.base}answers/${sheet.id}/${action}/`, fields: sent, thread: sheet.id, about });
  }

  // Do something that can be undone.
  act(sheet, action, item, fields, now) {
    const before = this.standing(sheet, action, item);
    this.change(sheet, action, item, fields, now);
    this.done.push({ sheet: sheet.id, action, item, before, after: this.standing(sheet, action, item) });
    this.keepDone();
    this.draw();
  }

  // ---- undo: what this tab did, on the items as they are now ----
  get doneStore() {
    return `assay.done.${this.subject}.${this.edition}`;
  }

  readDone() {
    this.done = [];
    try {
      this.done = JSON.parse(sessionStorage.getItem(this.doneStore)) || [];
    } catch {
      // Then it begins anew with each load.
    }
  }

  keepDone() {
    this.done = this.done.slice(-this.KEPT);
    try {
      sessionStorage.setItem(this.doneStore, JSON.stringify(this.done));
    } catch {
      // As above.
    }
  }

  async undo() {
    if (this.closed) return this.state.tell(this.closed);
    const last = this.done[this.done.length - 1];
    const sheet = this.sheets.get(last?.sheet);
    if (!last) return this.state.tell("There is nothing to take back that this tab did.");
    if (sheet && !(await this.load(sheet))) return this.state.tell("Undo waits for the server: press the key again.");
    if (this.done[this.done.length - 1] !== last) return;
    this.done.pop();
    this.keepDone();
    const { action, item, before, after } = last;
    if (!sheet || !assay.same(this.standing(sheet, action, item), after)) {
      return this.state.tell("What was done last was changed since, so it is not taken back.");
    }
    // Taking back is a write like any other, of what stood before.
    const [back, fields] = this.reversal(action, before);
    this.change(sheet, back, item, fields, before);
    this.tookBack(sheet, item, before);
    this.open(sheet, item);
  }

  // For a screen to add to: what is back besides.
  tookBack() {}

  // ---- the answers ----

  // Take an answer as the server has it; what waits to be sent was said after that.
  take(fresh) {
    const sheet = this.sheets.get(fresh.dataset.sheet);
    const article = document.importNode(fresh, true);
    this.drop(sheet);
    const [said, toDecide, under] = ["said", "toDecide", "under"].map((name) => JSON.parse(fresh.dataset[name]));
    Object.assign(sheet, { article, said, toDecide, under });
    this.taken(sheet, article);
    const waiting = this.outbox.of(sheet.id);
    for (const { about } of waiting) this.effects[about.action](sheet, about);
    if (!waiting.length) this.outbox.versions[sheet.id] = Number(fresh.dataset.version);
    article.hidden = true;
    this.holder.append(article);
  }

  // What two people said of an item whose labels differ, for the third one who decides: the parts of a line.
  decided(sheet, item) {
    const labels = sheet.toDecide[item];
    return labels && [assay.chip("to decide"), ` one person says ${labels[0]}, another one ${labels[1]}`];
  }

  // By which guidelines something was said that can only be read now: the parts of a line.
  saidUnder(sheet, item) {
    return item in sheet.under && [`by guidelines v${sheet.under[item]}`];
  }

  // For a screen to add to: what else comes with an answer, and goes with it.
  taken() {}

  drop(sheet) {
    sheet.article?.remove();
  }

  forget(sheet) {
    if (!sheet) return;
    this.drop(sheet);
    Object.assign(sheet, { article: null, said: null });
    if (this.present === sheet) this.present = null;
    if (this.wanted === sheet) this.open(this.sheets.get(sheet.id) || this.first());
    else this.draw();
  }

  // The first answer that is to be done, else the first of all.
  first() {
    return this.inOrder().find((sheet) => this.toDo(sheet)) || this.inOrder()[0] || null;
  }

  // Have an answer in the page; return whether it is.
  async load(sheet) {
    if (sheet.said) return true;
    sheet.loading = sheet.loading || this.fetchAnswer(sheet).finally(() => (sheet.loading = null));
    return sheet.loading;
  }

  async fetchAnswer(sheet) {
    try {
      const response = await fetch(`${this.base}answers/${sheet.id}/`, { headers: { "X-Assay-Write": "1" } });
      if (response.status === 404) {
        this.sheets.delete(sheet.id);
        this.forget(sheet);
        // The others may be there; once none is, the work itself is gone.
        this.state.read(this.sheets.size ? 200 : 404);
        return false;
      }
      this.state.read(response.status);
      if (!response.ok) return false;
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      const fresh = page.querySelector(".answer");
      // Read before something was saved that has been answered since.
      if (Number(fresh.dataset.version) < this.outbox.versions[sheet.id]) return this.fetchAnswer(sheet);
      this.take(fresh);
      return true;
    } catch {
      this.state.read(0);
      return false;
    }
  }

  // Fetch those that come next; one that is gone is passed over. Without a connection that is tried again now and then.
  async lookAhead() {
    const next = this.afterPresent().filter((sheet) => this.toDo(sheet));
    for (const sheet of next.slice(0, this.AHEAD)) {
      if (!(await this.load(sheet)) && this.sheets.has(sheet.id)) return;
    }
  }

  // The others in their order, those that come after the present one first.
  afterPresent() {
    const all = this.inOrder();
    const here = all.indexOf(this.wanted);
    return [...all.slice(here + 1), ...all.slice(0, Math.max(here, 0))];
  }

  // Go to an answer, and there to an item.
  async open(sheet, item = null) {
    this.wanted = sheet;
    if (!sheet) return this.draw();
    if (!sheet.said) {
      this.present = null;
      this.draw();
      for (let wait = 1000; !(await this.load(sheet)); wait = Math.min(wait * 2, 15000)) {
        await new Promise((passed) => setTimeout(passed, wait));
        if (this.wanted !== sheet || !this.sheets.has(sheet.id)) return;
      }
      if (this.wanted !== sheet) return;
    }
    const isNew = this.present !== sheet;
    if (isNew) {
      this.present = sheet;
      this.since = assay.active;
      document.getSelection().removeAllRanges();
    }
    this.draw();
    this.arrive(sheet, item, isNew);
    this.lookAhead();
  }

  // What has one place on every screen: which answer is shown, how much is done, what can be pressed.
  drawFrame({ done, total, words }) {
    for (const { article } of this.sheets.values()) if (article) article.hidden = article !== this.present?.article;
    document.getElementById("coming").hidden = Boolean(this.present) || !this.sheets.size;
    const meter = document.getElementById("meter");
    meter.max = total;
    meter.value = done;
    document.getElementById("progress").textContent = words;
    const isOver = done === total && !this.closed;
    this.button("next").classList.toggle("go", !isOver);
    this.button("signOff").hidden = !isOver;
    this.button("undo").disabled = Boolean(this.closed) || !this.done.length;
  }

  // ---- what a person does ----
  spent() {
    const seconds = assay.active - this.since;
    this.since = assay.active;
    return seconds;
  }

  // After an item was decided. changed: in words, what a label stands in the place of.
  advance(changed = "") {
    const next = this.nextUnsaid();
    if (next) this.pick(next);
    else this.focus();
    const done = next ? "" : `Answer ${this.present.number} is done: ${assay.keyNames("enter")[0]} goes on.`;
    if (changed || done) this.state.tell([changed, done].filter(Boolean).join(" "));
  }

  // What to say where a label comes into the place of another.
  changed(item, label) {
    const before = this.present.said.labels[item];
    return before && before !== label ? `Changed from ${before} to ${label}.` : "";
  }

  // From a decided item to what is to be decided next; an undecided one is left by other keys.
  goOn() {
    const { present, item, state } = this;
    if (!present) return;
    if (this.unsaid(present).includes(item)) return state.tell(assay.howToLabel());
    const all = this.asked(present);
    const next = this.nextUnsaid();
    if (next) {
      this.pick(next);
      return state.tell(`On to ${this.field} ${all.indexOf(next) + 1} of ${all.length}.`);
    }
    const answer = this.afterPresent().find((sheet) => this.toDo(sheet));
    if (answer) {
      this.open(answer);
      return state.tell(`On to answer ${answer.number} of ${this.sheets.size}.`);
    }
    const signOff = this.button("signOff");
    if (signOff.hidden) return state.tell("All is labelled. You can sign off once all is saved.");
    signOff.focus();
    state.tell("All is labelled. On to Sign off; you can still look through it all.");
  }

  // What the organizer replied about an item of an answer.
  repliesOn(sheet, item) {
    return this.replies[sheet.id]?.[item] || [];
  }

  // Ask in a dialog for words on an item of the present answer. column: where they stand.
  ask(dialog, field, column, item) {
    this.about = { sheet: this.present, item };
    dialog.querySelector(".about").textContent = this.wordsOf(this.present, item);
    field.value = this.present.said[column][item] || "";
    dialog.showModal();
  }

  // Have what was typed into a dialog handed on when it is confirmed; where it can't be said any more it is kept among
  // what was refused. toldBy(text) is what it says of the item; leave() is for when it is not meant.
  onConfirmed(dialog, field, { toldBy, take, leave }) {
    dialog.addEventListener("close", () => {
      const text = field.value.trim().replace(/\s+/g, " ");
      const isMeant = dialog.returnValue === "yes";
      dialog.returnValue = "";
      if (!isMeant) return leave();
      const { sheet, item } = this.about;
      const told = toldBy(text);
      if (!this.closed && sheet.said && this.asked(sheet).includes(item)) return take(sheet, item, text, told);
      const of = { action: dialog.id, item, text: this.wordsOf(sheet, item), number: sheet.number, edition: this.edition };
      this.refused.add([{ about: { ...of, ...told } }], this.closed || "This is not there any more to be judged.", false);
    });
  }

  // Put the present answer off; return the one that comes then, if any.
  later() {
    const next = this.afterPresent().find((sheet) => this.toDo(sheet));
    if (!this.toDo(this.present)) return this.state.tell("All of this answer is said: there is nothing to put off.");
    if (!next) return this.state.tell("This is the last answer that is to be done.");
    const to = Math.max(...[...this.sheets.values()].map(({ putOff }) => putOff)) + 1;
    const { number } = this.present;
    this.act(this.present, "later", null, {}, { to });
    this.open(next);
    this.state.tell(`Answer ${number} comes again at the end.`);
  }

  askForTheEnd(dialog) {
    if (this.outbox.changes.length) return this.state.tell("Signing off waits until all is saved.");
    dialog.showModal();
  }

  signOff() {
    // What was seen is all that is known of the answers.
    this.outbox.versions.signOff = [...this.sheets.keys()].reduce((sum, id) => sum + this.outbox.versions[id], 0);
    const about = { action: "signOff", edition: this.edition };
    this.outbox.add({ url: `${this.base}sign-off/`, fields: {}, thread: "signOff", about });
  }

  // ---- when nothing can be said any more ----
  close(why, ...more) {
    this.closed = why;
    const notice = document.getElementById("closed");
    notice.replaceChildren(why, ...more);
    notice.hidden = !why;
    this.draw();
  }

  // Have the person load the page anew before anything else: why, and what to do then.
  stop(why, then) {
    const again = document.createElement("a");
    again.href = this.base;
    again.textContent = "Load the page again";
    this.close(why, " ", again, then);
  }

  // ---- the start ----
  start(item = null) {
    const { dialogs } = this;
    dialogs.ending.addEventListener("close", () => {
      const isMeant = dialogs.ending.returnValue === "yes";
      dialogs.ending.returnValue = "";
      if (isMeant) this.signOff();
    });
    this.close(this.closed);
    for (const article of [...this.holder.querySelectorAll(".answer")]) {
      article.remove();
      this.take(article);
    }
    for (const name of assay.storage.names(this.refusedOf(""))) {
      const owner = name.slice(this.refusedOf("").length);
      if (owner === this.tab.name || this.tab.isOpen(owner)) continue;
      this.refused.take(assay.storage.get(name) || []);
      assay.storage.remove(name);
    }
    this.refused.draw("From an earlier visit:");
    this.main.dataset.ready = "1";
    this.state.show();
    const wanted = new URLSearchParams(window.location.search).get("answer");
    this.open(this.sheets.get(wanted) || this.first(), item);
    setInterval(() => this.lookAhead(), 15000);
    this.outbox.send();
  }
};

// Let a value stand under a key, or nothing.
assay.put = (column, key, value) => {
  if (value?.length) column[key] = value;
  else delete column[key];
};

assay.same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

assay.chip = (text) => {
  const made = document.createElement("span");
  made.className = "chip warn";
  made.textContent = text;
  return made;
};
