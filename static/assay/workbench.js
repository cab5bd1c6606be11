// The labelling screen, whatever is labelled: an item of a sheet gets a value from a short list. What a person says
// shows at once and goes into the outbox; each sheet is a thread of its own there. Sheets come with the page or are
// fetched before the person gets to them, and stay in it. The sentences are the page's.
//
// A screen extends this. It has to know asked(sheet), the items of a sheet that is in the page, in their order; and
// elementOf(sheet, item), where an item is on screen.
assay.Workbench = class {
  AHEAD = 4; // sheets to be done that are there before the person gets to them
  KEPT = 500; // acts that can be undone
  ONE_EACH = false; // whether a sheet has one item: then the next one comes by itself
  STAYS = false; // whether going from item to item ends with the sheet: to others by keys of their own
  GONE = [404]; // the statuses of answers by which a sheet is not the person's any more

  constructor(tab) {
    this.main = document.getElementById("main");
    // kind: of work, as the stores call it; field: what a write calls an item.
    const { base, person, installation, kind, field, task, edition = "" } = this.main.dataset;
    Object.assign(this, { tab, field, base, edition, subject: `${installation}.${person}.${kind}.${task}` });
    this.holder = document.getElementById("answers");
    this.choices = [...document.querySelectorAll("[data-choice]")];
    this.shown = [...document.querySelectorAll("[data-shown]")]; // the model's labels; from scratch there is no such place
    // A person's sheets by key. said: what stands there, once the sheet is in the page.
    this.sheets = new Map();
    for (const row of JSON.parse(this.main.dataset.queue)) this.add(row);
    this.replies = JSON.parse(this.main.dataset.replies); // of the organizer, by sheet and item
    this.closed = this.main.dataset.closed || ""; // why nothing can be said
    this.wanted = null; // the sheet that the person is at
    this.present = null; // the same, once it is here
    this.item = null; // the one that keys are about
    this.since = 0; // active seconds when the sheet came or the label before was given
    this.heldUntil = 0; // no label counts before: the sheet was changed under the person's hands
    this.state = new assay.StateLine({ isRefused: () => this.refused.changes.length > 0 });
    this.refused = this.makeRefused();
    this.outbox = this.makeOutbox();
    this.doneStore = `assay.done.${this.subject}.${this.edition}`;
    this.done = assay.session.get(this.doneStore) || [];
  }

  // total: its items; equal: how many lack a label that come with an equal one elsewhere, so they are not asked here.
  fromQueue([key, number, toDo, version, putOff, total = 1, equal = 0]) {
    return { id: String(key), number, toDo: toDo - equal, version, putOff, total, equal };
  }

  add(row) {
    const sheet = { said: null, article: null, ...this.fromQueue(row) };
    this.sheets.set(sheet.id, sheet);
    return sheet;
  }

  inOrder() {
    return [...this.sheets.values()].sort((a, b) => a.putOff - b.putOff || a.number - b.number);
  }

  unsaid(sheet) {
    return this.asked(sheet).filter((item) => !(item in sheet.said.labels || item in sheet.said.cannot));
  }

  // The next item of the present sheet of which nothing is said, from where the person is and round; none: null.
  nextUnsaid() {
    const all = this.asked(this.present);
    const left = this.unsaid(this.present);
    return left.find((item) => all.indexOf(item) > all.indexOf(this.item)) ?? left[0] ?? null;
  }

  toDo(sheet) {
    return sheet.said ? this.unsaid(sheet).length : sheet.toDo;
  }

  // ---- what a person can say of an item: the columns of what is said that it sets, and the fields that tell it ----
  actions = {
    label: { columns: ["labels", "cannot"], fields: ({ labels }) => ({ label: labels }) },
    cannot: { columns: ["labels", "cannot"], fields: ({ cannot }) => ({ reason: cannot }) },
    flag: { columns: ["flags"], fields: ({ flags }) => ({ note: flags }) },
    later: { columns: ["putOff"], fields: () => ({}) },
    show: { columns: [], fields: () => ({}) },
  };

  // What stands in the columns that an action sets; a sheet's place in the queue is the sheet's own.
  standing({ said, putOff }, action, item) {
    const of = (column) => (column === "putOff" ? putOff : said[column][item] || "");
    return Object.fromEntries(this.actions[action].columns.map((column) => [column, of(column)]));
  }

  effect(sheet, { item, now }) {
    for (const [column, value] of Object.entries(now)) {
      if (column === "putOff") sheet.putOff = value;
      else if (value.length) sheet.said[column][item] = value;
      else delete sheet.said[column][item];
    }
  }

  inWords({ labels, cannot, flags }) {
    if (flags !== undefined) return flags ? assay.say("flagged", { note: flags }) : assay.say("no-flag");
    return labels || (cannot ? assay.say("not-judged", { reason: cannot }) : assay.say("nothing"));
  }

  // ---- what was refused ----
  makeRefused() {
    return new assay.Refused({
      subject: this.subject,
      tab: this.tab,
      inWords: ({ about }) => {
        const isLater = about.action === "later";
        return assay.say(isLater ? "refused-later" : "refused-item", { ...about, said: this.inWords(about.now) });
      },
      there: ({ about }) => about.there || "",
      // A label is about the texts as they were when it was given.
      canRedo: ({ thread, about }) => !this.closed && about.edition === this.edition && this.sheets.has(thread),
      again: (changes) => {
        for (const { url, fields, thread, about } of changes) {
          const sheet = this.sheets.get(thread);
          if (sheet?.said) this.effect(sheet, about);
          this.outbox.add({ url, fields, thread, about });
        }
        this.draw();
      },
      onChange: () => this.state.show(),
    });
  }

  wordsOf(sheet, item) {
    return this.elementOf(sheet, item)?.querySelector("[data-words]").textContent.trim() || assay.say("gone-item");
  }

  // ---- saving ----
  makeOutbox() {
    return new assay.Outbox({
      subject: this.subject,
      tab: this.tab,
      versions: Object.fromEntries([...this.sheets.values()].map(({ id, version }) => [id, version])),
      onAnswer: (change, response, text) => this.answered(change, text),
      onRefused: (changes, response, text) => {
        if (!assay.isReplaced(response)) return this.turnedDown(changes, response.status, text);
        this.replaced();
        this.refused.add(changes.filter(isSaid), text, false);
      },
      onState: (...told) => this.saving(...told),
      // Nothing is left to be taken back where it was refused; and what can't be taken back any more stands.
      fallsWith: (later, change) =>
        isTakenBack(later) &&
        ["label", "cannot"].includes(change.about.action) &&
        later.thread === change.thread &&
        later.about.item === change.about.item,
      canLapse: isTakenBack,
    });
  }

  saving(...told) {
    this.state.set(...told);
    // What the server did not tell before, it may tell now; the outbox is still at it.
    if (told[0] === "saved" && this.state.unread !== null) setTimeout(() => this.lookAhead());
  }

  answered({ thread, about }, text) {
    if (about.action === "signOff") return window.location.assign(this.main.dataset.home);
    const told = JSON.parse(text);
    this.outbox.versions[thread] = told.version;
    const sheet = this.sheets.get(thread);
    if (sheet && !sheet.said) sheet.toDo = told.to_do;
    if (about.action === "show") {
      if (sheet?.said) sheet.said.shown[about.item] = told.shown;
      this.draw();
    }
    return told;
  }

  turnedDown(changes, status, text) {
    const [{ thread, about: first }] = changes;
    const sheet = this.sheets.get(thread);
    const lost = changes.filter(isSaid);
    if (first.action === "signOff") return this.signOffRefused(status, text);
    if (status !== 409) {
      // Nothing of it was done: what the server has is asked for anew.
      if (this.GONE.includes(status)) this.sheets.delete(thread);
      if (lost.length || [404, 410].includes(status)) this.forget(sheet);
      if (lost.length) this.refused.add(lost, status === 403 ? assay.say("not-taken-back") : text, false);
      else this.state.tell(text);
      return;
    }
    const there = JSON.parse(text);
    if (there.closed) this.close(there.closed);
    this.outbox.versions[thread] = there.version;
    if (sheet?.said) Object.assign(sheet, { said: there.said, putOff: there.put_off });
    else if (sheet) Object.assign(sheet, { toDo: there.to_do, putOff: there.put_off });
    for (const { about } of changes) {
      const now = { said: there.said, putOff: there.put_off };
      if (about.action !== "later") about.there = this.inWords(this.standing(now, about.action, about.item));
    }
    this.changedElsewhere(there);
    this.draw();
    const why = assay.say(this.closed ? "too-late" : "changed-elsewhere");
    if (lost.length) this.refused.add(lost, why, !this.closed);
  }

  // For a screen to add to: what else a 409 tells, what else comes with a sheet, and a click on what is no button.
  changedElsewhere() {}
  taken() {}
  clicked() {}

  // A sign-off is about all that was seen, so after a refusal it is for the person to look and to do it anew.
  signOffRefused(status, text) {
    if (status !== 409) return this.state.tell(assay.say("not-signed-off", { why: text }));
    const why = JSON.parse(text).closed;
    if (why) this.close(why);
    else this.stop(assay.say("sign-off-stale"), assay.say("then-sign-off"));
  }

  // For a screen to add to: what goes with all that is said of an item, since its key may become another one's.
  of() {
    return {};
  }

  write(sheet, action, item, fields) {
    const sent = item ? { [this.field]: item, ...this.of(sheet, item), ...fields } : fields;
    return { url: `${this.base}answers/${sheet.id}/${action}/`, fields: sent };
  }

  aboutItem(sheet, action, item, now) {
    const text = item && this.wordsOf(sheet, item);
    return { action, item, text, number: sheet.number, edition: this.edition, now };
  }

  change(sheet, action, item, now, more) {
    const about = this.aboutItem(sheet, action, item, now);
    const fields = { ...this.actions[action].fields(now), ...more };
    this.effect(sheet, about);
    this.outbox.add({ ...this.write(sheet, action, item, fields), thread: sheet.id, about });
  }

  act(sheet, action, item, now, more) {
    const before = this.standing(sheet, action, item);
    this.change(sheet, action, item, now, more);
    const after = this.standing(sheet, action, item);
    this.done.push({ sheet: sheet.id, action, item, of: this.of(sheet, item), before, after });
    this.keepDone();
    this.draw();
  }

  // What an action says of an item with one value: no more of what stood in its other columns.
  only(action, column, value) {
    return { ...Object.fromEntries(this.actions[action].columns.map((other) => [other, ""])), [column]: value };
  }

  // ---- undo: what this tab did, on the items as they are now ----
  keepDone() {
    this.done = this.done.slice(-this.KEPT);
    assay.session.set(this.doneStore, this.done);
  }

  async undo() {
    if (this.closed) return this.state.tell(this.closed);
    const last = this.done.at(-1);
    const sheet = this.sheets.get(last?.sheet);
    if (!last) return this.state.tell(assay.say("nothing-to-undo"));
    if (sheet && !(await this.load(sheet))) return this.state.tell(assay.say("undo-waits"));
    if (this.done.at(-1) !== last) return;
    this.done.pop();
    this.keepDone();
    const { action, item, of, before, after } = last;
    const there = sheet && [this.of(sheet, item), this.standing(sheet, action, item)];
    if (!assay.same(there, [of, after])) {
      this.draw();
      return this.state.tell(assay.say("changed-since"));
    }
    // Taking back is a write like any other, of what stood before.
    const labelled = before.cannot ? "cannot" : "label";
    const back = action === "later" && { to: before.putOff };
    this.change(sheet, "labels" in before ? labelled : action, item, before, back);
    this.open(sheet, item);
  }

  // ---- the sheets ----

  // Take a sheet as the server has it; what waits to be sent was said after that.
  take(article) {
    const sheet = this.sheets.get(article.dataset.sheet);
    this.drop(sheet);
    sheet.article = article;
    for (const name of ["said", "toDecide", "under"]) sheet[name] = JSON.parse(article.dataset[name] || "{}");
    this.taken(sheet, article);
    const waiting = this.outbox.of(sheet.id);
    for (const { about } of waiting) this.effect(sheet, about);
    if (!waiting.length) this.outbox.versions[sheet.id] = Number(article.dataset.version);
    article.hidden = true;
    this.holder.append(article);
  }

  drop(sheet) {
    sheet.article?.remove();
  }

  forget(sheet) {
    if (!sheet) return;
    this.drop(sheet);
    Object.assign(sheet, { article: null, said: null });
    if (this.present === sheet) this.present = null;
    if (this.wanted !== sheet) return this.draw();
    const isThere = this.sheets.has(sheet.id);
    // What is pressed next was meant for the one that was here.
    if (!isThere) this.heldUntil = Date.now() + 1000;
    this.open(isThere ? sheet : this.first());
  }

  first() {
    return this.inOrder().find((sheet) => this.toDo(sheet)) || this.inOrder()[0] || null;
  }

  async load(sheet) {
    if (sheet.said) return true;
    return (sheet.loading ||= this.fetchSheet(sheet).finally(() => (sheet.loading = null)));
  }

  async fetchSheet(sheet) {
    const { status, part: fresh } = await this.ask(assay.get(`${this.base}answers/${sheet.id}/`), ".answer");
    if (status === 404) {
      this.sheets.delete(sheet.id);
      this.forget(sheet);
      // The others may be there; once none is, the work itself is gone, unless more may come.
      this.state.read(this.sheets.size || this.ONE_EACH ? 200 : 404);
      return false;
    }
    this.state.read(status);
    // It may have gone meanwhile, or come by another way.
    if (!fresh || this.sheets.get(sheet.id) !== sheet || sheet.said) return Boolean(sheet.said);
    // Read before something was saved that has been answered since.
    if (Number(fresh.dataset.version) < this.outbox.versions[sheet.id]) return this.fetchSheet(sheet);
    this.take(fresh);
    return true;
  }

  // The part of a page that a request asks for, or null; and the status, 0 where something else answers, or nothing.
  async ask(request, selector) {
    try {
      const response = await request;
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      if (assay.isReplaced(response)) this.replaced();
      const part = response.ok ? page.querySelector(selector) : null;
      return { part, status: response.ok && !part ? 0 : assay.statusOf(response) };
    } catch {
      return { part: null, status: 0 };
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

  async open(sheet, item = null) {
    this.wanted = sheet;
    if (!sheet?.said) {
      this.present = null;
      this.draw();
      if (!sheet) return;
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

  // Go to an item of the present sheet: the one that is named, else the first of which nothing is said.
  arrive(sheet, item) {
    const all = this.asked(sheet);
    const named = { first: all[0], last: all.at(-1) }[item] || (all.includes(item) ? item : null);
    this.pick(named || this.unsaid(sheet)[0] || all[0] || null);
  }

  pick(item) {
    this.item = item;
    this.draw();
    if (!item) return;
    this.focus();
    this.reveal();
  }

  focus() {
    this.elementOf(this.present, this.item)?.focus({ preventScroll: true });
  }

  // ---- the model's label: that it is shown is recorded before it is ----
  get isReady() {
    return !this.shown.length || Boolean(this.present?.said.shown[this.item]);
  }

  // Have the model's label of the item on screen. What was on its way for another that has left it is not sent.
  reveal() {
    const { present, item, outbox } = this;
    if (this.closed || !present || !item || this.isReady) return;
    if (outbox.of(present.id).some(({ about }) => about.action === "show" && about.item === item)) return;
    this.forgetShows(1);
    this.change(present, "show", item, {});
  }

  forgetShows(from) {
    const { outbox } = this;
    outbox.changes = outbox.changes.filter(({ about }, at) => at < from || about.action !== "show");
    outbox.keep();
  }

  // ---- drawing ----

  // How much is done, and of how much: of sheets, where a screen says nothing else.
  progress() {
    const all = this.inOrder();
    return { done: all.filter((sheet) => !this.toDo(sheet)).length, total: all.length };
  }

  // What has one place on every screen: which sheet is shown, how much is done, what stands, what can be pressed.
  draw() {
    const { present, wanted, item, closed } = this;
    const progress = this.progress();
    const { done, total } = progress;
    for (const { article } of this.sheets.values()) if (article) article.hidden = article !== present?.article;
    document.getElementById("coming").hidden = Boolean(present) || !wanted;
    Object.assign(document.getElementById("meter"), { max: total, value: done });
    const words = assay.say(wanted ? "progress-at" : "progress", { ...progress, number: wanted?.number });
    document.getElementById("progress").textContent = words;
    const isOver = done === total && !closed;
    buttonOf("next").classList.toggle("go", !isOver);
    const signOff = buttonOf("signOff");
    if (signOff) signOff.hidden = !isOver;
    buttonOf("undo").disabled = Boolean(closed) || !this.done.length;
    for (const choice of this.choices) {
      choice.ariaPressed = String(present?.said.labels[this.itemAt(choice)] === choice.dataset.label);
    }
    for (const button of document.querySelectorAll("[data-needs]")) {
      button.disabled = !this.canSay || (button.dataset.needs === "model" && !this.isReady);
    }
    // Absent where each item has its own place for it.
    document.getElementById("told")?.replaceChildren(...(present && item ? this.toldOf(present, item) : []));
    for (const place of this.shown) {
      place.textContent = present?.said.shown[this.itemAt(place)] || "…";
      place.parentElement.hidden = !present;
    }
  }

  get canSay() {
    return Boolean(this.present && this.elementOf(this.present, this.item) && !this.closed);
  }

  itemAt() {
    return this.item;
  }

  // What stands of an item besides a label, as lines.
  toldOf(sheet, item) {
    const { said, toDecide, under } = sheet;
    const [first, second] = toDecide[item] || [];
    const replies = this.replies[sheet.id]?.[item] || [];
    return [
      first && this.line(assay.say("to-decide"), ` ${assay.say("two-labels", { first, second })}`),
      item in said.cannot && this.line(assay.say("cannot-chip"), ` ${said.cannot[item]}`),
      item in said.flags && this.line(assay.say("flag-chip"), ` ${said.flags[item]}`),
      ...replies.map((text) => this.line(assay.say("organizer-chip"), ` ${text}`)),
      item in under && this.line("", assay.say("by-guidelines", { version: under[item] })),
    ].filter(Boolean);
  }

  line(chip, ...parts) {
    const mark = chip ? [assay.element("span", { className: "chip warn" }, chip)] : [];
    return assay.element("p", { dir: "auto" }, ...mark, ...parts);
  }

  // ---- what a person does ----
  spent() {
    const seconds = assay.active - this.since;
    this.since = assay.active;
    return seconds;
  }

  label(choice) {
    const given = choice.dataset.label;
    const item = this.itemAt(choice);
    if (!this.canSay || Date.now() < this.heldUntil) return;
    if (item !== this.item) this.pick(item); // by mouse
    if (!this.isReady) return this.state.tell(assay.say("model-on-its-way"));
    const before = this.present.said.labels[item];
    if (before !== given) {
      this.act(this.present, "label", item, this.only("label", "labels", given), { seconds: this.spent() });
    }
    const [was, is] = [before, given].map((label) => label && this.called(item, label));
    this.advance(before && before !== given ? assay.say("changed", { before: was, given: is }) : "");
  }

  // What a label of an item is called, where a screen has other words for it.
  called(item, label) {
    return label;
  }

  // After an item was decided: to the next one of the sheet; where it was the last, Enter goes on.
  // changed: in words, what a label stands in the place of.
  advance(changed = "") {
    const { number } = this.present;
    const next = this.nextUnsaid();
    const done = next || this.ONE_EACH ? "" : assay.say("sheet-done", { number });
    if (next) this.pick(next);
    else if (this.ONE_EACH) this.open(this.afterPresent().find((sheet) => this.toDo(sheet)) || null);
    else this.focus();
    if (changed || done) this.state.tell([changed, done].filter(Boolean).join(" "));
  }

  // From a decided item to what is to be decided next; an undecided one is left by other keys.
  next() {
    const { present, item, state } = this;
    if (this.closed) return this.move(1);
    if (!present) return this.wanted ? undefined : this.atEnd();
    if (this.unsaid(present).includes(item)) return state.tell(assay.say("no-label-yet"));
    const all = this.asked(present);
    const next = this.nextUnsaid();
    if (next) {
      this.pick(next);
      return state.tell(assay.say("on-to-item", { number: all.indexOf(next) + 1, total: all.length }));
    }
    const sheet = this.afterPresent().find((other) => this.toDo(other));
    if (!sheet) return this.atEnd();
    this.open(sheet);
    state.tell(assay.say("on-to-sheet", { number: sheet.number, total: this.sheets.size }));
  }

  atEnd() {
    const signOff = buttonOf("signOff");
    if (!this.present) return;
    if (signOff.hidden) return this.state.tell(assay.say("all-labelled"));
    signOff.focus();
    this.state.tell(assay.say("on-to-sign-off"));
  }

  move(by) {
    if (this.wanted && !this.present) return;
    const all = this.present ? this.asked(this.present) : [];
    const next = all[all.indexOf(this.item) + by];
    if (next || this.STAYS) this.pick(next || this.item);
    else this.step(by, by > 0 ? "first" : "last");
  }

  step(by, item) {
    const all = this.inOrder();
    const next = this.wanted ? all[all.indexOf(this.wanted) + by] : all.at(by > 0 ? 0 : -1);
    if (next) this.open(next, item);
    else this.state.tell(assay.say(by > 0 ? "at-last" : "at-first"));
  }

  ASKED = { cannot: "cannot", flag: "flags" }; // the columns whose value a dialog asks for

  askAbout({ dataset: { action } }) {
    const { present, item } = this;
    if (!this.canSay) return this.state.tell(assay.say("choose-first"));
    const input = document.querySelector(`#${action} input`);
    input.value = present.said[this.ASKED[action]][item] || "";
    const confirm = () => this.confirmed(action, present, item, input.value.trim().replace(/\s+/g, " "));
    assay.ask(action, this.wordsOf(present, item), confirm, () => this.focus());
  }

  // What was typed into a dialog; where it can't be said any more it is kept among what was refused.
  confirmed(action, sheet, item, text) {
    const column = this.ASKED[action];
    const now = this.only(action, column, text);
    if (this.closed || !sheet.said || !this.asked(sheet).includes(item)) {
      const about = this.aboutItem(sheet, action, item, now);
      return this.refused.add([{ about }], this.closed || assay.say("not-there"), false);
    }
    const isDecided = action === "cannot" && text;
    const isNew = action === "flag" && text !== (sheet.said[column][item] || "");
    if (isDecided || isNew) this.act(sheet, action, item, now, isDecided && { seconds: this.spent() });
    if (isDecided && sheet === this.present && item === this.item) this.advance();
    else this.focus();
  }

  later() {
    const next = this.afterPresent().find((sheet) => this.toDo(sheet));
    if (!this.toDo(this.present)) return this.state.tell(assay.say("nothing-to-put-off"));
    if (!next) return this.state.tell(assay.say("last-to-do"));
    const to = Math.max(...[...this.sheets.values()].map(({ putOff }) => putOff)) + 1;
    const { number } = this.present;
    this.act(this.present, "later", null, { putOff: to });
    this.open(next);
    this.state.tell(assay.say("put-off", { number }));
  }

  signOff() {
    if (this.outbox.changes.length) return this.state.tell(assay.say("sign-off-waits"));
    assay.ask("ending", "", () => this.end());
  }

  end() {
    // What was seen is all that is known of the sheets.
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
    const again = assay.element("a", { href: this.base }, assay.say("load-again"));
    this.close(why, " ", again, then);
  }

  // The page is of another database than the one that answers now.
  replaced() {
    this.stop(assay.say("database-replaced"), ".");
  }

  start() {
    document.addEventListener("click", (event) => {
      const button = event.target.closest("[data-act]");
      const { act, by } = button?.dataset || {};
      const { sheet, item = null } = event.target.closest("a[data-sheet]")?.dataset || {};
      // A button names what it does; by: how far, of what moves.
      if (act) return this[act](by ? Number(by) : button);
      if (!this.sheets.has(sheet) || event.ctrlKey || event.metaKey) return this.clicked(event);
      event.preventDefault();
      event.target.closest("dialog")?.close();
      this.open(this.sheets.get(sheet), item);
    });
    this.forgetShows(0); // what was on screen when the page was left is not now
    this.close(this.closed);
    for (const article of this.holder.querySelectorAll(".answer")) this.take(article);
    this.refused.claim();
    this.main.dataset.ready = "1";
    this.state.show();
    const wanted = new URLSearchParams(window.location.search);
    this.open(this.sheets.get(wanted.get("answer")) || this.first(), wanted.get(this.field));
    setInterval(() => this.lookAhead(), 15000);
    this.outbox.send();
  }
};

const buttonOf = (act) => document.querySelector(`.keys-bar [data-act="${act}"]`);
const isSaid = ({ about }) => !["show", "signOff"].includes(about.action);
const isTakenBack = ({ about }) => about.action === "label" && !about.now.labels;
