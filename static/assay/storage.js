// What the browser keeps for a person. Where it can't (switched off, full), things are kept as long as the page.
"use strict";

window.assay = window.assay || {};

assay.storage = (() => {
  const inPage = new Map();
  const storage = {
    works: true,
    get(name) {
      if (inPage.has(name)) return inPage.get(name);
      try {
        return JSON.parse(localStorage.getItem(name));
      } catch {
        return null;
      }
    },
    set(name, value) {
      try {
        localStorage.setItem(name, JSON.stringify(value));
        inPage.delete(name);
      } catch {
        storage.works = false;
        inPage.set(name, value);
      }
    },
    remove(name) {
      inPage.delete(name);
      try {
        localStorage.removeItem(name);
      } catch {
        storage.works = false;
      }
    },
    names(prefix) {
      try {
        return Object.keys(localStorage).filter((name) => name.startsWith(prefix));
      } catch {
        return [];
      }
    },
  };
  storage.set("assay.probe", 1);
  storage.remove("assay.probe");
  return storage;
})();

assay.uuid = () => {
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 15) | 64;
  bytes[8] = (bytes[8] & 63) | 128;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
};

// A name for this tab that survives a reload and that no other open tab has, a copied one included; and a way to
// tell whether the tab of a name is still open. Pages without https have no locks: there a tab says every few
// seconds that it lives.
assay.tab = async () => {
  const ALIVE = "assay.alive.";
  const SILENT = 90000; // browsers slow the timers of hidden tabs to one a minute
  const hold = (name) =>
    new Promise((done) => {
      if (!navigator.locks) return done(true);
      navigator.locks.request(`assay.tab.${name}`, { ifAvailable: true }, (lock) => {
        done(Boolean(lock));
        return lock ? new Promise(() => {}) : undefined;
      });
    });
  // Locks are another process's to tell, and nobody should wait for it without need: only what is stored may be of
  // another tab, and only an old name may be another tab's too.
  const asked = navigator.locks && assay.storage.names("assay.").length ? navigator.locks.query() : null;
  let name = null;
  try {
    name = sessionStorage.getItem("assay.tab");
  } catch {
    // Then each load is a tab of its own.
  }
  if (!name || !(await hold(name))) {
    name = assay.uuid();
    hold(name);
  }
  try {
    sessionStorage.setItem("assay.tab", name);
  } catch {
    assay.storage.works = false;
  }
  if (!navigator.locks) {
    const live = () => assay.storage.set(ALIVE + name, Date.now());
    live();
    setInterval(live, 5000);
  }
  const held = asked && new Set((await asked).held.map((lock) => lock.name));
  const isOpen = (other) => {
    if (!navigator.locks) return Date.now() - (assay.storage.get(ALIVE + other) || 0) < SILENT;
    return !held || held.has(`assay.tab.${other}`); // what was stored since the page began is of an open tab
  };
  return { name, isOpen };
};
