// The 0-3 screen: one passage at a time, which is a sheet with one item. From a queue, passages come as they are drawn:
// once few are left the page asks which are at hand, and so it renews their leases.
const HEARTBEAT = 30000;
const FEW = 3; // passages to be judged, below which the page asks for more
const AWAY = 600000; // who has touched nothing for so long has left their passages to the queue

class Relevance extends assay.Workbench {
  ONE_EACH = true;
  GONE = [404, 410]; // who lost a passage to the queue has it no more

  constructor(tab) {
    super(tab);
    this.isDrawn = "drawn" in this.main.dataset;
    this.mustLook = false; // what is at hand is to be asked for, once all is saved
    this.know(document.getElementById("at-hand").dataset);
  }

  saving(...told) {
    super.saving(...told);
    if (told[0] === "saved" && this.mustLook) setTimeout(() => this.look()); // the outbox is still at it
  }

  asked({ id }) {
    return [id];
  }

  elementOf(sheet) {
    return sheet?.article;
  }

  // The addresses are those that they always were.
  write({ id: item }, action, _, { label, ...fields }) {
    if (label === "") return { url: `${this.base}undo/`, fields: { item } };
    const sent = { item, ...(label && { grade: label }), ...fields };
    return { url: `${this.base}${action === "show" ? "show" : "judge"}/`, fields: sent };
  }

  // How many of the topic others have judged, and how many there are.
  know({ others, total }) {
    this.counts = { others: Number(others), total: Number(total) };
  }

  left() {
    return this.inOrder().filter((sheet) => this.toDo(sheet));
  }

  answered(change, text) {
    const told = super.answered(change, text);
    if ("total" in told) this.know(told);
    const left = this.left().length;
    const lacksSome = this.isDrawn || this.counts.others + this.sheets.size < this.counts.total;
    this.mustLook ||= !left || (left < FEW && lacksSome);
    this.draw();
  }

  // What is at hand is looked at anew; where a grade of the model was refused, that is asked for once more then.
  turnedDown(changes, status, text) {
    super.turnedDown(changes, status, text);
    if (changes.some(({ about }) => about.action === "show")) setTimeout(() => this.look(), 1000);
    else this.mustLook = true;
  }

  progress() {
    const { others, total } = this.counts;
    return { done: others + this.sheets.size - this.left().length, total };
  }

  draw() {
    super.draw();
    document.getElementById("rest").hidden = Boolean(this.wanted);
  }

  pick(item) {
    this.main.firstElementChild.scrollTop = 0;
    super.pick(item);
  }

  first() {
    return this.left()[0] || null;
  }

  async open(sheet, item) {
    const hadOne = this.present;
    await super.open(sheet, item);
    if (!sheet && hadOne) document.getElementById("rest").focus({ preventScroll: true });
  }

  atEnd() {
    if (this.present) this.open(null);
    document.querySelector("#rest a")?.focus();
    this.state.tell(assay.say("none-left"));
  }

  // Renew the leases, and have what is at hand now. What comes to nothing is tried again by the heartbeat.
  async look() {
    this.mustLook = true;
    if (this.outbox.changes.length || this.closed) return;
    const before = { ...this.outbox.versions };
    const request = assay.post(`${this.base}draw/`, {}, { signal: AbortSignal.timeout(30000) });
    const { status, part: fresh } = await this.ask(request, "#at-hand");
    this.state.read(status);
    // What was said meanwhile has an answer of its own, which is newer.
    if (!fresh || this.outbox.changes.length || !assay.same(this.outbox.versions, before)) return;
    this.mustLook = false;
    this.have(fresh);
  }

  // Have the passages that are at hand. The present one stays, whatever the server puts ahead of it; where it is gone,
  // the next keys are not meant for the one in its place.
  have(fresh) {
    const rows = JSON.parse(fresh.dataset.queue);
    const there = new Set(rows.map(([key]) => String(key)));
    for (const row of rows) {
      const sheet = this.sheets.get(String(row[0])) || this.add(row);
      const { version } = this.fromQueue(row);
      if (this.outbox.versions[sheet.id] >= version) continue;
      // New here, or judged in another tab.
      Object.assign(sheet, this.fromQueue(row));
      this.outbox.versions[sheet.id] = version;
      if (sheet.said) this.forget(sheet);
    }
    for (const article of fresh.querySelectorAll(".answer")) {
      const sheet = this.sheets.get(article.dataset.sheet);
      if (sheet && !sheet.said) this.take(article);
    }
    this.know(fresh.dataset);
    const rest = document.getElementById("rest");
    const now = fresh.querySelector("#rest");
    if (rest.innerHTML !== now.innerHTML) rest.replaceChildren(...now.childNodes);
    for (const sheet of this.inOrder().filter(({ id }) => !there.has(id))) {
      const isHere = sheet === this.wanted;
      this.sheets.delete(sheet.id);
      this.forget(sheet);
      if (isHere) this.state.tell(assay.say(this.wanted ? "lost-to-other" : "lost"));
    }
    if (!this.wanted) return this.open(this.first());
    this.draw();
    this.reveal();
  }

  start() {
    super.start();
    setInterval(() => {
      const { done, total } = this.progress();
      const isDue = this.mustLook || (done < total && (this.isDrawn || !this.wanted));
      if (Date.now() - assay.lastInput < AWAY && isDue) this.look();
    }, HEARTBEAT);
    window.addEventListener("online", () => this.mustLook && this.look());
  }
}

new Relevance(await assay.tab()).start();
