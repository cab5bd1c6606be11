// The nugget editor. What a person does shows at once and goes into the outbox; when all of it is saved, the list
// that the server answered with takes the place of the one on screen, except for a text being typed.
"use strict";

(async () => {
  const main = document.getElementById("main");
  const base = main.dataset.base;
  const subject = `${main.dataset.person}.bank.${main.dataset.bank}`;
  const holder = document.querySelector(".nugget-list");
  const notices = document.getElementById("notices");
  const saved = document.getElementById("saved");
  const newText = document.getElementById("new-text");
  const advised = Number(holder.dataset.advised);
  const list = () => document.getElementById("nugget-list");
  const rows = () => [...list().children];
  const rowOf = (uid) => document.getElementById(`n-${uid}`);
  const textOf = (row) => row.querySelector("textarea");
  const folded = (text) => text.split(/\s+/).filter(Boolean).join(" ");
  const place = (row) => rows().indexOf(row) + 1;
  let evidence = null; // the passage that the new nugget is made from

  // ---- what is typed is kept until it is in the outbox ----
  const draftName = (uid) => `assay.draft.${subject}.${uid}`;
  const keepDraft = (uid, text, was) => localStorage.setItem(draftName(uid), JSON.stringify({ text, was }));
  const dropDraft = (uid) => localStorage.removeItem(draftName(uid));
  const draft = (uid) => JSON.parse(localStorage.getItem(draftName(uid)) || "null");

  // ---- saving ----
  const outbox = new assay.Outbox({
    subject,
    tab: await assay.tabName(),
    version: Number(list().dataset.version),
    onAnswer(change, response, text, waiting) {
      if (response.status === 422) return showFindings(text);
      if (response.headers.get("HX-Redirect")) {
        window.location.assign(response.headers.get("HX-Redirect"));
        return;
      }
      const fresh = parseList(text);
      outbox.version = Number(fresh.dataset.version);
      if (!waiting) showList(fresh);
    },
    onRefused(changes, status, text) {
      if (status === 400) return showRefused(changes, text.slice(0, 300), null);
      const fresh = parseList(text);
      outbox.version = Number(fresh.dataset.version);
      showList(fresh);
      const why = fresh.dataset.state === "finished" ? "These nuggets were finished meanwhile." : "This list was changed elsewhere meanwhile.";
      showRefused(changes, why, fresh.dataset.state === "open" ? again : null);
    },
    onState(state, waiting, status) {
      saved.dataset.state = state;
      const kept = `${waiting} change${waiting === 1 ? "" : "s"} kept in this browser`;
      const said = {
        saved: "Saved",
        saving: "Saving…",
        offline: `Not saved yet: no answer from the server. ${kept}, sent again by itself.`,
        blocked: `Not saved: ${blockedBecause(status)} ${kept}.`,
      }[state];
      if (saved.textContent !== said) saved.textContent = said;
    },
  });

  function blockedBecause(status) {
    if (status === 401) return "you are signed out. Sign in in another tab.";
    if (status === 403) return "you may not do this any more. Tell your organizer.";
    return "this work is not yours any more. Tell your organizer.";
  }

  const change = (uid, action, fields, about) =>
    outbox.add({ url: `${base}${uid ? uid + "/" : ""}${action}/`, fields, about: { action, uid, ...about } });

  function again(refused) {
    // An added nugget keeps its uid: the changes after it name it.
    outbox.add({ url: refused.url, fields: refused.fields, about: refused.about });
  }

  // ---- showing what the server says ----
  function parseList(html) {
    return new DOMParser().parseFromString(html, "text/html").getElementById("nugget-list");
  }

  function showList(fresh) {
    const active = document.activeElement;
    const activeRow = active && active.closest(".nugget");
    const focus = activeRow && {
      uid: activeRow.dataset.uid,
      part: active.dataset.part,
      from: active.selectionStart,
      to: active.selectionEnd,
      at: rows().indexOf(activeRow),
    };
    const typed = activeRow && active.matches("textarea") && active.value !== activeRow.dataset.text ? activeRow : null;
    const currentUid = current() && current().dataset.uid;
    const old = list();
    const replaced = document.importNode(fresh, true);
    if (typed) {
      const same = replaced.querySelector(`[data-uid="${typed.dataset.uid}"]`);
      // Only around the text that is being typed: replacing it would take the cursor and the words.
      if (same) {
        for (const sibling of [...old.children]) if (sibling !== typed) sibling.remove();
        let before = true;
        for (const row of [...replaced.children]) {
          if (row === same) before = false;
          else if (before) typed.before(row);
          else old.append(row);
        }
        typed.querySelector(".importance").replaceWith(same.querySelector(".importance"));
        Object.assign(old.dataset, replaced.dataset);
      } else {
        keepLost(typed);
        old.replaceWith(replaced);
      }
    } else {
      old.replaceWith(replaced);
    }
    showButtons();
    tidy();
    if (currentUid && rowOf(currentUid)) mark(rowOf(currentUid));
    if (focus && !typed) {
      const row = rowOf(focus.uid) || rows()[Math.min(focus.at, rows().length - 1)];
      const target = row && ((focus.part && row.querySelector(`[data-part="${focus.part}"]`)) || row);
      if (target) {
        target.focus({ preventScroll: true });
        if (focus.part === "text" && row.dataset.uid === focus.uid) target.setSelectionRange(focus.from, focus.to);
      }
    }
  }

  function showButtons() {
    document.querySelector('[data-act="undo"]').disabled = list().dataset.undo !== "1";
    document.querySelector('[data-act="redo"]').disabled = list().dataset.redo !== "1";
  }

  function showFindings(html) {
    notices.innerHTML = html; // rendered and escaped by the server
    const first = notices.querySelector("a[data-uid]");
    if (first) go(rowOf(first.dataset.uid));
  }

  notices.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-uid]");
    if (!link) return;
    event.preventDefault();
    go(rowOf(link.dataset.uid));
  });

  // ---- refused changes: both versions, and a way to keep either ----
  const REFUSED = `assay.refused.${subject}`;

  function inWords({ about }) {
    const row = about.uid && rowOf(about.uid);
    const which = row ? `nugget ${place(row)}` : "a nugget";
    return {
      add: `Add: “${about.text}”`,
      reword: `Reword ${which} to: “${about.text}”`,
      importance: `Make ${which} ${about.importance}`,
      move: `Move ${which}`,
      delete: `Delete ${which}${about.text ? `: “${about.text}”` : ""}`,
      undo: "Undo",
      redo: "Redo",
      finish: "Finish",
    }[about.action];
  }

  function showRefused(changes, why, redo) {
    const kept = JSON.parse(localStorage.getItem(REFUSED) || "[]").concat(changes);
    localStorage.setItem(REFUSED, JSON.stringify(kept));
    drawRefused(why, redo);
  }

  function drawRefused(why, redo) {
    const kept = JSON.parse(localStorage.getItem(REFUSED) || "[]");
    document.getElementById("refused")?.remove();
    if (!kept.length) return;
    const box = document.createElement("div");
    box.id = "refused";
    box.className = "message error";
    box.setAttribute("role", "alert");
    const said = document.createElement("p");
    said.textContent = `${why} Not saved:`;
    const items = document.createElement("ul");
    for (const refused of kept) {
      const item = document.createElement("li");
      item.textContent = inWords(refused);
      const row = refused.about.uid && rowOf(refused.about.uid);
      if (row && refused.about.action === "reword") {
        const there = document.createElement("p");
        there.textContent = `It now says: “${row.dataset.text}”`;
        item.append(there);
      }
      items.append(item);
    }
    const buttons = document.createElement("p");
    const button = (label, action) => {
      const element = document.createElement("button");
      element.type = "button";
      element.textContent = label;
      element.addEventListener("click", () => {
        localStorage.removeItem(REFUSED);
        box.remove();
        action();
      });
      buttons.append(element, " ");
    };
    if (redo) button("Keep mine: do it on the list as it is now", () => kept.forEach(redo));
    button(redo ? "Keep what is there" : "Understood", () => {});
    box.append(said, items, buttons);
    notices.append(box);
  }

  // A text that was being typed into a nugget that is gone from the list.
  function keepLost(row) {
    const text = textOf(row).value;
    const about = { action: "reword", uid: row.dataset.uid, text };
    dropDraft(row.dataset.uid);
    showRefused([{ url: `${base}${row.dataset.uid}/reword/`, fields: { text }, about }], "That nugget is gone.", null);
  }

  // ---- the list on screen ----
  const current = () => list().querySelector('[aria-current="true"]');

  function mark(row) {
    for (const other of rows()) other.removeAttribute("aria-current");
    row.setAttribute("aria-current", "true");
  }

  function go(row) {
    if (!row) return;
    mark(row);
    row.focus();
    row.scrollIntoView({ block: "nearest" });
  }

  function count(text) {
    return folded(text) ? folded(text).split(" ").length : 0;
  }

  // Numbers, counts and flags that follow from the texts.
  function tidy() {
    const firstPlace = new Map();
    rows().forEach((row, index) => {
      const text = textOf(row);
      row.querySelector(".place").textContent = index + 1;
      row.querySelector("legend").textContent = `Importance of nugget ${index + 1}`;
      text.setAttribute("aria-label", `Text of nugget ${index + 1}`);
      showWords(row.querySelector(".words"), text.value);
      const fold = folded(text.value).toLowerCase();
      const first = firstPlace.get(fold);
      if (first === undefined) firstPlace.set(fold, index + 1);
      let same = row.querySelector(".same");
      row.querySelectorAll(".chip.warn:not(.words):not(.unset):not(.same)").forEach((chip) => chip.remove());
      if (fold && first) {
        if (!same) {
          same = document.createElement("span");
          same.className = "chip warn same";
          row.querySelector(".chips").append(same);
        }
        same.textContent = `same as ${first}`;
      } else if (same) same.remove();
      fit(text);
    });
    document.getElementById("count").textContent = rows().length;
    document.getElementById("count").classList.toggle("over", rows().length > Number(holder.dataset.most));
  }

  function showWords(chip, text) {
    const words = count(text);
    const label = `${words} word${words === 1 ? "" : "s"}`;
    if (chip.textContent !== label) chip.textContent = label;
    chip.classList.toggle("warn", words > advised);
  }

  function fit(text) {
    text.style.height = "auto";
    text.style.height = `${text.scrollHeight}px`;
  }

  // ---- what a person does ----
  function saveText(row) {
    const uid = row.dataset.uid;
    const text = folded(textOf(row).value);
    if (text === row.dataset.text) return dropDraft(uid);
    row.dataset.text = text;
    change(uid, "reword", { text }, { text });
    dropDraft(uid);
  }

  function setImportance(row, importance) {
    row.querySelector(`[data-part="${importance}"]`).checked = true;
    row.querySelector(".unset")?.remove();
    change(row.dataset.uid, "importance", { importance }, { importance });
  }

  function move(row, by) {
    const to = rows().indexOf(row) + by;
    if (to < 0 || to >= rows().length) return;
    const active = document.activeElement;
    const from = active.selectionStart;
    if (by < 0) rows()[to].before(row);
    else rows()[to].after(row);
    if (row.contains(active)) {
      active.focus();
      if (active.matches("textarea")) active.setSelectionRange(from, from);
    } else go(row);
    row.scrollIntoView({ block: "nearest" });
    tidy();
    change(row.dataset.uid, "move", { to }, {});
  }

  function remove(row) {
    const at = rows().indexOf(row);
    dropDraft(row.dataset.uid);
    row.remove();
    tidy();
    change(row.dataset.uid, "delete", {}, { text: row.dataset.text });
    const next = rows()[Math.min(at, rows().length - 1)];
    if (next) go(next);
    else newText.focus();
  }

  function addNugget() {
    const text = folded(newText.value);
    if (!text) return;
    const uid = assay.uuid();
    const row = document.getElementById("new-row").content.firstElementChild.cloneNode(true);
    row.id = `n-${uid}`;
    row.dataset.uid = uid;
    row.dataset.text = text;
    textOf(row).value = text;
    for (const radio of row.querySelectorAll("input[type=radio]")) radio.name = `importance-${uid}`;
    list().append(row);
    mark(row);
    change("", "add", { uid, text, docid: evidence ? evidence.dataset.docid : "" }, { uid, text });
    newText.value = "";
    setEvidence(null);
    dropDraft("new");
    typedNew();
    tidy();
    row.scrollIntoView({ block: "nearest" });
  }

  function setEvidence(passage) {
    evidence = passage;
    const chip = document.getElementById("new-passage");
    chip.hidden = !passage;
    chip.textContent = passage ? `from “${passage.querySelector("h3").textContent.trim()}”` : "";
  }

  function typedNew() {
    const chip = document.getElementById("new-words");
    chip.hidden = !folded(newText.value);
    showWords(chip, newText.value);
    fit(newText);
  }

  // Put everything typed into the outbox before something that depends on it.
  function saveAll() {
    rows().forEach(saveText);
  }

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
    const row = current();
    const next = row ? rows()[rows().indexOf(row) + by] : rows()[by > 0 ? 0 : rows().length - 1];
    go(next || row);
  }

  const acts = {
    next: () => step(1),
    previous: () => step(-1),
    vital: (row) => row && setImportance(row, "vital"),
    okay: (row) => row && setImportance(row, "okay"),
    edit: (row) => row && textOf(row).focus(),
    delete: (row) => row && remove(row),
    up: (row) => row && move(row, -1),
    down: (row) => row && move(row, 1),
    undo: () => (saveAll(), change("", "undo", {}, {})),
    redo: () => (saveAll(), change("", "redo", {}, {})),
    passages: () => goPassage(passage),
    nuggets: () => (rows().length ? go(current() || rows()[0]) : newText.focus()),
    finish: () => (saveAll(), (notices.replaceChildren(), drawRefused("Still to decide.", again)), change("", "finish", {}, {})),
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-act]");
    if (button) acts[button.dataset.act](current());
  });

  holder.addEventListener("focusin", (event) => {
    const row = event.target.closest(".nugget");
    if (row) mark(row);
  });
  holder.addEventListener("change", (event) => {
    const row = event.target.closest(".nugget");
    if (event.target.matches("input[type=radio]")) setImportance(row, event.target.value);
    else if (event.target.matches("textarea")) saveText(row);
  });
  const pauses = new Map();
  holder.addEventListener("input", (event) => {
    if (!event.target.matches("textarea")) return;
    const row = event.target.closest(".nugget");
    keepDraft(row.dataset.uid, event.target.value, row.dataset.text);
    tidy();
    clearTimeout(pauses.get(row));
    // A pause in typing saves too: nobody should have to leave the field for that.
    pauses.set(row, setTimeout(() => row.isConnected && saveText(row), 2000));
  });
  holder.addEventListener("keydown", (event) => {
    const row = event.target.closest(".nugget");
    if (!row || event.isComposing) return;
    if (event.target.matches("textarea") && (event.key === "Enter" || event.key === "Escape")) {
      event.preventDefault();
      saveText(row);
      go(row);
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
  newText.addEventListener("input", () => {
    keepDraft("new", newText.value, "");
    typedNew();
  });
  newText.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      addNugget();
    } else if (event.key === "Escape") {
      event.preventDefault();
      setEvidence(null);
      if (rows().length) go(current() || rows()[rows().length - 1]);
      else newText.blur();
    }
  });
  document.getElementById("add").addEventListener("submit", (event) => {
    event.preventDefault();
    addNugget();
  });

  // ---- what an earlier visit left ----
  tidy();
  await outbox.adopt();
  drawRefused("From an earlier visit:", again);
  for (const row of rows()) {
    const left = draft(row.dataset.uid);
    if (!left) continue;
    const uid = row.dataset.uid;
    if (left.was === row.dataset.text) {
      textOf(row).value = left.text;
      saveText(row);
    } else {
      const text = folded(left.text);
      dropDraft(uid);
      const about = { action: "reword", uid, text };
      showRefused([{ url: `${base}${uid}/reword/`, fields: { text }, about }], "You had typed this before.", again);
    }
  }
  const leftNew = draft("new");
  if (leftNew && leftNew.text) newText.value = leftNew.text;
  typedNew();
  tidy();
  outbox.send();
})();
