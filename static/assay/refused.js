// Changes that the server refused: kept in the browser, shown with what is there now, and a way to keep either.
"use strict";

window.assay = window.assay || {};

assay.Refused = class {
  // name: of the store; inWords(change) says what a change was; there(change) what stands in its place now, or "";
  // again(changes) does them once more, on the list as it is now; onChange() is told when there are more or fewer.
  constructor({ name, notices, inWords, there, again, onChange }) {
    Object.assign(this, { name, notices, inWords, there, again, onChange });
  }

  get changes() {
    return assay.storage.get(this.name) || [];
  }

  keep(changes) {
    if (changes.length) assay.storage.set(this.name, this.changes.concat(changes));
  }

  add(changes, why, canRedo) {
    this.keep(changes);
    this.draw(why, canRedo);
  }

  draw(why, canRedo) {
    document.getElementById("refused")?.remove();
    if (!this.changes.length) return;
    const box = document.createElement("div");
    box.id = "refused";
    box.className = "message error";
    box.setAttribute("role", "alert");
    const said = document.createElement("p");
    said.textContent = `${why} Not saved:`;
    const items = document.createElement("ul");
    for (const change of this.changes) items.append(this.item(change, canRedo));
    const buttons = document.createElement("p");
    if (canRedo) buttons.append(this.button("Keep mine: do it on the list as it is now", box, this.again), " ");
    buttons.append(this.button(canRedo ? "Keep what is there" : "Understood", box, () => {}));
    box.append(said, buttons, items);
    this.notices.append(box);
    this.onChange();
  }

  item(change, canRedo) {
    const item = document.createElement("li");
    item.textContent = this.inWords(change, canRedo);
    const there = this.there(change);
    if (there) {
      const now = document.createElement("p");
      now.textContent = `It now says: ${there}`;
      item.append(now);
    }
    return item;
  }

  button(label, box, action) {
    const element = document.createElement("button");
    element.type = "button";
    element.textContent = label;
    element.addEventListener("click", () => {
      const changes = this.changes;
      assay.storage.remove(this.name);
      box.remove();
      action(changes);
      this.onChange();
    });
    return element;
  }
};
