// The outbox: what a person does is kept in the browser until the server has said that it is saved.
// Changes go out one after another. Each carries a key made here, so that sending it twice counts once, and the
// version it was made on, so that the server can refuse it when something else happened meanwhile. What has
// versions of its own is a thread; where all is one thread, it has no name.
assay.csrf = () => (document.cookie.match(/(?:^|; )csrftoken=([^;]+)/) || [])[1] || "";

// What a page asks for is of the database that the page is of, or refused.
const ofThisPage = () => ({
  "X-Assay-Write": "1",
  "X-Assay-Installation": document.getElementById("main").dataset.installation,
});

assay.get = (url) => fetch(url, { headers: ofThisPage() });

assay.post = (url, fields, options = {}) =>
  fetch(url, {
    method: "POST",
    body: new URLSearchParams(fields),
    headers: { "X-CSRFToken": assay.csrf(), ...ofThisPage() },
    redirect: "error",
    ...options,
  });

// Whether an answer says that the page is of another database.
assay.isReplaced = (response) => response.headers.has("X-Assay-Replaced");

// The HTTP status of an answer, or "csrf": the browser lost the cookie that writes are checked by.
assay.statusOf = (response) => (response.headers.get("X-Assay-CSRF") ? "csrf" : response.status);

assay.Outbox = class {
  // subject, tab: as of a shelf; versions: what the page shows, by thread. onAnswer(change, response, text, waiting)
  // gets each answer that settles a change (200, 422); onRefused(changes, response, text) keeps what was refused (400,
  // 404, 409, 410) before it leaves the outbox; onState(state, waiting, status) tells what to show: saved, saving,
  // offline or blocked. fallsWith(later, change) says whether a later change makes no sense without one that is refused
  // alone; canLapse(change) whether a change that is forbidden (403) is given up instead of kept.
  constructor({ subject, tab, ...rest }) {
    Object.assign(this, rest);
    this.shelf = new assay.Shelf("outbox", subject, tab);
    this.shelf.claim(); // what closed tabs could not send
    this.changes = this.shelf.changes;
    this.wait = 500;
    this.sending = false;
    for (const name of ["online", "focus"]) window.addEventListener(name, () => this.send());
    window.addEventListener("beforeunload", (event) => {
      // What the server has just answered is saved, and its page may lead elsewhere at once.
      if (this.changes.some((change) => change !== this.answered)) event.preventDefault();
      // The next page may be made before what is on its way is saved: it must find that kept, and hear of it itself.
      this.isPaused = true;
      clearTimeout(this.stay); // after all, or where something is only downloaded
      this.stay = setTimeout(() => Object.assign(this, { isPaused: false }).send(), 10000);
    });
  }

  keep() {
    this.shelf.changes = this.changes;
  }

  // The changes of a thread that wait.
  of(thread) {
    return this.changes.filter((change) => change.thread === thread);
  }

  // A change is {url, fields, about, thread}; about is for the page, to say in words what the change was.
  add({ thread = "", ...change }) {
    const seen = this.of(thread).length ? null : this.versions[thread]; // null: the version after the change before it
    this.changes.push({ ...change, thread, key: assay.uuid(), seen });
    this.keep();
    this.send();
  }

  // A change that was answered changed another thread too, from one version to the next: what waits there was done on
  // the former. On any other version it stays, and is refused.
  follow(thread, seen, version) {
    if (this.versions[thread] === seen) this.versions[thread] = version;
    const [next] = this.of(thread);
    if (next?.seen === seen) next.seen = version;
    this.keep();
  }

  async send() {
    if (this.sending || this.isPaused || !this.changes.length) return;
    this.sending = true;
    clearTimeout(this.timer);
    try {
      while (this.changes.length) {
        this.onState("saving", this.changes.length);
        const change = this.changes[0];
        change.seen = change.seen ?? this.versions[change.thread];
        this.keep(); // sent again after a reload it must be the same
        if (await this.sendOne(change)) return;
      }
      this.onState("saved", 0);
    } finally {
      this.sending = false;
    }
  }

  // Send the first change; return whether to stop for now.
  async sendOne(change) {
    let response, text;
    try {
      const limit = AbortSignal.timeout(30000);
      const fields = { ...change.fields, key: change.key, version: change.seen };
      response = await assay.post(change.url, fields, { signal: limit });
      text = await response.text();
    } catch {
      return this.later();
    }
    if (this.isPaused) return true;
    const status = assay.statusOf(response);
    const isOurs = response.headers.get("X-Assay-Write");
    if (status === 403 && isOurs && this.canLapse?.(change)) return this.refuse([change], response, text);
    if ([401, 403, "csrf"].includes(status) || (status === 404 && !isOurs)) {
      this.onState("blocked", this.changes.length, status);
      this.timer = setTimeout(() => this.send(), 4000); // soon after the person signed in again elsewhere
      return true;
    }
    // Whatever else answers in the server's place (a proxy, a sign-in of the network) has saved nothing.
    if (!isOurs) return this.later();
    this.wait = 500;
    if ([400, 404, 409, 410].includes(response.status)) {
      // What was done after a stale change was done on the same old version, so it is asked about as well.
      const isStale = (one) => response.status === 409 && one.thread === change.thread;
      const isRefused = (one) => isStale(one) || one === change || this.fallsWith?.(one, change);
      return this.refuse(this.changes.filter(isRefused), response, text);
    }
    this.answered = change;
    try {
      this.onAnswer(change, response, text, this.changes.length - 1);
    } catch (error) {
      this.answered = null;
      console.error(error); // the server may have been upgraded since the page was opened: it is kept, and said to be
      return this.later();
    }
    this.changes.shift();
    // The next one was made right after this one, and no reload may change that.
    const [next] = this.of(change.thread);
    if (next) next.seen = next.seen ?? this.versions[change.thread];
    this.keep();
    return false;
  }

  // Let go of changes that were refused; there is no need to stop.
  refuse(refused, response, text) {
    this.onRefused(refused, response, text);
    this.changes = this.changes.filter((change) => !refused.includes(change));
    this.keep();
    return false;
  }

  later() {
    this.onState("offline", this.changes.length);
    this.timer = setTimeout(() => this.send(), this.wait);
    this.wait = Math.min(this.wait * 2, 15000);
    return true;
  }
};

// The state line: whether what a person did is saved, in words, always in sight; and short notices beside the keys.
assay.StateLine = class {
  // isRefused() says whether there are refused changes.
  constructor({ isRefused }) {
    this.isRefused = isRefused;
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
    if (name === "saving" && ["offline", "blocked"].includes(this.name)) [name, , status] = this.state;
    this.state = [name, waiting, status];
    this.show();
  }

  get name() {
    return this.state[0];
  }

  // How the server answered a question that saves nothing: by an HTTP status, 0 for not at all.
  read(status) {
    this.unread = status >= 200 && status < 300 ? null : status;
    this.show();
  }

  show() {
    let [name, waiting, status] = this.isRefused() ? ["refused"] : this.state;
    if (name === "saved" && this.unread !== null) [name, status] = ["unread", this.unread];
    const why = [401, 403, 404, "csrf"].includes(status) && assay.say(`because-${status}`);
    const changes = assay.count(waiting, "change");
    const kept = assay.say(assay.storage.works ? "kept-in-browser" : "kept-in-page", { changes });
    const said = assay.say(name === "unread" && !why ? "no-answer" : name, { kept, why });
    Object.assign(this.line.dataset, { state: name, status: status ?? "" });
    assay.write(this.line, said);
    // Only trouble and its end are read out: "Saving…" and "Saved" at every key would drown the work.
    const isTrouble = ["offline", "blocked", "refused", "unread"].includes(name);
    if (isTrouble || (name === "saved" && this.announced.textContent)) this.announced.textContent = said;
  }

  // Say something that has no place on screen of its own.
  tell(text) {
    this.announced.textContent = this.hint.textContent = text;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => (this.hint.textContent = ""), 6000);
  }
};

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
