// Changes that the server refused: kept in the browser, shown with what is there now, and a way to keep either.
assay.Refused = class {
  // subject, tab: as of a shelf; inWords(change) says what a change was; there(change) what stands in its place now, or
  // ""; again(changes) does them once more, on the list as it is now; onChange() is told when there are more or fewer.
  // Whether a change can be done once more is decided when it is refused and kept with it: another refusal says nothing
  // of it. canRedo(change) says whether it still can be, on the page as it is now.
  constructor({ subject, tab, ...rest }) {
    Object.assign(this, rest, { shelf: new assay.Shelf("refused", subject, tab) });
  }

  get changes() {
    return this.shelf.changes;
  }

  isRedoable(change) {
    return change.redoable && this.canRedo(change);
  }

  keep(changes, redoable) {
    this.shelf.changes = [...this.changes, ...changes.map((change) => ({ ...change, redoable }))];
  }

  add(changes, why, redoable) {
    this.keep(changes, redoable);
    this.draw(why);
  }

  // Take what is left on other shelves; of what only looked at something, nothing is to be told.
  take(kinds, redoable, subject) {
    const isTold = ({ about }) => !["show", "signOff"].includes(about.action);
    return this.shelf.claim(kinds, subject, (left) => left.filter(isTold).map((one) => ({ ...one, redoable })));
  }

  // Show what an earlier visit left, and why it is not saved. What it left when another database stood behind this
  // address was about something else: that is shown as not sent, and never sent.
  claim(why = assay.say("from-earlier")) {
    this.shelf.claim();
    const [installation, ...of] = this.shelf.subject.split(".");
    const isOfOther = this.take("outbox|refused|draft", false, `(?!${installation})[^.]+\\.${of.join("\\.")}`);
    this.draw(isOfOther ? assay.say("other-database") : why);
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
    mine.addEventListener("click", () => this.redo());
    theirs.addEventListener("click", () => this.leave([]));
    document.getElementById("notices").append(box);
    this.onChange();
  }

  item(change) {
    const there = this.there(change);
    const now = there ? [assay.element("p", {}, assay.say("now-says", { there }))] : [];
    return assay.element("li", {}, this.describe(change), ...now);
  }

  // What a change was; as it is kept, where another version of the page kept it in its own way.
  describe(change) {
    try {
      return this.inWords(change, this.isRedoable(change));
    } catch {
      return JSON.stringify(change.about);
    }
  }

  // Do what can be done once more, before it is kept here no longer; the others stay listed.
  redo() {
    const { changes } = this;
    const others = changes.filter((change) => !this.isRedoable(change));
    this.again(changes.filter((change) => this.isRedoable(change)));
    this.leave(others);
  }

  leave(changes) {
    this.shelf.changes = changes;
    this.draw(assay.say("not-on-this-list"));
    this.onChange();
  }
};
