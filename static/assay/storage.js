// What the browser keeps for a person. Where it can't (switched off, full), things are kept as long as the page.
window.assay = {};

const storeIn = (area) => {
  const inPage = new Map();
  // What the browser answers, or null: where storage is switched off, its mere mention throws.
  const ask = (question) => {
    try {
      return question(window[area]);
    } catch {
      return null;
    }
  };
  return {
    works: true,
    get: (name) => inPage.get(name) ?? ask((kept) => JSON.parse(kept.getItem(name))),
    set(name, value) {
      inPage.delete(name);
      try {
        window[area].setItem(name, JSON.stringify(value));
      } catch {
        this.works = false;
        inPage.set(name, value);
      }
    },
    remove(name) {
      inPage.delete(name);
      ask((kept) => kept.removeItem(name));
    },
    names: (prefix) => ask((kept) => Object.keys(kept).filter((name) => name.startsWith(prefix))) ?? [],
  };
};

assay.storage = storeIn("localStorage");
assay.session = storeIn("sessionStorage"); // of this tab alone
assay.storage.set("assay.probe", 1);
assay.storage.remove("assay.probe");

assay.same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

// A list of changes that a tab keeps until they are saved or given up. kind: what keeps them waiting (outbox, refused,
// draft); subject: what they are about, which is installation, person, kind of work and its key, with dots between.
assay.Shelf = class {
  constructor(kind, subject, tab) {
    Object.assign(this, { kind, subject, tab, name: `assay.${kind}.${subject}.${tab.name}` });
  }

  get changes() {
    return assay.storage.get(this.name) || [];
  }

  set changes(changes) {
    if (changes.length) assay.storage.set(this.name, changes);
    else assay.storage.remove(this.name);
  }

  // Take over what closed tabs left, and of other kinds and subjects (patterns) what this tab left too; returns whether
  // there was something. It is here before it goes there; where all ended in between, it is not taken twice.
  claim(kinds = this.kind, subject = this.subject, as = (left) => left) {
    const before = this.changes.length;
    const left = new RegExp(`^assay\\.(?:${kinds})\\.${subject}\\.([^.]+)$`);
    for (const name of assay.storage.names("assay.")) {
      const [, owner] = left.exec(name) || [];
      if (!owner || name === this.name || (owner !== this.tab.name && this.tab.isOpen(owner))) continue;
      const { changes } = this;
      const isNew = (one) => !changes.some((other) => assay.same(one, other));
      this.changes = [...changes, ...as(assay.storage.get(name) || []).filter(isNew)];
      assay.storage.remove(name);
    }
    return this.changes.length > before;
  }
};

// A random UUID (version 4): on pages without https there is no crypto.randomUUID.
assay.uuid = () => {
  const random = crypto.getRandomValues(new Uint8Array(36));
  const digit = (kind, at) => (kind === "x" ? random[at] & 15 : (random[at] & 3) | 8).toString(16);
  return "xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx".replace(/[xy]/g, digit);
};

// A name for this tab that survives a reload and that no other open tab has, a copied one included; and a way to
// tell whether the tab of a name is still open. Pages without https have no locks: there a tab says every few
// seconds that it lives.
assay.tab = async () => {
  const ALIVE = "assay.alive.";
  const SILENT = 90000; // browsers slow the timers of hidden tabs to one a minute
  const { locks } = navigator;
  // Whether a name is this tab's now, as long as it is open.
  const hold = (name) =>
    new Promise((done) => {
      if (!locks) return done(true);
      locks.request(`assay.tab.${name}`, { ifAvailable: true }, (lock) => {
        done(Boolean(lock));
        return lock && new Promise(() => {});
      });
    });
  // Locks are another process's to tell, and nobody should wait for it without need: only what is stored may be of
  // another tab, and only an old name may be another tab's too.
  const asked = locks && assay.storage.names("assay.").length ? locks.query() : null;
  let name = assay.session.get("assay.tab");
  if (!name || !(await hold(name))) {
    name = assay.uuid();
    hold(name);
    assay.session.set("assay.tab", name);
  }
  if (!locks) {
    const live = () => assay.storage.set(ALIVE + name, Date.now());
    live();
    setInterval(live, 5000);
    return { name, isOpen: (other) => Date.now() - assay.storage.get(ALIVE + other) < SILENT };
  }
  const held = asked && new Set((await asked).held.map((lock) => lock.name));
  // What was stored since the page began is of an open tab.
  return { name, isOpen: (other) => !held || held.has(`assay.tab.${other}`) };
};
