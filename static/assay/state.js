// The state line: whether what a person did is saved, in words, always in sight; and short notices beside the keys.
"use strict";

window.assay = window.assay || {};

assay.StateLine = class {
  // decide: what to do about refused changes, in words; isRefused() says whether there are any.
  constructor({ decide, isRefused }) {
    Object.assign(this, { decide, isRefused });
    this.line = document.getElementById("saved");
    this.announced = document.getElementById("announced");
    this.hint = document.getElementById("hint");
    this.state = ["saved", 0]; // name, number of waiting changes, HTTP status
    this.unread = null; // the HTTP status by which the last question failed, 0 for no answer
    // A notice is about what was done last.
    for (const name of ["keydown", "click"]) document.addEventListener(name, () => (this.hint.textContent = ""), true);
  }

  set(name, waiting, status) {
    // A trouble stays shown until it is over, not only until the next try.
    if (name === "saving" && ["offline", "blocked"].includes(this.state[0])) return;
    this.state = [name, waiting, status];
    this.show();
  }

  // How the server answered a question that saves nothing: by an HTTP status, 0 for not at all.
  read(status) {
    this.unread = status >= 200 && status < 300 ? null : status;
    this.show();
  }

  show() {
    let [name, waiting, status] = this.isRefused() ? ["refused"] : this.state;
    if (name === "saved" && this.unread !== null) [name, status] = ["unread", this.unread];
    const where = assay.storage.works ? "browser" : "page: don't close it";
    const kept = `${waiting} change${waiting === 1 ? "" : "s"} kept in this ${where}`;
    const said = {
      saved: "Saved",
      saving: "Saving…",
      offline: `Not saved yet: the server does not answer. ${kept}, sent again by itself.`,
      blocked: `Not saved: ${assay.blockedBecause(status)} ${kept}.`,
      refused: `Not saved: ${this.decide}`,
      unread: [401, 403, 404, "csrf"].includes(status)
        ? `All is saved, but nothing more can be opened: ${assay.blockedBecause(status)}`
        : "All is saved, but the server does not answer: it is asked again by itself.",
    }[name];
    this.line.dataset.state = name;
    assay.writeState(this.line, said, ["blocked", "unread"].includes(name) ? status : null);
    // Only trouble and its end are read out: "Saving…" and "Saved" at every key would drown the work.
    if (["offline", "blocked", "refused", "unread"].includes(name)) this.announced.textContent = said;
    else if (name === "saved" && this.announced.textContent) this.announced.textContent = "Saved";
  }

  // Say something that has no place on screen of its own.
  tell(text) {
    this.announced.textContent = this.hint.textContent = text;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => (this.hint.textContent = ""), 6000);
  }
};
