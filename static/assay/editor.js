// The nugget editor. What a person does shows at once and goes into the outbox; when all of it is saved, the list
// on screen is made to say what the server's says.
"use strict";

(async () => {
  const { folded, text: textOf, parse } = assay.NuggetList;
  const main = document.getElementById("main");
  const base = main.dataset.base;
  const subject = `${main.dataset.person}.bank.${main.dataset.bank}`;
  const holder = document.querySelector(".nugget-list");
  const notices = document.getElementById("notices");
  const newText = document.getElementById("new-text");
  const storage = assay.storage;
  const tab = await assay.tab();
  const REFUSED = `assay.refused.${subject}`;
  const QUOTED = 300; // characters of a refused text that are shown
  const saved = document.getElementById("saved"); // absent where nothing can be edited
  const announced = document.getElementById("announced");
  let state = ["saved", 0]; // name, number of waiting changes, HTTP status

  // ---- refused changes: both versions, and a way to keep either ----
  const list = newText && new assay.NuggetList(holder, lost);
  const refused = () => storage.get(REFUSED) || [];
  const quote = (text) => `“${text.length > QUOTED ? `${text.slice(0, QUOTED)}…` : text}”`;

  function inWords({ about }) {
    const row = list && about.uid && list.row(about.uid);
    const which = row ? `nugget ${list.place(row)}` : "a nugget";
    return {
      add: () => `Add: ${quote(about.text)}`,
      reword: () => `Reword ${which} to: ${quote(about.text)}`,
      importance: () => `Make ${which} ${about.importance}`,
      move: () => `Move ${which}`,
      delete: () => `Delete ${which}: ${quote(about.text)}`,
      undo: () => "Undo",
      redo: () => "Redo",
      finish: () => "Finish",
    }[about.action]();
  }

  function refuse(changes, why, canRedo) {
    storage.set(REFUSED, refused().concat(changes));
    drawRefused(why, canRedo);
  }

  function drawRefused(why, canRedo) {
    document.getElementById("refused")?.remove();
    if (!refused().length) return;
    const box = document.createElement("div");
    box.id = "refused";
    box.className = "message error";
    box.setAttribute("role", "alert");
    const items = document.createElement("ul");
    for (const change of refused()) {
      const item = document.createElement("li");
      item.textContent = inWords(change);
      const row = list && change.about.uid && list.row(change.about.uid);
      if (row && change.about.action === "reword") {
        const there = document.createElement("p");
        there.textContent = `It now says: ${quote(row.dataset.text)}`;
        item.append(there);
      }
      items.append(item);
    }
    const said = document.createElement("p");
    said.textContent = `${why} Not saved:`;
    const buttons = document.createElement("p");
    const button = (label, action) => {
      const element = document.createElement("button");
      element.type = "button";
      element.textContent = label;
      element.addEventListener("click", () => {
        const changes = refused();
        storage.remove(REFUSED);
        box.remove();
        action(changes);
        showState();
      });
      buttons.append(element, " ");
    };
    if (canRedo) {
      // An added nugget keeps its uid: the changes after it name it.
      const again = ({ url, fields, about }) => (effects[about.action]?.(about), outbox.add({ url, fields, about }));
      button("Keep mine: do it on the list as it is now", (changes) => changes.forEach(again));
    }
    button(canRedo ? "Keep what is there" : "Understood", () => {});
    box.append(said, items, buttons);
    notices.append(box);
    showState();
  }

  // A text being typed that the server's list overtook.
  function lost(row, typed) {
    const about = { action: "reword", uid: row.dataset.uid, text: typed };
    dropDraft(row.dataset.uid);
    const change = { url: `${base}${row.dataset.uid}/reword/`, fields: { text: typed }, about };
    queueMicrotask(() => refuse([change], "While you typed, this nugget was changed elsewhere.", true));
  }

  // ---- a bank that can't be edited any more: only what could not be saved is to be seen ----
  const ownName = `assay.outbox.${subject}.`;
  if (!newText) {
    for (const name of storage.names(ownName)) {
      storage.set(REFUSED, refused().concat(storage.get(name) || []));
      storage.remove(name);
    }
    drawRefused("These nuggets are finished.", false);
    return;
  }

  // ---- the state line ----

  function showState() {
    if (!saved) return;
    const [name, waiting, status] = refused().length ? ["refused"] : state;
    const kept = `${waiting} change${waiting === 1 ? "" : "s"} kept in this ${storage.works ? "browser" : "page: don't close it"}`;
    const said = {
      saved: "Saved",
      saving: "Saving…",
      typing: "Not saved yet",
      offline: `Not saved yet: the server does not answer. ${kept}, sent again by itself.`,
      blocked: `Not saved: ${blockedBecause(status)} ${kept}.`,
      refused: "Not saved: decide what to do with the changes above the list.",
    }[name];
    saved.dataset.state = name;
    if (saved.textContent !== said) saved.textContent = said;
    // Only trouble and its end are read out: "Saving…" and "Saved" at every key would drown the work.
    const trouble = ["offline", "blocked", "refused"].includes(name);
    if (trouble) announced.textContent = said;
    else if (name === "saved" && announced.textContent) announced.textContent = "Saved";
  }

  function setState(name, waiting, status) {
    // A trouble stays shown until it is over, not only until the next try.
    if (name === "saving" && ["offline", "blocked"].includes(state[0])) return;
    state = [name, waiting, status];
    showState();
  }

  function blockedBecause(status) {
    if (status === 401) return "you are signed out. Sign in in another tab.";
    if (status === 403) return "you may not do this any more. Tell your organizer.";
    return "this work is not yours any more. Tell your organizer.";
  }

  // ---- what is typed is kept until it is in the outbox ----
  const draftName = (uid) => `assay.draft.${subject}.${uid}`;
  const keepDraft = (uid, draft) => storage.set(draftName(uid), draft);
  const dropDraft = (uid) => storage.remove(draftName(uid));
  const NEW = `new.${tab.name}`;

  // ---- saving ----
  const outbox = new assay.Outbox({
    subject,
    tab,
    version: Number(list.element.dataset.version),
    onAnswer(change, response, text, waiting) {
      if (response.status === 422) return showFindings(text);
      if (response.headers.get("HX-Redirect")) return window.location.assign(response.headers.get("HX-Redirect"));
      const fresh = parse(text);
      // What waits was done after this change and has seen nothing later.
      outbox.version = Number(waiting ? response.headers.get("X-Assay-Version") : fresh.dataset.version);
      if (waiting) return;
      const added = show(fresh);
      if (["undo", "redo"].includes(change.about.action) && added.length) list.go(added[0]);
    },
    onRefused(changes, response, text) {
      if (response.status === 400) {
        const plain = (response.headers.get("Content-Type") || "").startsWith("text/plain");
        for (const { about } of changes) if (about.action === "add") list.row(about.uid)?.remove();
        refuse(changes, plain ? text : "The server could not read this.", false);
        list.tidy();
        return;
      }
      const fresh = parse(text);
      if (fresh.dataset.state !== "open") {
        storage.set(REFUSED, refused().concat(changes));
        setTimeout(() => window.location.reload(), 0); // the page of a finished bank shows them
        return;
      }
      outbox.version = Number(fresh.dataset.version);
      refuse(changes, "This list was changed elsewhere meanwhile.", true);
      show(fresh);
      drawRefused("This list was changed elsewhere meanwhile.", true);
    },
    onState: setState,
  });

  const undoButton = document.querySelector('[data-act="undo"]');
  const redoButton = document.querySelector('[data-act="redo"]');

  function show(fresh) {
    const added = list.show(fresh);
    undoButton.disabled = list.element.dataset.undo !== "1";
    redoButton.disabled = list.element.dataset.redo !== "1";
    return added;
  }

  function change(uid, action, fields, about) {
    // What can be undone and redone is known for sure when the answer is here.
    undoButton.disabled = false;
    redoButton.disabled = action !== "undo";
    outbox.add({ url: `${base}${uid ? `${uid}/` : ""}${action}/`, fields, about: { action, uid, ...about } });
  }

  // ---- what a change does to the list on screen ----
  const effects = {
    add({ uid, text }) {
      if (!list.row(uid)) list.append(uid, text);
      list.tidy();
    },
    reword({ uid, text }) {
      const row = list.row(uid);
      if (!row) return;
      row.dataset.text = text;
      if (folded(textOf(row).value) !== text) textOf(row).value = text;
      list.tidy();
    },
    importance({ uid, importance }) {
      const radio = list.row(uid)?.querySelector(`input[value="${importance}"]`);
      if (radio) radio.checked = true;
      list.tidy();
    },
    move({ uid, to }) {
      const row = list.row(uid);
      if (!row) return;
      const others = list.rows.filter((other) => other !== row);
      if (to < others.length) others[to].before(row);
      else list.element.append(row);
      list.tidy();
    },
    delete({ uid }) {
      list.row(uid)?.remove();
      list.tidy();
    },
  };

  // ---- findings ----
  function showFindings(html) {
    document.getElementById("findings")?.remove();
    notices.insertAdjacentHTML("afterbegin", html); // rendered and escaped by the server
    const first = notices.querySelector("a[data-uid]");
    if (first) list.go(list.row(first.dataset.uid));
  }

  // Take away the findings that are dealt with.
  function strikeFindings() {
    const box = document.getElementById("findings");
    if (!box) return;
    for (const item of box.querySelectorAll("li")) {
      const row = item.querySelector("a") && list.row(item.querySelector("a").dataset.uid);
      const whole = row ? row.querySelector("input:checked") && folded(textOf(row).value) : list.rows.length > 0;
      if (whole || (item.querySelector("a") && !row)) item.remove();
    }
    if (!box.querySelector("li")) box.remove();
  }

  notices.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-uid]");
    if (!link) return;
    event.preventDefault();
    list.go(list.row(link.dataset.uid));
  });

  // ---- what a person does ----
  function saveText(row) {
    const uid = row.dataset.uid;
    const text = folded(textOf(row).value);
    dropDraft(uid);
    if (text === row.dataset.text) {
      if (state[0] === "typing") setState("saved", 0);
      return;
    }
    effects.reword({ uid, text });
    change(uid, "reword", { text }, { text });
    strikeFindings();
  }

  function setImportance(row, importance) {
    effects.importance({ uid: row.dataset.uid, importance });
    change(row.dataset.uid, "importance", { importance }, { importance });
    strikeFindings();
  }

  function move(row, by) {
    const to = list.rows.indexOf(row) + by;
    if (to < 0 || to >= list.rows.length) return;
    const active = document.activeElement;
    const cursor = active.matches("textarea") ? [active.selectionStart, active.selectionEnd] : null;
    saveText(row);
    effects.move({ uid: row.dataset.uid, to });
    if (row.contains(active)) {
      active.focus();
      if (cursor) active.setSelectionRange(...cursor);
    } else list.go(row);
    row.scrollIntoView({ block: "nearest" });
    change(row.dataset.uid, "move", { to }, { to });
  }

  function remove(row) {
    const at = list.rows.indexOf(row);
    dropDraft(row.dataset.uid);
    effects.delete({ uid: row.dataset.uid });
    change(row.dataset.uid, "delete", {}, { text: row.dataset.text });
    strikeFindings();
    if (list.rows.length) list.go(list.rows[Math.min(at, list.rows.length - 1)]);
    else undoButton.focus();
  }

  function addNugget() {
    const text = folded(newText.value);
    if (!text) return;
    const uid = assay.uuid();
    effects.add({ uid, text });
    list.mark(list.row(uid));
    list.row(uid).scrollIntoView({ block: "nearest" });
    change("", "add", { uid, text, docid: evidence ? evidence.dataset.docid : "" }, { uid, text });
    newText.value = "";
    setEvidence(null);
    typedNew();
    strikeFindings();
  }

  let evidence = null; // the passage that the new nugget is made from

  function setEvidence(passage) {
    evidence = passage;
    const chip = document.getElementById("new-passage");
    chip.hidden = !passage;
    chip.textContent = passage ? `from “${passage.querySelector("h3").textContent.trim()}”` : "";
  }

  function typedNew() {
    const text = folded(newText.value);
    const chip = document.getElementById("new-words");
    chip.hidden = !text;
    list.countWords(chip, text);
    assay.fit(newText);
    if (text) keepDraft(NEW, { text: newText.value, docid: evidence?.dataset.docid });
    else dropDraft(NEW);
  }

  // Put everything typed into the outbox before something that depends on it.
  const saveAll = () => list.rows.forEach(saveText);

  function finish() {
    saveAll();
    if (outbox.changes.some(({ about }) => about.action === "finish")) return;
    if (folded(newText.value)) {
      showFindings('<div id="findings" class="message error" role="alert"><p>A new nugget is typed but not added yet.</p></div>');
      newText.addEventListener("input", () => document.getElementById("findings")?.remove(), { once: true });
      newText.focus();
      return;
    }
    const ready = list.rows.length && list.rows.every((row) => row.querySelector("input:checked") && row.dataset.text);
    if (!ready) return change("", "finish", {}, {}); // the server says exactly what is lacking
    const number = (selector) => list.element.querySelectorAll(selector).length;
    const facts = [`${list.rows.length} nuggets: ${number('input[value="vital"]:checked')} vital, ${number('input[value="okay"]:checked')} okay.`];
    if (number(".same:not([hidden])")) facts.push(`${number(".same:not([hidden])")} with the same words as another.`);
    if (number(".words.warn")) facts.push(`${number(".words.warn")} with more than ${list.advised} words.`);
    document.getElementById("finish-facts").textContent = facts.join(" ");
    document.getElementById("finish").showModal();
  }
  document.getElementById("finish").addEventListener("close", (event) => {
    if (event.target.returnValue === "yes") change("", "finish", {}, {});
    event.target.returnValue = "";
  });

  const passages = [...document.querySelectorAll(".passage")];
  let passage = passages[0];

  function goPassage(to) {
    if (!to) return;
    for (const other of passages) other.tabIndex = -1;
    passage = to;
    to.tabIndex = 0;
    to.focus();
    to.scrollIntoView({ block: "nearest" });
  }

  function step(by) {
    const here = document.activeElement.closest(".passage");
    if (here) return goPassage(passages[passages.indexOf(here) + by]);
    const row = list.current;
    const next = row ? list.rows[list.rows.indexOf(row) + by] : list.rows[by > 0 ? 0 : list.rows.length - 1];
    list.go(next || row);
  }

  const ofNugget = {
    vital: (row) => setImportance(row, "vital"),
    okay: (row) => setImportance(row, "okay"),
    edit: (row) => textOf(row).focus(),
    delete: remove,
    up: (row) => move(row, -1),
    down: (row) => move(row, 1),
  };
  const acts = {
    next: () => step(1),
    previous: () => step(-1),
    undo: () => (saveAll(), change("", "undo", {}, {})),
    redo: () => (saveAll(), change("", "redo", {}, {})),
    passages: () => goPassage(passage),
    nuggets: () => (list.rows.length ? list.go(list.current || list.rows[0]) : newText.focus()),
    finish,
  };

  document.addEventListener("click", (event) => {
    const act = event.target.closest("[data-act]")?.dataset.act;
    if (acts[act]) acts[act]();
    // Nobody who reads a passage means a nugget that is out of sight.
    else if (ofNugget[act] && list.current && !document.activeElement.closest("#passages")) ofNugget[act](list.current);
  });

  holder.addEventListener("focusin", (event) => {
    const row = event.target.closest(".nugget");
    if (row) list.mark(row);
  });
  holder.addEventListener("change", (event) => {
    const row = event.target.closest(".nugget");
    if (event.target.matches("input[type=radio]")) setImportance(row, event.target.value);
    else if (event.target.matches("textarea")) saveText(row);
  });

  // A pause in typing saves too: nobody should have to leave the field for that. Not while a character is composed.
  const pauses = new WeakMap();
  function typed(row) {
    keepDraft(row.dataset.uid, { text: textOf(row).value, was: row.dataset.text });
    if (folded(textOf(row).value) !== row.dataset.text && state[0] === "saved") setState("typing", 0);
    list.tidy();
    clearTimeout(pauses.get(row));
    pauses.set(row, setTimeout(() => row.isConnected && !row.dataset.composing && saveText(row), 2000));
  }
  holder.addEventListener("input", (event) => {
    if (event.target.matches("textarea")) typed(event.target.closest(".nugget"));
  });
  holder.addEventListener("compositionstart", (event) => {
    event.target.closest(".nugget").dataset.composing = "1";
  });
  holder.addEventListener("compositionend", (event) => {
    delete event.target.closest(".nugget").dataset.composing;
    typed(event.target.closest(".nugget"));
  });
  holder.addEventListener("keydown", (event) => {
    const row = event.target.closest(".nugget");
    if (!row || event.isComposing) return;
    if (event.target.matches("textarea") && (event.key === "Enter" || event.key === "Escape")) {
      event.preventDefault();
      saveText(row);
      list.go(row);
    } else if (event.target === row && event.key === "Enter") {
      event.preventDefault();
      textOf(row).focus();
    }
  });

  document.getElementById("passages").addEventListener("focusin", (event) => {
    const here = event.target.closest(".passage");
    if (here) passage = here;
  });
  newText.addEventListener("assay:key", () => {
    const here = document.activeElement.closest(".passage");
    if (here) setEvidence(here);
  });
  newText.addEventListener("input", typedNew);
  newText.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "Enter") {
      event.preventDefault();
      addNugget();
    } else if (event.key === "Escape") {
      event.preventDefault();
      const from = evidence;
      setEvidence(null);
      typedNew();
      if (from) goPassage(from);
      else if (list.rows.length) list.go(list.current || list.rows[list.rows.length - 1]);
      else goPassage(passage);
    }
  });
  document.getElementById("add").addEventListener("submit", (event) => {
    event.preventDefault();
    addNugget();
  });

  // ---- what an earlier visit left ----
  list.tidy();
  for (const { about } of outbox.changes) effects[about.action]?.(about);
  drawRefused("From an earlier visit:", true);
  for (const row of list.rows) {
    const left = storage.get(draftName(row.dataset.uid));
    if (!left) continue;
    if (left.was === row.dataset.text) {
      textOf(row).value = left.text;
      saveText(row);
    } else if (folded(left.text) !== row.dataset.text) lost(row, folded(left.text));
  }
  const newDrafts = `assay.draft.${subject}.new.`;
  for (const name of storage.names(newDrafts)) {
    const other = name.slice(newDrafts.length);
    if (newText.value || (other !== tab.name && tab.isOpen(other))) continue;
    const left = storage.get(name);
    storage.remove(name);
    newText.value = left.text;
    setEvidence(passages.find((one) => one.dataset.docid === left.docid) || null);
  }
  typedNew();
  if (!storage.works) {
    const warning = document.createElement("p");
    warning.className = "message warning";
    warning.textContent = "This browser does not let Assay keep changes: don't close this page before it says Saved.";
    notices.append(warning);
  }
  for (const field of document.querySelectorAll("#add [disabled], .nugget [disabled]")) field.disabled = false;
  main.dataset.ready = "1";
  showState();
  outbox.send();
})();
