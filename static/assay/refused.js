// Changes that the server refused: kept in the browser, shown with what is there now, and a way to keep either.
"use strict";

assay.Refused = class {
  // subject, tab: as of the outbox; inWords(change) says what a change was; there(change) what stands in its place now,
  // or ""; again(changes) does them once more, on the list as it is now; onChange() is told when there are more or fewer.
  // Whether a change can be done once more is decided when it is refused and kept with it: another refusal says nothing
  // of it. canRedo(change) says whether it still can be, on the page as it is now.
  constructor({ subject, tab, inWords, there, again, onChange, canRedo = () => true }) {
    Object.assign(this, { subject, tab, inWords, there, again, onChange, canRedo });
    this.name = `assay.refused.${subject}.${tab.name}`;
  }

  get changes() {
    return assay.storage.get(this.name) || [];
  }

  // Whether a change can be done once more. One that an older page kept does not say so.
  isRedoable(change) {
    return change.redoable === true && this.canRedo(change);
  }

  keep(changes, redoable) {
    this.take(changes.map((change) => ({ ...change, redoable })));
  }

  // Keep what another tab or an earlier visit had kept, as it is.
  take(kept) {
    if (kept.length) assay.storage.set(this.name, this.changes.concat(kept));
  }

  add(changes, why, redoable) {
    this.keep(changes, redoable);
    this.draw(why);
  }

  // Show what an earlier visit left, and why it is not saved. What it left when another database stood behind this
  // address was about something else: that is shown as not sent, and never sent.
  claim(why = assay.say("from-earlier")) {
    const { subject, tab } = this;
    assay.claim(tab, `assay.refused.${subject}.`, (changes) => this.take(changes));
    this.draw(why);
    const [installation, ...of] = subject.split(".");
    const there = `(outbox|refused|draft)\\.(?!${installation})(?:[0-9a-f-]{36}\\.)?${of.join("\\.")}\\.`;
    for (const name of assay.storage.names("assay.")) {
      const [prefix, kind] = new RegExp(`^assay\\.${there}`).exec(name) || [];
      if (!prefix) continue;
      const asChanges = (left) => {
        if (kind === "draft") return [{ about: { action: "typed", text: left.text } }];
        return left.filter(({ about }) => !["show", "signOff"].includes(about.action));
      };
      assay.claim(tab, prefix, (left) => this.add(asChanges(left), assay.say("other-database"), false));
    }
  }

  draw(why) {
    document.getElementById("refused")?.remove();
    if (!this.changes.length) return;
    const box = document.getElementById("new-refused").content.firstElementChild.cloneNode(true);
    const [mine, theirs] = box.querySelectorAll("button");
    box.querySelector("p").prepend(`${why} `);
    box.append(assay.element("ul", {}, ...this.changes.map((change) => this.item(change))));
    if (!this.changes.some((change) => this.isRedoable(change))) {
      mine.remove();
      theirs.textContent = assay.say("understood");
    }
    box.addEventListener("click", ({ target }) => {
      if (target === mine) this.redo();
      else if (target === theirs) this.leave([]);
      else return;
      this.onChange();
    });
    document.getElementById("notices").append(box);
    this.onChange();
  }

  item(change) {
    const { action, text } = change.about;
    const said = action === "typed" ? assay.say("typed", { text }) : this.inWords(change, this.isRedoable(change));
    const there = this.there(change);
    const now = there ? [assay.element("p", {}, assay.say("now-says", { there }))] : [];
    return assay.element("li", {}, said, ...now);
  }

  // Do what can be done once more; the others stay listed.
  redo() {
    const { changes } = this; // read once: what is read again is not the same objects
    const redoable = changes.filter((change) => this.isRedoable(change));
    this.leave(changes.filter((change) => !redoable.includes(change)));
    this.again(redoable);
  }

  leave(changes) {
    assay.storage.remove(this.name);
    this.take(changes);
    this.draw(assay.say("not-on-this-list"));
  }
};
