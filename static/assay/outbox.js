// The outbox: what a person does is kept in the browser until the server has said that it is saved.
// Changes go out one after another. Each carries a key made here, so that sending it twice counts once, and the
// version it was made on, so that the server can refuse it when something else happened meanwhile.
"use strict";

window.assay = window.assay || {};

assay.uuid = () => {
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 15) | 64;
  bytes[8] = (bytes[8] & 63) | 128;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
};

assay.csrf = () => (document.cookie.match(/(?:^|; )csrftoken=([^;]+)/) || [])[1] || "";

assay.post = (url, fields, options = {}) =>
  fetch(url, {
    method: "POST",
    body: new URLSearchParams(fields),
    headers: { "X-CSRFToken": assay.csrf(), "X-Assay-Write": "1" },
    redirect: "error",
    ...options,
  });

// A name for this tab that survives a reload and that no other open tab has, a copied one included.
assay.tabName = async () => {
  const hold = (name) =>
    new Promise((done) => {
      if (!navigator.locks) return done(true);
      navigator.locks.request(`assay.tab.${name}`, { ifAvailable: true }, (lock) => {
        done(Boolean(lock));
        return lock ? new Promise(() => {}) : undefined;
      });
    });
  let name = sessionStorage.getItem("assay.tab");
  if (!name || !(await hold(name))) {
    name = assay.uuid();
    await hold(name);
  }
  sessionStorage.setItem("assay.tab", name);
  return name;
};

assay.Outbox = class {
  // subject: what the changes are about, such as "3.bank.7" (person and bank); version: what the page shows.
  // onAnswer(change, response, text) gets each answer that settles a change (200, 422), onRefused(change, status,
  // text) each refusal (400, 409); onState(state, waiting) tells what to show: saved, saving, offline or blocked.
  constructor({ subject, tab, version, onAnswer, onRefused, onState }) {
    Object.assign(this, { version, onAnswer, onRefused, onState });
    this.prefix = `assay.outbox.${subject}.`;
    this.store = this.prefix + tab;
    this.changes = JSON.parse(localStorage.getItem(this.store) || "[]");
    this.wait = 500;
    this.sending = false;
    window.addEventListener("online", () => this.send());
    window.addEventListener("focus", () => this.send());
    window.addEventListener("beforeunload", (event) => {
      if (this.changes.length) event.preventDefault();
    });
  }

  // Take over what a closed tab could not send.
  async adopt() {
    if (!navigator.locks) return;
    const held = new Set((await navigator.locks.query()).held.map((lock) => lock.name));
    for (const name of Object.keys(localStorage)) {
      if (!name.startsWith(this.prefix) || name === this.store) continue;
      if (held.has(`assay.tab.${name.slice(this.prefix.length)}`)) continue;
      this.changes.push(...JSON.parse(localStorage.getItem(name) || "[]"));
      this.keep();
      localStorage.removeItem(name);
    }
  }

  keep() {
    if (this.changes.length) localStorage.setItem(this.store, JSON.stringify(this.changes));
    else localStorage.removeItem(this.store);
  }

  // A change is {url, fields, about}; about is for the page, to say in words what the change was.
  add(change) {
    const seen = this.changes.length ? null : this.version; // null: the version after the change before it
    this.changes.push({ ...change, key: assay.uuid(), seen });
    this.keep();
    this.send();
  }

  async send() {
    if (this.sending) return;
    this.sending = true;
    clearTimeout(this.timer);
    while (this.changes.length) {
      this.onState("saving", this.changes.length);
      const change = this.changes[0];
      change.seen = change.seen ?? this.version;
      const again = await this.sendOne(change);
      if (again) break;
    }
    this.sending = false;
    if (!this.changes.length) this.onState("saved", 0);
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
      return this.later("offline");
    }
    if (response.status === 401 || response.status === 403 || response.status === 404) {
      this.onState("blocked", this.changes.length, response.status);
      this.timer = setTimeout(() => this.send(), 15000);
      return true;
    }
    if (response.status >= 500 || response.status === 429) return this.later("offline");
    this.wait = 500;
    if (response.status === 409) {
      // What was done after it was done on the same old version, so it is asked about as well.
      const refused = this.changes.splice(0);
      this.keep();
      this.onRefused(refused, 409, text);
      return false;
    }
    this.changes.shift();
    if (response.status === 400) {
      this.keep();
      this.onRefused([change], 400, text);
      return false;
    }
    this.onAnswer(change, response, text, this.changes.length);
    // The next one was made right after this one, and no reload may change that.
    if (this.changes.length) this.changes[0].seen = this.changes[0].seen ?? this.version;
    this.keep();
    return false;
  }

  later(state) {
    this.onState(state, this.changes.length);
    this.timer = setTimeout(() => this.send(), this.wait);
    this.wait = Math.min(this.wait * 2, 15000);
    return true;
  }
};
