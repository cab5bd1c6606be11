// The nugget editor. What a person does shows at once and goes into the outbox; when all of it is saved, the list
// on screen is made to say what the server's says.
"use strict";

(async () => {
  const { folded, isUndecided, text: textOf, note: noteOf, evidence: evidenceOf, fields: fieldsOf } = assay.NuggetList;
  const main = document.getElementById("main");
  const base = main.dataset.base;
  const subject = `${main.dataset.person}.bank.${main.dataset.bank}`;
  const holder = document.querySelector(".nugget-list");
  const notices = document.getElementById("notices");
  const newText = document.getElementById("new-text"); // absent where nothing can be edited
  const reading = document.getElementById("own-reading");
  const storage = assay.storage;
  const tab = await assay.tab();

  const passages = new assay.Passages(document.getElementById("passages"));
  // Going back in the browser may fill fields as they were left, by their place on the page.
  for (const field of document.querySelectorAll("[data-field]")) field.value = field.dataset.saved;
  for (const input of main.querySelectorAll(".nugget-list input, #add input")) input.checked = input.defaultChecked;
  const list = newText && new assay.NuggetList(holder, passages, lost);
  let known = list && list.told; // the list as the server last told it
  const { effects, fieldOf, notesOf, showRead, same } = newText ? assay.effects(list, passages, reading) : {};

  const state =
    newText &&
    new assay.StateLine({
      decide: "decide what to do with the changes above the list.",
      isRefused: () => refused.changes.length > 0,
    });
  const tell = (text) => state.tell(text);

  // ---- refused changes: both versions, and a way to keep either ----
  const refused = new assay.Refused({
    name: `assay.refused.${subject}.${tab.name}`,
    notices,
    inWords,
    there: (change) => {
      const field = list && fieldOf(change.about);
      return field ? quote(field.dataset.saved) : "";
    },
    // An added nugget keeps its uid: the changes after it name it. What undo would take back now is another change.
    again(changes) {
      for (const { url, fields, about } of changes) {
        if (["undo", "redo", "finish"].includes(about.action)) continue;
        effects[about.action](about);
        outbox.add({ url, fields, about });
      }
    },
    canRedo: () => Boolean(newText),
    onChange() {
      state?.show();
      if (list && document.activeElement === document.body) acts.nuggets();
    },
  });

  // What tabs left that are closed is this tab's to show.
  function takeOver(prefix, take) {
    for (const name of storage.names(prefix)) {
      const [owner, ...rest] = name.slice(prefix.length).split(".");
      if (owner !== tab.name && tab.isOpen(owner)) continue;
      const left = storage.get(name);
      storage.remove(name);
      if (left) take(left, rest.join("."));
    }
  }

  const QUOTED = 300; // characters of a text that are shown where it is not the only place that has it
  const quote = (text) => `“${text.length > QUOTED ? `${text.slice(0, QUOTED)}…` : text}”`;
  const whole = (text) => `“${text}”`;

  function inWords({ about }, canRedo) {
    const row = list && about.uid && list.row(about.uid);
    const which = row ? `nugget ${list.place(row)}` : "a nugget";
    const passage = () => `“${passages.title((about.evidence || about).docid)}”`;
    return {
      add: () => `Add${about.importance ? `, ${about.importance}` : ""}: ${whole(about.text)}`,
      keep: () => `Keep ${which}`,
      reword: () => `Reword ${which} to: ${whole(about.text)}`,
      importance: () => `Make ${which} ${about.importance}`,
      move: () => `Move ${which}`,
      delete: () => `Delete ${which}: ${whole(about.text)}`,
      attach: () => `Add ${passage()} as evidence of ${which}`,
      detach: () => `Remove ${passage()} as evidence of ${which}`,
      merge: () => `Merge ${about.uids.length} nuggets into: ${whole(about.text)}`,
      split: () => `Split ${which} into: ${about.into.map(({ text }) => whole(text)).join(" and ")}`,
      note: () => `Note on ${which}: ${whole(about.text)}`,
      reading: () => `How I read the topic: ${whole(about.text)}`,
      read: () => `Mark ${passage()} as ${about.read ? "read" : "not read"}`,
      undo: () => `Undo${canRedo ? " (press it again if you still want it)" : ""}`,
      redo: () => `Redo${canRedo ? " (press it again if you still want it)" : ""}`,
      finish: () => "Finish",
    }[about.action]();
  }

  const ACTION_OF = { text: "reword", note: "note", reading: "reading" };
  const uidOf = (field) => field.closest(".nugget")?.dataset.uid || "";
  const aboutField = (field, text) => ({ action: ACTION_OF[field.dataset.field], uid: uidOf(field), text });
  const urlOf = (uid, action) => `${base}${uid ? `${uid}/` : ""}${action}/`;

  // What was typed in an earlier visit, as a change.
  function typedBefore(which, text) {
    const [first, second] = which.split(".");
    const action = { new: "add", reading: "reading", note: "note" }[first] || "reword";
    return { about: { action, uid: second || first, text: folded(text) } };
  }

  // A text being typed that the server's list overtook.
  function lost(field, typed) {
    const about = aboutField(field, typed);
    dropDraft(field);
    const change = { url: urlOf(about.uid, about.action), fields: { text: typed }, about };
    queueMicrotask(() => refused.add([change], "While you typed, this was changed elsewhere.", true));
  }

  // ---- a bank that can't be edited any more: only what could not be saved is to be seen ----
  if (!newText) {
    takeOver(`assay.refused.${subject}.`, (changes) => refused.take(changes));
    takeOver(`assay.outbox.${subject}.`, (changes) => refused.keep(changes, true)); // should the bank be reopened
    takeOver(`assay.draft.${subject}.`, (left, which) => refused.keep([typedBefore(which, left.text)], false));
    refused.draw("These nuggets are finished.");
    return;
  }

  // ---- what is typed is kept until it is in the outbox ----
  const draftNameOf = (which) => `assay.draft.${subject}.${tab.name}.${which}`;
  const draftName = (field) => draftNameOf({ text: uidOf(field), note: `note.${uidOf(field)}`, reading: "reading" }[field.dataset.field]);
  const dropDraft = (field) => storage.remove(draftName(field));
  const NEW = draftNameOf("new");

  // ---- saving ----
  const outbox = new assay.Outbox({
    subject,
    tab,
    version: Number(list.element.dataset.version),
    onAnswer(change, response, text, waiting) {
      if (response.headers.get("HX-Redirect")) return window.location.assign(response.headers.get("HX-Redirect"));
      handingIn(false);
      if (response.status === 422) {
        if (!waiting) show(known); // an answer before this one may not have been shown
        return showFindings(text);
      }
      const fresh = (known = JSON.parse(text));
      // What waits was done after this change and has seen nothing later.
      outbox.version = Number(waiting ? response.headers.get("X-Assay-Version") : fresh.about.version);
      if (waiting) return;
      const added = show(fresh);
      if (["undo", "redo"].includes(change.about.action) && added.length) list.go(added[0]);
    },
    onRefused(changes, response, text) {
      handingIn(false);
      if (response.status === 400) {
        // Nothing of it was done: the screen goes back to what the server has.
        if (outbox.changes.length === changes.length) {
          outbox.version = Number(known.about.version);
          show(known);
        }
        refused.add(changes, text, false);
        return;
      }
      const fresh = (known = JSON.parse(text));
      if (fresh.about.state !== "open") {
        refused.keep(changes, true); // should it be reopened
        setTimeout(() => window.location.reload(), 0); // the page of a finished bank shows them
        return;
      }
      outbox.version = Number(fresh.about.version);
      refused.keep(changes, true);
      show(fresh);
      refused.draw("This list was changed elsewhere meanwhile.");
    },
    onState(...told) {
      state.set(...told);
      if (told[0] === "saved" && finishing) setTimeout(finish); // the outbox is still at it
    },
  });

  const undoButton = document.querySelector('[data-act="undo"]');
  const redoButton = document.querySelector('[data-act="redo"]');

  function show(fresh) {
    const added = list.show(fresh);
    list.patchField(reading, fresh.about.reading);
    showRead();
    undoButton.disabled = list.element.dataset.undo !== "1";
    redoButton.disabled = list.element.dataset.redo !== "1";
    return added;
  }

  const NO_EDITS = ["note", "reading", "read", "finish"]; // undo does not touch them
  function change(uid, action, fields, about) {
    // What can be undone and redone is known for sure when the answer is here.
    if (!NO_EDITS.includes(action)) {
      undoButton.disabled = false;
      redoButton.disabled = !["undo", "redo"].includes(action);
    }
    const path = ["add", "merge"].includes(action) ? "" : uid;
    outbox.add({ url: urlOf(path, action), fields, about: { action, uid, ...about } });
  }

  // Do something: on screen at once, and into the outbox.
  function act(uid, action, fields, about) {
    effects[action]({ action, uid, ...about });
    change(uid, action, fields, about);
  }

  // ---- findings ----
  function showFindings(html) {
    document.getElementById("findings")?.remove();
    notices.insertAdjacentHTML("afterbegin", html); // rendered and escaped by the server
    const first = notices.querySelector("a[data-uid]");
    if (first) list.go(list.row(first.dataset.uid));
    else document.getElementById("findings").scrollIntoView({ block: "nearest" });
  }

  // Make the list of what is missing, while it stands, say what is missing now.
  function drawFindings() {
    const box = document.getElementById("findings");
    if (!box) return;
    const typed = folded(newText.value) ? [{ message: "A new nugget is typed but not added yet." }] : [];
    const [lacking, undecided] = [[...typed, ...list.missing], list.undecided];
    if (!lacking.length && !undecided.length) return box.remove();
    drawLines(box.querySelector("ul"), lacking);
    const drafts = box.querySelector("#still-undecided");
    if (!drafts) return; // where the server was not asked yet
    drafts.hidden = !undecided.length;
    drawLines(drafts.querySelector("ul"), undecided);
    for (const link of drafts.querySelectorAll("a")) link.dataset.undecided = "";
    drafts.querySelector("button").textContent = `Keep ${undecided.length === 1 ? "this" : "these"} ${undecided.length}`;
  }
  list.onTidy = () => {
    drawFindings();
    drawButtons();
  };

  function drawLines(lines, findings) {
    lines.hidden = !findings.length;
    const words = (all) => all.join("\n");
    if (words([...lines.children].map((line) => line.textContent)) === words(findings.map(({ message }) => message))) return;
    lines.replaceChildren(...findings.map(({ uid, message }) => {
      const line = document.createElement("li");
      if (!uid) line.textContent = message;
      else {
        const link = Object.assign(document.createElement("a"), { href: `#n-${uid}`, textContent: message });
        link.dataset.uid = uid;
        line.append(link);
      }
      return line;
    }));
  }

  notices.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-uid]");
    if (!link) return;
    event.preventDefault();
    list.go(list.row(link.dataset.uid));
  });

  // ---- what a person does ----
  function saveField(field) {
    const text = folded(field.value);
    dropDraft(field);
    if (text === field.dataset.saved) {
      if (state.name === "typing") state.set("saved", 0);
      return;
    }
    const about = aboutField(field, text);
    act(about.uid, about.action, { text }, { text });
  }

  const allFields = () => [reading, ...list.rows.flatMap(fieldsOf)];
  // Put everything typed into the outbox before something that depends on it.
  const saveAll = () => allFields().filter((field) => folded(field.value) !== field.dataset.saved).forEach(saveField);

  // On to the next draft to decide; where there is none, the person stays where they are.
  function advance(row) {
    const next = list.undecidedAfter(row);
    if (next) return list.go(next);
    list.arrange(null);
    list.go(row);
  }

  function keep(row) {
    if (!isUndecided(row)) return tell(`Nugget ${list.place(row)} is decided already.`);
    act(row.dataset.uid, "keep", {}, {});
    advance(row);
  }

  // Keep all drafts that Finish has listed, and try again.
  function keepAll() {
    const links = [...notices.querySelectorAll("#findings a[data-undecided]")];
    for (const row of links.map((link) => list.row(link.dataset.uid))) {
      if (row && isUndecided(row)) act(row.dataset.uid, "keep", {}, {});
    }
    finish();
  }

  function moveBy(row, by) {
    const beside = [...row.parentElement.children];
    moveTo(row, list.rows.indexOf(beside[beside.indexOf(row) + by]));
  }

  function moveTo(row, to) {
    if (to < 0 || to >= list.rows.length || to === list.rows.indexOf(row)) return;
    const active = document.activeElement;
    const cursor = active.matches("textarea") ? [active.selectionStart, active.selectionEnd] : null;
    fieldsOf(row).forEach(saveField);
    act(row.dataset.uid, "move", { to }, { to });
    if (row.contains(active)) {
      active.focus();
      if (cursor) active.setSelectionRange(...cursor);
    } else list.go(row);
    row.scrollIntoView({ block: "nearest" });
  }

  function remove(row) {
    const at = list.onScreen.indexOf(row);
    const next = isUndecided(row) && list.undecidedAfter(row);
    fieldsOf(row).forEach(saveField); // undo brings it back as it was typed
    act(row.dataset.uid, "delete", {}, { text: textOf(row).dataset.saved });
    if (list.rows.length) list.go(next || list.onScreen[Math.min(at, list.rows.length - 1)]);
    else undoButton.focus();
  }

  // Open a text for editing, all of it selected or the cursor at its end.
  function open(field, { select = false } = {}) {
    field.hidden = false;
    field.focus();
    if (select) field.select();
    else field.setSelectionRange(field.value.length, field.value.length);
  }

  let merged = ""; // the uid of the last merged one, whose text stands open
  function merge() {
    const rows = list.chosen;
    if (rows.length < 2) return tell(`Choose two or more nuggets first${assay.byKeys("x")}.`);
    if (rows.length > 100) return tell("At most 100 nuggets can be merged.");
    saveAll();
    const uids = rows.map((row) => row.dataset.uid);
    const [uid, text] = [assay.uuid(), rows.map((row) => textOf(row).dataset.saved).filter(Boolean).join("; ")];
    if (!text) return tell("Nuggets without a text can't be merged.");
    if (Math.max(text.length, notesOf(rows).length) > newText.maxLength) return tell("Together these texts or notes are too long for one nugget.");
    act(uid, "merge", { uid, uids: uids.join(" "), text }, { uids, text });
    merged = uid;
    open(textOf(list.row(uid)), { select: true });
  }

  // At the cursor where it was put inside the text; else after the first part of the sentence, or half way.
  function splitPoint(field) {
    const cursor = field.selectionStart;
    const text = field.value;
    if (cursor > 0 && cursor < text.length && folded(text.slice(0, cursor)) && folded(text.slice(cursor))) return [cursor, cursor];
    const joint = /[;,.]\s+(?:and\s+)?|\s+and\s+/iu.exec(text);
    if (joint && folded(text.slice(joint.index + joint[0].length))) return [joint.index, joint.index + joint[0].length];
    const blanks = [...text.matchAll(/\s+/gu)];
    const middle = blanks[Math.floor(blanks.length / 2)];
    return middle ? [middle.index, middle.index + middle[0].length] : null;
  }

  function split(row) {
    const field = textOf(row);
    const point = splitPoint(field);
    const parts = point ? [field.value.slice(0, point[0]), field.value.slice(point[1])].map(folded) : [];
    if (parts.length < 2 || !parts[0] || !parts[1]) return tell("One word can't be split.");
    saveAll();
    const into = parts.map((text) => ({ uid: assay.uuid(), text }));
    const fields = { uid1: into[0].uid, text1: into[0].text, uid2: into[1].uid, text2: into[1].text };
    act(row.dataset.uid, "split", fields, { into });
    open(textOf(list.row(into[0].uid)));
  }

  // ---- evidence ----
  const spanFields = ({ docid, start, end }) => ({ docid, start: start ?? "", end: end ?? "" });

  const placeOf = (evidence) =>
    `¶${passages.number(evidence.docid)}, ${evidence.start === null ? "the whole passage" : quote(passages.quote(evidence))}`;

  const askForWhole = document.getElementById("whole-passage");
  function attach(row) {
    if (passages.spansTwo) return tell("The selection spans two passages: select in one.");
    const evidence = passages.evidence();
    if (!evidence) return tell(`Select text in a passage first, or go to one${assay.byKeys("p")}.`);
    if (evidence.start !== null) return attachEvidence(row, evidence);
    document.getElementById("whole-passage-facts").textContent =
      `No text is selected in ¶${passages.number(evidence.docid)}. All of it would be evidence of nugget ${list.place(row)}: ${quote(textOf(row).value)}`;
    askForWhole.returnValue = "";
    askForWhole.addEventListener("close", () => {
      if (askForWhole.returnValue === "yes" && row.isConnected) attachEvidence(row, evidence);
    }, { once: true });
    askForWhole.showModal();
  }

  function attachEvidence(row, evidence) {
    const place = list.place(row);
    if (evidenceOf(row).some((one) => same(one, evidence))) return tell(`Nugget ${place} has this evidence already.`);
    act(row.dataset.uid, "attach", spanFields(evidence), { evidence });
    row.scrollIntoView({ block: "nearest" });
    tell(`Evidence of nugget ${place}: ${placeOf(evidence)}`);
  }

  function detach(row, at) {
    const evidence = evidenceOf(row)[at];
    act(row.dataset.uid, "detach", spanFields(evidence), { evidence });
    row.focus();
  }

  // Each press goes to the next place that the nugget rests on.
  let shownPlace = { uid: "", at: -1 };
  function where(row, at) {
    const all = evidenceOf(row);
    if (!all.length) return tell("This nugget has no evidence yet.");
    const next = shownPlace.uid === row.dataset.uid ? (shownPlace.at + 1) % all.length : 0;
    shownPlace = { uid: row.dataset.uid, at: at ?? next };
    list.mark(row);
    passages.goTo(all[shownPlace.at]);
  }

  // ---- the new nugget ----
  let source = null; // what the new nugget rests on

  function setSource(evidence) {
    source = evidence;
    const chip = document.getElementById("new-passage");
    chip.hidden = !evidence;
    chip.textContent = evidence ? `from ${placeOf(evidence)}` : "";
    assay.highlight("source", evidence ? [passages.range(evidence)].filter(Boolean) : []);
  }

  function typedNew() {
    const text = folded(newText.value);
    const chip = document.getElementById("new-words");
    chip.hidden = !text;
    list.countWords(chip, text);
    assay.fit(newText);
    if (text) storage.set(NEW, { text: newText.value, source, importance: newImportance() });
    else storage.remove(NEW);
    drawFindings();
  }

  const newImportance = () => document.querySelector("#add input:checked")?.value || "";
  function setNewImportance(importance) {
    for (const radio of document.querySelectorAll("#add input")) radio.checked = radio.value === importance;
  }

  function addNugget() {
    const text = folded(newText.value);
    if (!text) return tell("Nothing is typed yet.");
    const uid = assay.uuid();
    const importance = newImportance();
    act(uid, "add", { uid, text, importance, ...(source ? spanFields(source) : {}) }, { text, importance, evidence: source });
    list.mark(list.row(uid));
    list.row(uid).scrollIntoView({ block: "nearest" });
    newText.value = "";
    setSource(null);
    setNewImportance("");
    typedNew();
  }

  function takeSelection() {
    if (passages.spansTwo) tell("The selection spans two passages: no evidence was taken.");
    const evidence = passages.spansTwo ? null : passages.evidence();
    if (!evidence) return;
    setSource(evidence);
    if (folded(newText.value)) return; // what is typed already stays
    newText.value = folded(passages.quote(evidence)).slice(0, newText.maxLength);
    typedNew();
    queueMicrotask(() => newText.select()); // ready to be typed over
  }

  // A new nugget from what is selected, by whatever way.
  function make() {
    takeSelection();
    newText.focus();
  }

  newText.addEventListener("assay:key", takeSelection);
  // A click into the field would drop what is selected in a passage.
  newText.addEventListener("mousedown", (event) => {
    if (!passages.selection()) return;
    event.preventDefault();
    make();
  });
  newText.addEventListener("input", typedNew);
  newText.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "Enter") {
      event.preventDefault();
      addNugget();
    } else if (event.key === "Escape") {
      event.preventDefault();
      const from = source && passages.byDocid.get(source.docid);
      // A quotation that was not touched is not something typed.
      if (source && folded(newText.value) === folded(passages.quote(source))) newText.value = "";
      setSource(null);
      if (!newText.value) setNewImportance("");
      typedNew();
      if (from) passages.go(from);
      else if (list.rows.length) list.go(list.current || list.rows[list.rows.length - 1]);
      else passages.go(passages.current);
      const row = document.activeElement.closest(".nugget");
      const now = row ? `Nugget ${list.place(row)} can be made vital or okay${assay.byKeys("v", "o")}.` : "You are in the passage.";
      tell(`You left the field${newText.value ? "; its text stays" : ""}. ${now}`);
    }
  });
  document.getElementById("add").addEventListener("submit", (event) => {
    event.preventDefault();
    if (!folded(newText.value)) {
      if (!passages.selection()) tell("Type a nugget, or select words in a passage first.");
      return make();
    }
    if (passages.selection()) setSource(passages.evidence());
    addNugget();
    document.getSelection().removeAllRanges(); // the next nugget is from another place
  });

  // ---- handing in ----
  let finishing = false; // asked for, and waiting until all else is saved

  function handingIn(isOn) {
    for (const part of [holder, document.getElementById("add"), reading]) part.inert = isOn;
  }

  function handIn() {
    handingIn(true);
    change("", "finish", {}, {});
  }

  function finish() {
    finishing = false;
    if (refused.changes.length) {
      document.querySelector("#refused button").focus();
      return tell("Decide first about the changes above the list.");
    }
    saveAll();
    if (outbox.changes.length) {
      finishing = true;
      return tell("Saving first…");
    }
    if (folded(newText.value)) {
      showFindings('<div id="findings" class="message error" role="alert"><p>Not finished yet:</p><ul></ul></div>');
      drawFindings();
      newText.focus();
      return;
    }
    const ready = list.rows.length && list.rows.every((row) => row.querySelector("input[type=radio]:checked") && textOf(row).dataset.saved);
    if (!ready) return handIn(); // the server says exactly what is lacking
    const number = (selector) => list.element.querySelectorAll(selector).length;
    const facts = [`${list.rows.length} nugget${list.rows.length === 1 ? "" : "s"}: ${number('input[value="vital"]:checked')} vital, ${number('input[value="okay"]:checked')} okay.`];
    if (number(".same:not([hidden])")) facts.push(`${number(".same:not([hidden])")} with the same words as another.`);
    if (number(".words.warn")) facts.push(`${number(".words.warn")} with more than ${list.advised} words.`);
    const bare = list.rows.filter((row) => !evidenceOf(row).length).length;
    if (bare) facts.push(`${bare} without evidence.`);
    document.getElementById("finish-facts").textContent = facts.join(" ");
    document.getElementById("finish").showModal();
  }
  document.getElementById("finish").addEventListener("close", (event) => {
    if (event.target.returnValue === "yes") handIn();
    event.target.returnValue = "";
  });

  // ---- keys and buttons ----
  function step(by) {
    if (passages.focused) return passages.extend(passages.focused, by);
    const row = list.current;
    const rows = list.onScreen;
    const next = row ? rows[rows.indexOf(row) + by] : rows.at(by > 0 ? 0 : -1);
    list.go(next || row);
  }

  function sentence(by) {
    if (!passages.focused) passages.go(passages.current);
    if (passages.focused) passages.move(passages.focused, by);
  }

  function markRead() {
    const article = passages.focused;
    if (!article) return tell(`Go to a passage first${assay.byKeys("p")}.`);
    const read = !article.hasAttribute("data-read");
    act("", "read", { docid: article.dataset.docid, read: read ? "1" : "0" }, { docid: article.dataset.docid, read });
  }

  function again(action) {
    saveAll();
    change("", action, {}, {});
    if (state.name === "offline") tell("Undo and redo show when the server answers.");
  }

  const ofNugget = {
    keep,
    vital: (row) => act(row.dataset.uid, "importance", { importance: "vital" }, { importance: "vital" }),
    okay: (row) => act(row.dataset.uid, "importance", { importance: "okay" }, { importance: "okay" }),
    reword: (row) => open(textOf(row)),
    comment: (row) => open(noteOf(row)),
    choose: (row) => (row.querySelector(".chosen").checked = !row.querySelector(".chosen").checked),
    split,
    delete: remove,
    up: (row) => moveBy(row, -1),
    down: (row) => moveBy(row, 1),
  };
  // These are about a passage and a nugget at once, so they work from either side.
  const ofBoth = { attach, where, detach };
  const acts = {
    next: () => step(1),
    previous: () => step(-1),
    nextPassage: () => (passages.focused ? passages.step(1) : passages.go(passages.current)),
    previousPassage: () => passages.step(-1),
    nextSentence: () => sentence(1),
    previousSentence: () => sentence(-1),
    read: markRead,
    undo: () => again("undo"),
    redo: () => again("redo"),
    nuggets: () => (list.rows.length ? list.go(list.current || list.onScreen[0]) : newText.focus()),
    make,
    merge,
    keepAll,
    finish,
  };

  // Until an undo is answered nobody can know what the list will be.
  const NEEDS_THE_LIST = ["keep", "keepAll", "vital", "okay", "split", "delete", "up", "down", "attach", "detach", "merge"];
  const undoWaits = () => outbox.changes.some(({ about }) => ["undo", "redo"].includes(about.action));

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-act]");
    if (!button) return;
    const name = button.dataset.act;
    const row = button.closest(".nugget") || list.current;
    if (NEEDS_THE_LIST.includes(name) && undoWaits()) return tell("Undo waits for the server: press the key again.");
    if (name === "delete" && row && !document.activeElement.closest("#nuggets, .nugget")) {
      list.go(row);
      return tell("This nugget? Press d again to delete it.");
    }
    if (acts[name]) acts[name]();
    else if (!row && !list.rows.length) tell(`There is no nugget yet: write one first${assay.byKeys("n")}.`);
    else if (!row) tell(`Choose a nugget first${assay.byKeys("l")}.`);
    else if (ofBoth[name]) ofBoth[name](row, button.dataset.at && Number(button.dataset.at));
    // Nobody who reads a passage means a nugget that is out of sight.
    else if (passages.focused) tell(`You are in a passage: go to the nuggets first${assay.byKeys("l")}.`);
    else ofNugget[name]?.(row);
    drawButtons();
  });

  // A button that can do nothing now looks so; it can still be pressed, and then says what is lacking.
  const ofCurrent = (row) => row && !passages.focused;
  const canDo = {
    keep: (row) => ofCurrent(row) && isUndecided(row),
    vital: ofCurrent,
    okay: ofCurrent,
    reword: ofCurrent,
    comment: ofCurrent,
    choose: ofCurrent,
    merge: () => list.chosen.length > 1,
    split: (row) => ofCurrent(row) && folded(textOf(row).value).includes(" "),
    delete: (row) => row,
    up: (row) => ofCurrent(row) && row.previousElementSibling,
    down: (row) => ofCurrent(row) && row.nextElementSibling,
    attach: (row) => row && (passages.focused || passages.selection()),
    where: (row) => row && evidenceOf(row).length,
    next: (row) => passages.focused || row !== list.onScreen.at(-1),
    previous: (row) => passages.focused || (list.rows.length && row !== list.onScreen[0]),
    nextPassage: () => !passages.focused || passages.current !== passages.articles.at(-1),
    previousPassage: () => passages.current !== passages.articles[0],
    read: () => passages.focused,
  };
  const buttons = [...document.querySelectorAll(":is(.keys-row, .keys-bar, #selected) [data-act]")].filter(({ dataset }) => canDo[dataset.act]);
  let isDrawing = false;
  function drawButtons() {
    if (isDrawing) return;
    isDrawing = true;
    requestAnimationFrame(() => {
      isDrawing = false;
      const row = list.current;
      for (const button of buttons) {
        const disabled = String(!canDo[button.dataset.act](row));
        if (button.getAttribute("aria-disabled") !== disabled) button.setAttribute("aria-disabled", disabled);
      }
    });
  }
  for (const name of ["focusin", "focusout", "selectionchange", "input"]) document.addEventListener(name, drawButtons);
  // A button pressed with the mouse takes neither the focus nor the selection away from where the person is at.
  main.addEventListener("mousedown", (event) => {
    if (event.target.closest(".keys-row [data-act], #selected, #add :is(.importance, button)")) event.preventDefault();
  });

  // The bar at what is selected with a mouse or a finger. By keys, it would cover what is read next.
  const bar = document.getElementById("selected");
  let pointer = "";
  function placeBar() {
    const span = pointer === "up" && passages.selection();
    bar.hidden = !span;
    if (!span) return;
    const lines = document.getSelection().getRangeAt(0).getClientRects();
    const last = lines[lines.length - 1];
    const below = last.bottom + bar.offsetHeight + 8 < window.innerHeight;
    bar.style.top = `${below ? last.bottom + 8 : Math.max(0, lines[0].top - bar.offsetHeight - 8)}px`;
    bar.style.left = `${Math.max(4, Math.min(last.right - bar.offsetWidth, window.innerWidth - bar.offsetWidth - 4))}px`;
  }
  for (const [name, now] of [["pointerdown", "down"], ["pointerup", "up"], ["pointercancel", "up"], ["keydown", ""]]) {
    document.addEventListener(name, (event) => {
      if (bar.contains(event.target)) return;
      pointer = now;
      setTimeout(placeBar); // a click may have dropped the selection
    });
  }
  document.addEventListener("selectionchange", placeBar);
  document.addEventListener("scroll", placeBar, true);

  holder.addEventListener("focusin", (event) => {
    const row = event.target.closest(".nugget");
    if (row) list.mark(row);
  });
  main.addEventListener("change", (event) => {
    const row = event.target.closest(".nugget");
    if (event.target.matches("#add input")) typedNew();
    else if (event.target.matches("input[type=radio]")) ofNugget[event.target.value](row);
    else if (event.target.matches("[data-field]")) saveField(event.target);
  });
  // A note that stays empty goes out of sight again.
  holder.addEventListener("focusout", (event) => {
    if (event.target.matches("[data-field=note]")) event.target.hidden = !event.target.value;
  });

  // A pause in typing saves too: nobody should have to leave the field for that. Not while a character is composed.
  const pauses = new WeakMap();
  const composing = new WeakSet();
  function typed(field) {
    storage.set(draftName(field), { text: field.value, was: field.dataset.saved });
    if (folded(field.value) !== field.dataset.saved && state.name === "saved") state.set("typing", 0);
    list.tidy();
    assay.fit(field);
    clearTimeout(pauses.get(field));
    pauses.set(field, setTimeout(() => field.isConnected && !composing.has(field) && saveField(field), 2000));
  }
  main.addEventListener("input", (event) => event.target.matches("[data-field]") && typed(event.target));
  main.addEventListener("compositionstart", (event) => composing.add(event.target));
  main.addEventListener("compositionend", (event) => {
    composing.delete(event.target);
    if (event.target.matches("[data-field]")) typed(event.target);
  });
  main.addEventListener("keydown", (event) => {
    if (event.isComposing || !["Enter", "Escape"].includes(event.key)) return;
    const row = event.target.closest(".nugget");
    if (event.target.matches("[data-field]")) {
      event.preventDefault();
      const deciding = row && event.key === "Enter" && (row.parentElement.id === "undecided" || row.dataset.uid === merged);
      saveField(event.target);
      if (deciding && event.target.dataset.field === "text" && !isUndecided(row)) {
        merged = "";
        advance(row);
      } else if (row) list.go(row);
      else if (list.rows.length) list.go(list.current || list.rows[0]);
      else passages.go(passages.current); // not into the next field: the next key is not text
    } else if (row && event.target === row && event.key === "Enter") {
      event.preventDefault();
      open(textOf(row));
    } else if (passages.focused && event.key === "Escape") {
      passages.clear(passages.focused, passages.next.get(passages.focused) || 0);
    }
  });

  list.onDrop = moveTo;

  // ---- what an earlier visit left ----
  for (const row of list.rows) list.drawEvidence(row);
  list.tidy();
  showRead();
  for (const { about } of outbox.changes) effects[about.action]?.(about);
  takeOver(`assay.refused.${subject}.`, (changes) => refused.take(changes));
  refused.draw("From an earlier visit:");
  takeOver(`assay.draft.${subject}.`, (left, which) => {
    const field = allFields().find((one) => draftName(one) === draftNameOf(which));
    if (which === "new" && !newText.value) {
      newText.value = left.text;
      setSource(left.source && passages.byDocid.has(left.source.docid) ? left.source : null);
      setNewImportance(left.importance || "");
    } else if (!field) {
      refused.add([typedBefore(which, left.text)], "Typed before, on a nugget that is not on the list any more:", false);
    } else if (left.was === field.dataset.saved) {
      field.value = left.text;
      saveField(field);
    } else if (folded(left.text) !== field.dataset.saved) lost(field, folded(left.text));
  });
  typedNew();
  new assay.Search(document.getElementById("search"), passages);
  if (!storage.works) {
    const warning = document.createElement("p");
    warning.className = "message warning";
    warning.textContent = "This browser does not let Assay keep changes: don't close this page before it says Saved.";
    notices.append(warning);
  }
  for (const field of main.querySelectorAll("textarea[disabled], #add [disabled]")) field.disabled = false;
  main.dataset.ready = "1";
  passages.layOutAll();
  state.show();
  outbox.send();
})();
