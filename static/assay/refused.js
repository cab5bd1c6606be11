// Changes that the server refused: kept in the browser, shown with what is there now, and a way to keep either.
"use strict";

window.assay = window.assay || {};

assay.Refused = class {
  // name: of the store; inWords(change) says what a change was; there(change) what stands in its place now, or "";
  // again(changes) does them once more, on the list as it is now; onChange() is told when there are more or fewer.
  // Whether a change can be done once more is decided when it is refused and kept with it: another refusal says nothing
  // of it. canRedo(change) says whether it still can be, on the page as it is now.
  constructor({ name, notices, inWords, there, again, onChange, canRedo = () => true }) {
    Object.assign(this, { name, notices, inWords, there, again, onChange, canRedo });
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

  draw(why) {
    document.getElementById("refused")?.remove();
    if (!this.changes.length) return;
    const box = document.createElement("div");
    box.id = "refused";
    box.className = "message error";
    box.setAttribute("role", "alert");
    const said = document.createElement("p");
    said.textContent = `${why} Not saved:`;
    const items = document.createElement("ul");
    for (const change of this.changes) items.append(this.item(change));
    const buttons = document.createElement("p");
    const canAny = this.changes.some((change) => this.isRedoable(change));
    if (canAny) buttons.append(this.button("Keep mine: do it on the list as it is now", () => this.redo()), " ");
    buttons.append(this.button(canAny ? "Keep what is there" : "Understood", () => this.leave([])));
    box.append(said, buttons, items);
    this.notices.append(box);
    this.onChange();
  }

  item(change) {
    const item = document.createElement("li");
    item.textContent = this.inWords(change, this.isRedoable(change));
    const there = this.there(change);
    if (there) {
      const now = document.createElement("p");
      now.textContent = `It now says: ${there}`;
      item.append(now);
    }
    return item;
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
    this.draw("This can't be done on the list as it is now.");
  }

  button(label, action) {
    const element = document.createElement("button");
    element.type = "button";
    element.textContent = label;
    element.addEventListener("click", () => {
      action();
      this.onChange();
    });
    return element;
  }
};
