// The editor of a report. What a person does shows at once and goes into the outbox; when all of it is saved, the screen
// is made to say what the server's report says. What they are at is one sentence, in the list of what was found and in
// the report alike.
(async () => {
  const main = document.getElementById("main");
  const { base, installation, person, report: key, limit } = main.dataset;
  const subject = `${installation}.${person}.report.${key}`;
  const tab = await assay.tab();
  const known = document.getElementById("known"); // absent where nothing can be edited
  const state = known && new assay.StateLine({ isRefused: () => refused.changes.length > 0 });
  const tell = (name, told) => state.tell(assay.say(name, told));
  const folded = (text) => text.split(/\s+/u).filter(Boolean).join(" ");

  const refused = new assay.Refused({
    subject,
    tab,
    inWords: ({ about }) => assay.say(`change-${about.action}`, about),
    there: () => "",
    // What undo would take back now is another change.
    again: (changes) => changes.filter(({ about }) => !IS_ONE_OFF.has(about.action)).forEach(carryOut),
    canRedo: () => Boolean(known),
    onChange: () => state?.show(),
  });
  const IS_ONE_OFF = new Set(["undo", "redo", "sign"]);

  // Of a report that can't be edited any more, only what could not be saved is to be seen.
  if (!known) {
    refused.take("outbox", true); // should the report be reopened
    return refused.claim(assay.say("finished"));
  }

  // ---- what was found ----
  const holder = main.firstElementChild;
  const rowsOf = () => [...holder.querySelectorAll(".candidate")];
  const rowOf = (uid) => holder.querySelector(`[data-uid="${uid}"]`);
  const questions = [...holder.querySelectorAll(".asked")].map((one) => one.dataset.question);
  const questionOf = (row) => row.closest(".asked").dataset.question;
  const originals = new Map(rowsOf().filter((row) => row.dataset.draft).map((row) => [row.dataset.uid, row.dataset.draft]));

  // ---- saving ----
  let told = JSON.parse(known.dataset.report); // the report as the server last told it
  let shown = told; // the report on screen
  let signing = false; // asked for, and waiting until all else is saved
  const outbox = new assay.Outbox({
    subject,
    tab,
    versions: { "": told.version },
    onAnswer(change, response, text, waiting) {
      if (response.headers.get("HX-Redirect")) return window.location.assign(response.headers.get("HX-Redirect"));
      told = JSON.parse(text);
      // What waits was done after this change and has seen nothing later.
      outbox.versions[""] = waiting ? Number(response.headers.get("X-Assay-Version")) : told.version;
      if (!waiting) show(told);
      if (response.status === 422) lacking();
    },
    onRefused(changes, response, text) {
      const isStale = response.status === 409;
      if (isStale) told = JSON.parse(text);
      refused.keep(changes, isStale);
      if (told.state !== "open") return setTimeout(() => window.location.reload()); // its page shows them
      if (outbox.changes.length === changes.length) {
        outbox.versions[""] = told.version;
        show(told);
      }
      refused.draw(isStale ? assay.say("changed-elsewhere") : text);
    },
    onState(name, ...facts) {
      state.set(name, ...facts);
      if (name === "saved" && signing) setTimeout(acts.sign); // the outbox is still at it
    },
  });

  function carryOut(change) {
    show(effect(shown, change.about));
    outbox.add(change);
  }

  // fields: for the server; about: what was done, for the page.
  function act(action, uid = "", fields = {}, about = fields) {
    const url = `${base}${uid && action !== "add" ? `${uid}/` : ""}${action}/`;
    carryOut({ url, fields, about: { action, uid, text: shown.sentences[uid]?.text ?? originals.get(uid), ...about } });
  }

  // ---- what a change does, as the server has it ----
  function effect(before, { action, uid, ...said }) {
    if (IS_ONE_OFF.has(action)) return before;
    const { order } = before;
    const rest = order.filter((one) => one !== uid);
    const now = before.sentences[uid] ?? { text: originals.get(uid) ?? said.text };
    const isIn = action !== "leave";
    const changed = { ...now, decision: isIn ? "in" : "out" };
    if (["reword", "add", "take"].includes(action)) changed.text = said.text;
    if (action === "add") Object.assign(changed, { question: said.question, docid: said.docid });
    const sentences = { ...before.sentences, [uid]: changed };
    if (!isIn) return { ...before, sentences, order: rest };
    if (action === "move") return { ...before, order: [...rest.slice(0, said.to), uid, ...rest.slice(said.to)] };
    if (order.includes(uid)) return { ...before, sentences };
    const place = (one) => questions.indexOf(sentences[one].question ?? questionOf(rowOf(one)));
    const at = order.findLastIndex((one) => place(one) <= place(uid)) + 1;
    return { ...before, sentences, order: [...order.slice(0, at), uid, ...order.slice(at)] };
  }

  // ---- the screen ----
  const list = document.getElementById("report");
  let current = ""; // the uid of the sentence that the person is at

  function show(fresh) {
    shown = fresh;
    for (const [uid, { docid, question, decision }] of Object.entries(shown.sentences)) {
      if (!originals.has(uid) && decision === "in" && !rowOf(uid)) addRow(uid, docid, question);
    }
    for (const row of rowsOf()) drawRow(row);
    list.replaceChildren(...shown.order.map(itemOf));
    document.getElementById("empty").hidden = shown.order.length > 0;
    const length = lengthOf();
    document.getElementById("length").textContent = length;
    if (Number(limit)) document.getElementById("length-bar").value = length;
    const decided = [...originals.keys()].filter((uid) => shown.sentences[uid]).length;
    document.getElementById("decided").textContent = assay.say("decided", { number: decided, all: originals.size });
    findings.hidden ||= !told.findings.length;
    mark(rowOf(current) ? current : rowsOf()[0]?.dataset.uid ?? "");
  }

  // As the server counts: code points of NFKC.
  const lengthOf = () =>
    shown.order.reduce((sum, uid) => sum + [...shown.sentences[uid].text.normalize("NFKC")].length, 0);

  function addRow(uid, docid, question) {
    const row = document.getElementById("new-sentence").content.firstElementChild.cloneNode(true);
    Object.assign(row.dataset, { uid, docid });
    row.querySelector(".docid").textContent = docid;
    holder.querySelector(`[data-question="${question}"] .candidates`).append(row);
  }

  function drawRow(row) {
    const { uid } = row.dataset;
    const now = shown.sentences[uid];
    if (!originals.has(uid) && now?.decision !== "in") return row.remove(); // a person's own that was taken out
    const decision = now?.decision ?? "";
    row.toggleAttribute("data-decision", Boolean(decision));
    if (decision) row.dataset.decision = decision;
    const text = now?.text ?? originals.get(uid);
    assay.write(row.querySelector(".text"), text);
    const how = [decision && assay.say(decision), wayOf(uid, text)].filter(Boolean);
    assay.write(row.querySelector(".state"), how.map((one) => `${one} · `).join(""));
  }

  function wayOf(uid, text) {
    if (!originals.has(uid)) return assay.say("written");
    return [originals.get(uid), folded(rowOf(uid).dataset.extracted)].includes(text) ? "" : assay.say("reworded");
  }

  function itemOf(uid) {
    const text = assay.element("p", { dir: "auto" }, shown.sentences[uid].text);
    const cited = assay.element("p", { className: "quiet any" }, rowOf(uid).dataset.docid);
    const button = assay.element("button", { type: "button" }, text, cited);
    const item = assay.element("li", {}, button);
    Object.assign(item.dataset, { uid });
    return item;
  }

  // Make a sentence the one that keys are about, with its document in sight.
  function mark(uid) {
    current = uid;
    for (const one of main.querySelectorAll("[aria-current]")) one.removeAttribute("aria-current");
    if (!uid) return;
    const row = rowOf(uid);
    for (const one of rowsOf()) one.tabIndex = one === row ? 0 : -1;
    for (const one of main.querySelectorAll(`[data-uid="${uid}"]`)) one.ariaCurrent = "true";
    const { docid, extracted } = row.dataset;
    for (const article of main.querySelectorAll(".passage")) article.hidden = article.dataset.docid !== docid;
    const reading = main.querySelector(".passage:not([hidden]) .reading")?.firstChild;
    const place = reading && extracted && placeOf(reading, extracted);
    CSS.highlights?.set("evidence", new Highlight(...(place ? [place] : [])));
    if (place) scrollTo(place);
  }

  // Where a document says something, whatever its blanks.
  function placeOf(node, extracted) {
    const words = extracted.split(/\s+/u).map((word) => word.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&"));
    const found = new RegExp(words.join("\\s+"), "u").exec(node.data);
    if (!found) return null;
    const range = document.createRange();
    range.setStart(node, found.index);
    range.setEnd(node, found.index + found[0].length);
    return range;
  }

  function scrollTo(place) {
    const panel = place.startContainer.parentElement.closest(".panel");
    const { top } = place.getBoundingClientRect();
    const { top: from, height } = panel.getBoundingClientRect();
    if (top < from || top > from + height * 0.8) panel.scrollTop += top - from - height / 3;
  }

  function go(uid) {
    mark(uid);
    rowOf(uid)?.focus();
  }

  // ---- the text that is typed ----
  const form = document.getElementById("write");
  const field = document.getElementById("write-text");
  const docids = document.getElementById("write-docid");
  let typing = null; // the uid that is reworded; "" of a new sentence; null: nothing is typed

  function open(uid, text) {
    typing = uid;
    form.hidden = false;
    document.getElementById("write-label").textContent = assay.say(uid ? "reword-label" : "new-label");
    const original = uid && originals.get(uid);
    document.getElementById("write-original").textContent = original ? assay.say("original", { text: original }) : "";
    document.getElementById("write-cites").hidden = Boolean(uid);
    field.value = text;
    form.scrollIntoView({ block: "nearest" });
    field.focus();
  }

  function close() {
    typing = null;
    form.hidden = true;
    field.value = "";
    if (current) go(current);
  }

  function save() {
    const text = folded(field.value);
    if (!text) return tell("nothing-typed");
    const uid = typing || assay.uuid();
    if (typing) act("reword", uid, { text });
    else {
      const question = current ? questionOf(rowOf(current)) : questions[0];
      act("add", uid, { uid, question, docid: docids.value, text });
    }
    current = uid;
    close();
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    save();
  });
  field.addEventListener("keydown", (event) => {
    if (event.isComposing || !["Enter", "Escape"].includes(event.key)) return;
    event.preventDefault();
    if (event.key === "Enter") save();
    else close();
  });
  document.getElementById("write-cancel").addEventListener("click", close);
  window.addEventListener("beforeunload", (event) => field.value && event.preventDefault());

  // ---- signing ----
  const findings = document.getElementById("findings");

  function lacking() {
    findings.textContent = told.findings.join(" ");
    findings.hidden = !told.findings.length;
    findings.scrollIntoView({ block: "nearest" });
  }

  // ---- keys and buttons ----
  function step(by) {
    const rows = rowsOf();
    const next = rows[rows.indexOf(rowOf(current)) + by];
    if (next) go(next.dataset.uid);
  }

  // On to the next sentence to decide on; where there is none, the person stays where they are.
  function advance() {
    const rows = rowsOf();
    const next = rows.slice(rows.indexOf(rowOf(current)) + 1).find(({ dataset: { uid } }) => !shown.sentences[uid]);
    go(next?.dataset.uid ?? current);
  }

  function take(text, fields) {
    act("take", current, fields, { text });
    advance();
  }

  function move(by) {
    const at = shown.order.indexOf(current);
    if (at < 0) return tell("not-in");
    const to = at + by;
    if (to >= 0 && to < shown.order.length) act("move", current, { to });
  }

  const undoWaits = () => outbox.changes.some(({ about }) => ["undo", "redo"].includes(about.action));
  const NEEDS_ONE = new Set(["take", "verbatim", "leave", "reword", "up", "down"]);
  const acts = {
    next: () => step(1),
    previous: () => step(-1),
    take: () => take(shown.sentences[current]?.text ?? originals.get(current), { verbatim: 0 }),
    verbatim() {
      const extracted = folded(rowOf(current).dataset.extracted);
      if (!extracted) return tell("own");
      take(extracted, { verbatim: 1 });
    },
    leave() {
      const after = rowsOf()[rowsOf().indexOf(rowOf(current)) + 1]?.dataset.uid ?? "";
      const isOwn = !originals.has(current);
      act("leave", current);
      if (isOwn) go(rowOf(after) ? after : current);
      else advance();
    },
    reword: () => open(current, shown.sentences[current]?.text ?? originals.get(current)),
    write() {
      if (!docids.options.length) return tell("no-documents");
      if (current) docids.value = rowOf(current).dataset.docid;
      open("", "");
    },
    up: () => move(-1),
    down: () => move(1),
    undo: () => (shown.undo || outbox.changes.length ? act("undo") : tell("nothing-to-undo")),
    redo: () => (shown.redo ? act("redo") : tell("nothing-to-redo")),
    sign() {
      signing = false;
      if (refused.changes.length) return tell("decide-first");
      if (typing !== null) return tell("typed-first");
      if (outbox.changes.length) {
        signing = true;
        return tell("saving-first");
      }
      if (told.findings.length) return lacking();
      const number = originals.size - [...originals.keys()].filter((uid) => shown.sentences[uid]).length;
      const left = assay.say(["all-decided", "undecided"][number] ?? "undecideds", { number });
      const facts = { sentences: assay.count(shown.order.length, "sentence"), length: lengthOf(), left };
      assay.ask("sign", assay.say("sign-facts", facts), () => act("sign"));
    },
  };

  document.addEventListener("click", (event) => {
    const on = event.target.closest("[data-uid]");
    if (on) return go(on.dataset.uid);
    const name = event.target.closest("[data-act]")?.dataset.act;
    if (!name) return;
    if (NEEDS_ONE.has(name) && !current) return tell("first");
    if (NEEDS_ONE.has(name) && undoWaits()) return tell("undo-waits");
    if (typing !== null && name !== "sign") return tell("typed-first");
    acts[name]();
  });
  holder.addEventListener("focusin", (event) => {
    const row = event.target.closest(".candidate");
    if (row && row.dataset.uid !== current) mark(row.dataset.uid);
  });
  // A button pressed with the mouse does not take the focus away from where the person is at.
  document.addEventListener("mousedown", (event) => {
    if (event.target.closest(":is(.keys-row, .keys-bar) [data-act]")) event.preventDefault();
  });

  // ---- what an earlier visit left ----
  show(outbox.changes.reduce((before, { about }) => effect(before, about), told));
  refused.claim();
  main.dataset.ready = "1";
  state.show();
  outbox.send();
  if (current) go(current);
})();
