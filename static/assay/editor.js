// The nugget editor. What a person does shows at once and goes into the outbox; when all of it is saved, the list
// on screen is made to say what the server's says.
(async () => {
  const main = document.getElementById("main");
  const subject = `${main.dataset.installation}.${main.dataset.person}.bank.${main.dataset.bank}`;
  const holder = document.querySelector(".nugget-list");
  const form = document.getElementById("add"); // absent where nothing can be edited
  const tab = await assay.tab();
  const { rowOf, rowsOnScreen, currentRow, textOf, noteOf, fieldsOf, isUndecided, folded, isTyped } = assay;

  const passages = new assay.Passages(document.getElementById("passages"));
  const list = new assay.NuggetList(holder, passages, { onLost: (field) => lost(aboutTyped(field)), onDrop: moveTo });
  const state = form && new assay.StateLine({ isRefused: () => refused.changes.length > 0 });
  const tell = (name, told) => state.tell(assay.say(name, told));

  // A text where that is not the only place that has it.
  const quote = (text) => `“${text.length > 300 ? `${text.slice(0, 300)}…` : text}”`;

  // ---- refused changes: both versions, and a way to keep either ----
  const refused = new assay.Refused({
    subject,
    tab,
    inWords,
    there({ about }) {
      const field = about.action !== "gold_add" && fieldOf(about);
      return field ? quote(field.dataset.saved) : "";
    },
    // An added nugget keeps its uid: the changes after it name it. What undo would take back now is another change.
    again(changes) {
      for (const { url, fields, about } of changes) {
        if (!["undo", "redo", "finish"].includes(about.action)) carryOut({ url, fields, about });
      }
    },
    canRedo: () => Boolean(form),
    onChange() {
      state?.show();
      if (form && document.activeElement === document.body) acts.nuggets();
    },
  });

  function inWords({ about }, canRedo) {
    const { action, uid, uids, importance, aggregator, into: [one, other] = [] } = about;
    const row = rowOf(uid);
    const isBack = about.read === false || about.deeper === false;
    return assay.say(`change-${isBack ? "un" : ""}${action}`, {
      ...about,
      how: aggregator && assay.say(aggregator),
      nugget: row ? assay.say("this-nugget", { place: list.place(row) }) : assay.say("a-nugget"),
      passage: passages.title((about.evidence || about).docid),
      rated: importance ? `, ${importance}` : "",
      number: uids?.length,
      one: one?.text,
      other: other?.text,
      again: canRedo ? assay.say("press-again") : "",
    });
  }

  // ---- what is typed is kept until it is in the outbox ----
  const drafts = new assay.Shelf("draft", subject, tab);

  // What is typed into a field, as a change.
  function aboutTyped(field) {
    const uid = field.closest(".nugget")?.dataset.uid || "";
    const { field: action, gold } = field.dataset;
    return { action, uid, ...(gold && { gold }), text: folded(field.value) };
  }

  // The field that a change is about, if it is about one.
  const fieldOf = ({ action, uid, gold }) =>
    main.querySelector(`${uid ? `#n-${uid} ` : ""}[data-field="${action}"]${gold ? `[data-gold="${gold}"]` : ""}`);

  // Keep what is typed in the place of what was typed there before; none: only forget that.
  function keepDraft(of, draft) {
    const isOfOther = ({ about }) => ["action", "uid", "gold"].some((part) => about[part] !== of[part]);
    const others = drafts.changes.filter(isOfOther);
    drafts.changes = draft ? [...others, { about: draft }] : others;
  }

  // A text being typed that the server's list overtook.
  function lost(about) {
    const { action, uid, ...fields } = about;
    refused.keep([{ url: urlOf(about), fields, about }], true);
    keepDraft(about);
    queueMicrotask(() => refused.draw(assay.say("typed-meanwhile")));
  }

  // Of a bank that can't be edited any more, only what could not be saved is to be seen.
  if (!form) {
    refused.take("outbox", true); // should the bank be reopened
    refused.take("draft", false);
    return refused.claim(assay.say("finished"));
  }

  // ---- saving ----
  let known = JSON.parse(document.getElementById("known").dataset.list); // the list as the server last told it
  let shown = known; // the list on screen
  const outbox = new assay.Outbox({
    subject,
    tab,
    versions: { "": known.about.version },
    onAnswer({ about }, response, text, waiting) {
      if (response.headers.get("HX-Redirect")) return window.location.assign(response.headers.get("HX-Redirect"));
      handingIn(false);
      known = JSON.parse(text);
      // What waits was done after this change and has seen nothing later.
      outbox.versions[""] = waiting ? Number(response.headers.get("X-Assay-Version")) : known.about.version;
      const added = waiting ? [] : show(known);
      if (["undo", "redo"].includes(about.action)) list.go(added[0]);
      if (response.status === 422) showFindings();
    },
    onRefused(changes, response, text) {
      handingIn(false);
      const isStale = response.status === 409;
      if (isStale) known = JSON.parse(text);
      refused.keep(changes, isStale); // those of a finished bank too: it may be reopened
      if (known.about.state !== "open") return setTimeout(() => window.location.reload()); // its page shows them
      // Nothing of it was done: the screen goes back to what the server has.
      if (outbox.changes.length === changes.length) {
        outbox.versions[""] = known.about.version;
        show(known);
      }
      refused.draw(isStale ? assay.say("changed-elsewhere") : text);
    },
    onState(name, ...told) {
      state.set(name, ...told);
      if (name === "saved" && finishing) setTimeout(acts.finish); // the outbox is still at it
    },
  });

  function show(fresh) {
    shown = fresh;
    for (const name of ["undo", "redo"]) document.querySelector(`[data-act=${name}]`).disabled = !shown.about[name];
    const added = list.show(shown);
    drawFindings();
    drawButtons();
    return added;
  }

  function urlOf({ action, uid }) {
    const isOfOne = uid && !["add", "merge"].includes(action);
    return `${main.dataset.base}${isOfOne ? `${uid}/` : ""}${action}/`;
  }

  function carryOut(change) {
    show(assay.effect(shown, change.about));
    outbox.add(change);
  }

  // told: what was done, for the page; fields: for the server.
  function act(action, uid = "", told = {}, fields = told) {
    const about = { action, uid, ...told };
    carryOut({ url: urlOf(about), fields, about });
  }

  // ---- what keeps the list from being handed in: on screen from a Finish on, until nothing does ----
  const findings = document.getElementById("findings");
  let drawn = "";
  function drawFindings(isShown = !findings.hidden) {
    const isTypedNew = folded(newText.value) !== "";
    findings.hidden = !isShown || !(isTypedNew || known.findings);
    document.getElementById("typed-new").hidden = !isTypedNew;
    // Rendered and escaped by the server; what is the same is not read out again.
    if (drawn !== known.findings) findings.lastElementChild.innerHTML = drawn = known.findings;
  }

  function showFindings() {
    drawFindings(true);
    const first = findings.querySelector("a");
    if (first) list.go(document.querySelector(first.hash));
    else findings.scrollIntoView({ block: "nearest" });
  }

  // ---- what a person does ----
  function saveField(field) {
    const about = aboutTyped(field);
    const { action, uid, ...told } = about;
    if (isTyped(field)) {
      if (action === "gold_add") field.value = "";
      act(action, uid, told);
    } else if (state.name === "typing") state.set("saved", 0);
    keepDraft(about);
  }

  // Put everything typed into the outbox before something that depends on it.
  const saveAll = () => [list.reading, ...list.rows.flatMap(fieldsOf)].filter(isTyped).forEach(saveField);

  // On to the next draft to decide; where there is none, the person stays where they are.
  function advance(row) {
    const next = list.undecidedAfter(row);
    if (!next) list.arrange(null);
    list.go(next || row);
  }

  // Out of a field of a row: to the gold answer that a person is at, or else to the row.
  function leave(row) {
    const { answer } = list;
    if (answer && row.contains(answer)) answer.focus();
    else list.go(row);
  }

  function moveTo(row, to) {
    if (to < 0 || to === list.rows.indexOf(row)) return;
    fieldsOf(row).forEach(saveField);
    act("move", row.dataset.uid, { to });
    if (!row.contains(document.activeElement)) list.go(row);
    row.scrollIntoView({ block: "nearest" });
  }

  function open(field) {
    field.hidden = false;
    field.focus();
    field.setSelectionRange(field.value.length, field.value.length);
  }

  // A text in two: at the cursor inside the text; else after the first part of the sentence, or half way.
  function halves({ value, selectionStart }) {
    const blanks = [...value.trimEnd().matchAll(/\s+/gu)];
    const joint = /[;,.]\s+(?:and\s+)?|\s+and\s+/iu.exec(value);
    return [{ index: selectionStart, 0: "" }, joint, blanks[Math.floor(blanks.length / 2)]]
      .filter(Boolean)
      .map(({ index, 0: cut }) => [value.slice(0, index), value.slice(index + cut.length)].map(folded))
      .find(([one, other]) => one && other);
  }

  // ---- evidence ----
  const spanFields = ({ docid, start, end }) => ({ docid, start: start ?? "", end: end ?? "" });

  function placeOf(evidence) {
    const place = evidence.start === null ? assay.say("all-of-it") : quote(passages.quote(evidence));
    return `¶${passages.number(evidence.docid)}, ${place}`;
  }

  // The places that a nugget or a gold answer (a row, or an answer in it) rests on, and what changes them.
  const isAnswer = (element) => element.matches(".gold-answer");
  const placesOf = (element) => (isAnswer(element) ? element.references : element.nugget.evidence);
  const nameOf = (element, name, nameOfAnswer) => (isAnswer(element) ? nameOfAnswer : name);

  function changePlaces(row, element, action, evidence) {
    const { gold } = element.dataset;
    act(action, row.dataset.uid, { ...(gold && { gold }), evidence }, { ...(gold && { gold }), ...spanFields(evidence) });
  }

  function attach(row, element, text) {
    const evidence = passages.evidence();
    const told = { place: list.place(row), evidence: placeOf(evidence) };
    const isThere = placesOf(element).some((one) => assay.isSamePlace(one, evidence));
    if (isThere) return tell(nameOf(element, "evidence-already", "reference-already"), told);
    const add = () => {
      if (!element.isConnected) return;
      changePlaces(row, element, nameOf(element, "attach", "gold_cite"), evidence);
      element.scrollIntoView({ block: "nearest" });
      tell(nameOf(element, "evidence-taken", "reference-taken"), { ...told, place: list.place(row) });
    };
    if (evidence.start !== null) return add();
    const asked = { ...told, number: passages.number(evidence.docid), text: quote(text) };
    assay.ask("whole-passage", assay.say(nameOf(element, "whole-passage", "whole-passage-of-answer"), asked), add);
  }

  function detach(row, element, at) {
    changePlaces(row, element, nameOf(element, "detach", "gold_uncite"), placesOf(element)[at]);
    element.focus();
  }

  // Each press goes to the next place.
  let lastPlace = [null, -1]; // of what, and which of its places was gone to last
  function where(row, element, at = lastPlace[0] === element ? lastPlace[1] + 1 : 0) {
    const places = placesOf(element);
    lastPlace = [element, at % places.length];
    list.mark(row, isAnswer(element) ? element : null);
    passages.goTo(places[lastPlace[1]]);
  }

  // ---- questions that are parts of others ----
  function nest(row, deeper) {
    act("nest", row.dataset.uid, { deeper }, { deeper: Number(deeper) });
    row.scrollIntoView({ block: "nearest" });
  }

  // Why a question can't be put under the one above it.
  function whyNotDeeper(row) {
    const { levels } = list;
    const level = levels.get(row.dataset.uid);
    const before = list.rows[list.rows.indexOf(row) - 1];
    if (!before || levels.get(before.dataset.uid) < level) return ["none-above"];
    return list.isDeepest(row) && ["deepest"];
  }

  // ---- the new nugget ----
  const newText = document.getElementById("new-text");
  const newImportance = form.elements["new-importance"];
  let source = null; // what the new nugget rests on

  function setSource(evidence) {
    source = evidence;
    const from = evidence ? assay.say("from", { place: placeOf(evidence) }) : "";
    document.getElementById("new-passage").textContent = from;
    assay.highlight("source", evidence ? [passages.range(evidence)].filter(Boolean) : []);
  }

  function typedNew() {
    const text = folded(newText.value);
    const chip = document.getElementById("new-words");
    chip.hidden = !text;
    list.countWords(chip, text);
    const draft = { action: "add", uid: "", text: newText.value, source, importance: newImportance.value };
    keepDraft(draft, text && draft);
    drawFindings();
  }

  function addNugget() {
    const text = folded(newText.value);
    if (!text) return tell("nothing-typed");
    const uid = assay.uuid();
    const importance = newImportance.value;
    const span = source ? spanFields(source) : {};
    act("add", uid, { text, importance, evidence: source }, { uid, text, importance, ...span });
    list.mark(rowOf(uid));
    rowOf(uid).scrollIntoView({ block: "nearest" });
    form.reset();
    setSource(null);
    typedNew();
  }

  function leaveNew() {
    const from = source && passages.byDocid.get(source.docid);
    // A quotation that was not touched is not something typed.
    if (source && folded(newText.value) === folded(passages.quote(source))) newText.value = "";
    setSource(null);
    if (!newText.value) form.reset();
    typedNew();
    if (from) passages.go(from);
    else goBack(list.rows.at(-1));
    const row = document.activeElement.closest(".nugget");
    const left = assay.say(newText.value ? "left-text" : "left-field");
    tell(row ? "left-to-nugget" : "left-to-passage", { left, place: row && list.place(row) });
  }

  // Out of a field that belongs to no nugget: not into the next field, since the next key is not text.
  function goBack(row) {
    if (row) list.go(currentRow() || row);
    else passages.go(passages.current);
  }

  // Before a click into the field makes a nugget from what is selected in a passage, it would drop that.
  newText.addEventListener("mousedown", (event) => passages.selection() && event.preventDefault());
  form.addEventListener("input", typedNew);
  form.addEventListener("submit", () => {
    if (!folded(newText.value)) {
      if (!passages.selection()) tell("type-or-select");
      return acts.make();
    }
    if (passages.selection()) setSource(passages.evidence());
    addNugget();
    document.getSelection().removeAllRanges(); // the next nugget is from another place
  });

  // ---- handing in ----
  let finishing = false; // asked for, and waiting until all else is saved

  function handingIn(isOn) {
    for (const part of [holder, form, list.reading]) part.inert = isOn;
  }

  function handIn() {
    handingIn(true);
    act("finish");
  }

  // ---- keys and buttons ----
  function step(by) {
    if (passages.focused) return passages.extend(passages.focused, by);
    const row = currentRow();
    const rows = rowsOnScreen();
    const next = row ? rows[rows.indexOf(row) + by] : rows.at(by > 0 ? 0 : -1);
    list.go(next || row);
  }

  function sentence(by) {
    if (!passages.focused) passages.go(passages.current);
    if (passages.focused) passages.move(passages.focused, by);
  }

  function again(action) {
    saveAll();
    act(action);
    if (state.name === "offline") tell("undo-later");
  }

  const chosenRows = () => list.rows.filter((row) => row.querySelector(".chosen").checked);
  let merged = ""; // the uid of the last merged one, whose text stands open
  const ofNugget = {
    keep(row) {
      act("keep", row.dataset.uid);
      advance(row);
    },
    vital: (row) => act("importance", row.dataset.uid, { importance: "vital" }),
    okay: (row) => act("importance", row.dataset.uid, { importance: "okay" }),
    reword: (row) => open(textOf(row)),
    comment: (row) => open(noteOf(row)),
    choose: (row) => row.querySelector(".chosen").click(),
    split(row) {
      const parts = halves(textOf(row));
      saveAll();
      const [one, other] = parts.map((text) => ({ uid: assay.uuid(), text }));
      const fields = { uid1: one.uid, text1: one.text, uid2: other.uid, text2: other.text };
      act("split", row.dataset.uid, { into: [one, other] }, fields);
      open(textOf(rowOf(one.uid)));
    },
    up: (row) => moveTo(row, list.beside(row, -1)),
    down: (row) => moveTo(row, list.beside(row, 1)),
    answer: (row) => open(row.querySelector("[data-field=gold_add]")),
    aggregate: (row) => ofNugget[row.nugget.aggregator === "AND" ? "OR" : "AND"](row),
    OR: (row) => act("aggregate", row.dataset.uid, { aggregator: "OR" }),
    AND: (row) => act("aggregate", row.dataset.uid, { aggregator: "AND" }),
    deeper: (row) => nest(row, true),
    higher: (row) => nest(row, false),
  };
  // These are about a passage and a nugget at once, or ask first, so they work from either side.
  const ofBoth = {
    delete(row) {
      if (!document.activeElement.closest("#nuggets, .nugget")) {
        list.go(row);
        return tell("delete-this");
      }
      const at = rowsOnScreen().indexOf(row);
      const next = isUndecided(row) && list.undecidedAfter(row);
      fieldsOf(row).forEach(saveField); // undo brings it back as it was typed
      act("delete", row.dataset.uid, { text: textOf(row).dataset.saved }, {});
      if (list.rows.length) list.go(next || rowsOnScreen()[Math.min(at, list.rows.length - 1)]);
      else document.querySelector("[data-act=undo]").focus();
    },
    attach: (row) => attach(row, row, textOf(row).value),
    detach: (row, at) => detach(row, row, at),
    where: (row, at) => where(row, row, at),
  };
  // What is about the gold answer that a person is at, in the place of its question.
  const ofAnswer = {
    reword: (row, at, answer) => open(answer.querySelector("textarea")),
    delete(row, at, answer) {
      if (!document.activeElement.closest("#nuggets, .nugget")) {
        answer.focus();
        return tell("delete-answer");
      }
      const { gold } = answer.dataset;
      act("gold_remove", row.dataset.uid, { gold, text: answer.querySelector("textarea").value }, { gold });
      list.go(row);
    },
    attach: (row, at, answer) => attach(row, answer, answer.querySelector("textarea").value),
    detach: (row, at, answer) => detach(row, answer, at),
    where: (row, at, answer) => where(row, answer, at),
  };
  const acts = {
    next: () => step(1),
    previous: () => step(-1),
    nextPassage: () => (passages.focused ? passages.step(1) : passages.go(passages.current)),
    previousPassage: () => passages.step(-1),
    nextSentence: () => sentence(1),
    previousSentence: () => sentence(-1),
    read() {
      const article = passages.focused;
      const { docid } = article.dataset;
      const read = !article.hasAttribute("data-read");
      act("read", "", { docid, read }, { docid, read: Number(read) });
    },
    undo: () => again("undo"),
    redo: () => again("redo"),
    nuggets: () => (list.rows.length ? list.go(currentRow() || rowsOnScreen()[0]) : newText.focus()),
    // A new nugget from what is selected, by whatever way.
    make() {
      const isOfTwo = passages.selections().length > 1;
      const evidence = passages.evidence();
      newText.focus();
      if (isOfTwo) tell("spans-two-new");
      if (isOfTwo || !evidence) return;
      setSource(evidence);
      if (folded(newText.value)) return; // what is typed already stays
      newText.value = folded(passages.quote(evidence)).slice(0, newText.maxLength);
      typedNew();
      newText.select(); // ready to be typed over
    },
    merge() {
      const uids = chosenRows().map((row) => row.dataset.uid);
      if (uids.length > 100) return tell("merge-at-most");
      saveAll();
      const parents = shown.nuggets.filter(({ uid }) => uids.includes(uid));
      const text = parents.map((parent) => parent.text).filter(Boolean).join("; ");
      if (!text) return tell("nothing-to-merge");
      if (Math.max(text.length, assay.notesOf(parents).length) > newText.maxLength) return tell("too-long-to-merge");
      merged = assay.uuid();
      act("merge", merged, { uids, text }, { uid: merged, uids: uids.join(" "), text });
      open(textOf(rowOf(merged)));
      textOf(rowOf(merged)).select();
    },
    // Keep all drafts that Finish has listed, and try again.
    keepAll() {
      for (const row of list.rows.filter(isUndecided)) act("keep", row.dataset.uid);
      acts.finish();
    },
    finish() {
      finishing = false;
      if (refused.changes.length) {
        document.querySelector("#refused button").focus();
        return tell("decide-first");
      }
      saveAll();
      if (outbox.changes.length) {
        finishing = true;
        return tell("saving-first");
      }
      if (folded(newText.value)) {
        drawFindings(true);
        return newText.focus();
      }
      if (known.findings) return handIn(); // the server says what it is by now
      assay.ask("finish", known.facts, handIn);
    },
  };

  // Until an undo is answered nobody can know what the list will be.
  const NEEDS_THE_LIST =
    "keep keepAll vital okay split delete up down attach detach merge aggregate deeper higher".split(" ");
  const undoWaits = () => outbox.changes.some(({ about }) => ["undo", "redo"].includes(about.action));

  // Why an act can't be done now: a sentence and what it tells, or true where none is needed.
  const why = {
    keep: (row) => !isUndecided(row) && ["decided-already", { place: list.place(row) }],
    split: (row) => !halves(textOf(row)) && ["one-word"],
    up: (row) => list.beside(row, -1) < 0,
    down: (row) => list.beside(row, 1) < 0,
    answer: (row) => row.nugget.gold.length >= 100 && ["most-answers"],
    aggregate: ({ nugget }) => nugget.gold.length < 2 && nugget.aggregator !== "AND" && ["two-answers"],
    deeper: whyNotDeeper,
    higher: (row) => !row.nugget.under && ["no-part"],
    attach: () => (passages.selections().length > 1 ? ["spans-two"] : !passages.evidence() && ["select-first"]),
    where: (row, answer) => !placesOf(answer || row).length && [answer ? "no-reference" : "no-evidence"],
    next: (row) => !passages.focused && row === rowsOnScreen().at(-1),
    previous: (row) => !passages.focused && (!row || row === rowsOnScreen()[0]),
    nextPassage: () => passages.focused === passages.articles.at(-1),
    previousPassage: () => passages.current === passages.articles[0],
    read: () => !passages.focused && ["passage-first"],
    merge: () => chosenRows().length < 2 && ["choose-two"],
  };
  function whyNot(name, row, answer) {
    if (!acts[name] && !row) return list.rows.length ? ["nugget-first"] : ["write-first"];
    // Nobody who reads a passage means a nugget that is out of sight.
    if (ofNugget[name] && passages.focused) return ["in-a-passage"];
    return why[name]?.(row, answer);
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-act]");
    if (!button) return;
    const { act: name, at } = button.dataset;
    const ofRow = button.closest(".nugget");
    const row = ofRow || currentRow();
    const answer = ofRow ? button.closest(".gold-answer") : list.answer;
    if (NEEDS_THE_LIST.includes(name) && undoWaits()) return tell("undo-waits");
    const reason = whyNot(name, row, answer);
    if (reason?.length) return tell(...reason);
    if (acts[name]) acts[name]();
    else ((answer && ofAnswer[name]) || ofNugget[name] || ofBoth[name])(row, at && Number(at), answer);
    drawButtons();
  });

  // A button that can do nothing now looks so; it can still be pressed, and then says what is lacking.
  const buttons = document.querySelectorAll(":is(.keys-row, .keys-bar, #selected) [data-act]");
  let frame = 0;
  function drawButtons() {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => {
      const row = currentRow();
      for (const button of buttons) {
        assay.write(button, whyNot(button.dataset.act, row, list.answer) ? "true" : null, "ariaDisabled");
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
    const [first, ...others] = document.getSelection().getRangeAt(0).getClientRects();
    const { right, bottom } = others.at(-1) ?? first;
    const { offsetWidth: width, offsetHeight: height } = bar;
    const isBelow = bottom + height + 8 < window.innerHeight;
    bar.style.top = `${isBelow ? bottom + 8 : Math.max(0, first.top - height - 8)}px`;
    bar.style.left = `${Math.max(4, Math.min(right, window.innerWidth - 4) - width)}px`;
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
    if (row) list.mark(row, event.target.closest(".gold-answer"));
  });
  main.addEventListener("change", (event) => {
    const row = event.target.closest(".nugget");
    if (row && event.target.matches("[type=radio]")) ofNugget[event.target.value](row);
    else if (event.target.matches("[data-field]")) saveField(event.target);
  });

  // A pause in typing saves too: nobody should have to leave the field for that. Not while a character is composed.
  function typed({ target: field, isComposing }) {
    if (!field.matches("[data-field]")) return;
    const about = aboutTyped(field);
    keepDraft(about, { ...about, text: field.value, was: field.dataset.saved });
    if (isTyped(field) && state.name === "saved") state.set("typing", 0);
    list.tidy();
    clearTimeout(field.pause);
    if (isComposing || about.action === "gold_add") return; // a pause does not end a new one
    field.pause = setTimeout(() => field.isConnected && saveField(field), 2000);
  }
  for (const name of ["input", "compositionend"]) main.addEventListener(name, typed);
  main.addEventListener("keydown", (event) => {
    if (event.isComposing || !["Enter", "Escape"].includes(event.key)) return;
    const row = event.target.closest(".nugget");
    if (event.target === newText) {
      event.preventDefault();
      if (event.key === "Enter") addNugget();
      else leaveNew();
    } else if (event.target.matches("[data-field]")) {
      event.preventDefault();
      const isToDecide = row?.parentElement.id === "undecided" || row?.dataset.uid === merged;
      const isNewAnswer = event.target.dataset.field === "gold_add" && isTyped(event.target);
      saveField(event.target);
      if (isNewAnswer) list.mark(row, row.querySelector(".gold-answer:last-child"));
      if (isNewAnswer && event.key === "Enter") return; // the next one is typed there too
      if (isToDecide && event.key === "Enter" && event.target.dataset.field === "reword" && !isUndecided(row)) {
        merged = "";
        advance(row);
      } else if (row) leave(row);
      else goBack(list.rows[0]);
    } else if (event.target.matches(".nugget, .gold-answer") && event.key === "Enter") {
      event.preventDefault();
      open(event.target.querySelector("textarea"));
    } else if (passages.focused && event.key === "Escape") {
      passages.clear(passages.focused, passages.next.get(passages.focused) || 0);
    }
  });

  // ---- what an earlier visit left ----
  show(outbox.changes.reduce((before, { about }) => assay.effect(before, about), known));
  refused.claim();
  drafts.claim();
  for (const { about } of drafts.changes) {
    const field = fieldOf(about);
    if (about.action === "add" && !newText.value) {
      newText.value = about.text;
      newImportance.value = about.importance;
      setSource(passages.byDocid.has(about.source?.docid) ? about.source : null);
    } else if (!field) {
      refused.add([{ about }], assay.say("typed-before"), false);
    } else if (about.was === field.dataset.saved) {
      field.value = about.text;
      saveField(field);
    } else if (folded(about.text) !== field.dataset.saved) lost({ ...about, text: folded(about.text) });
  }
  drafts.changes = []; // each is in its field, in the outbox or among what was refused
  typedNew();
  assay.search(document.getElementById("search"), passages);
  if (!assay.storage.works) document.getElementById("notices").append(document.getElementById("not-kept").content);
  for (const field of main.querySelectorAll("textarea[disabled], #add [disabled]")) field.disabled = false;
  main.dataset.ready = "1";
  passages.layOutAll();
  state.show();
  outbox.send();
})();
