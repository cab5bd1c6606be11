// The 0-3 screen. What a person says of a passage goes into the outbox, and the next passage, which is there already,
// opens at once. Where few are left the page asks which are at hand, and is made to have these.
"use strict";

(async () => {
  const HEARTBEAT = 30000;
  const FEW = 3; // passages on the page, below which it asks for more
  const AWAY = 600000; // who has touched nothing for so long has left their passages to the queue

  const main = document.getElementById("main");
  const base = main.dataset.base;
  const subject = `${main.dataset.person}.relevance.${main.dataset.task}`;
  const passages = document.getElementById("passages");
  const shown = document.getElementById("shown"); // the model's grade; from scratch there is no such place
  const cannot = document.getElementById("cannot");
  const reason = document.getElementById("reason");
  const choices = [...document.querySelectorAll(".choices button")];
  const undoButton = document.querySelector('[data-act="undo"]');
  const tab = await assay.tab();

  let known = passages.cloneNode(true); // as the server last told it
  let present = null; // the passage on screen
  let openedAt = 0; // active seconds when it came there
  let awaited = null; // the passage whose grade by the model is not here yet
  let heldUntil = 0; // no key counts before: the passage was changed under the person's hands
  let mustLook = false; // what is at hand is to be asked for, once all is saved

  const parse = (html) => new DOMParser().parseFromString(html, "text/html").getElementById("passages");
  const articles = () => [...passages.querySelectorAll(".passage")];
  const isJudgment = ({ about }) => about.action === "judge";

  // ---- what was refused ----
  const state = new assay.StateLine({
    decide: "decide what to do with the judgments above the passage.",
    isRefused: () => refused.changes.length > 0,
  });
  const refusedOf = (name) => `assay.refused.${subject}.${name}`;
  const refused = new assay.Refused({
    name: refusedOf(tab.name),
    notices: document.getElementById("notices"),
    inWords: ({ about }) => (about.action === "undo" ? "Undo" : `“${about.title}”: ${about.said}`),
    there: ({ about }) => about.there || "",
    again(changes) {
      for (const { url, fields, about } of changes.filter(isJudgment)) outbox.add({ url, fields, about });
      put(known, outbox.changes, true);
    },
    onChange: () => state.show(),
  });

  // ---- saving ----
  const outbox = new assay.Outbox({
    subject,
    tab,
    version: Number(passages.dataset.version),
    onAnswer(change, response, text, waiting) {
      const { item } = change.fields;
      const rest = outbox.changes.slice(1);
      if (isJudgment(change)) {
        const { version, graded, total } = JSON.parse(text);
        // A page that was loaded after an earlier visit's judgment was saved, though never answered, knows of it.
        if (version > Number(known.dataset.version)) {
          known.querySelector(`[data-item="${item}"]`)?.remove();
          Object.assign(known.dataset, { version, graded, total, undo: undoable([change]).join(" ") });
        }
        // What waits was said after this judgment and has seen nothing later.
        outbox.version = waiting ? version : Number(known.dataset.version);
        const left = articles().length;
        const isLow = left < FEW && ("more" in known.dataset || "drawn" in main.dataset);
        mustLook ||= isLow || !left;
        return open(rest);
      }
      const fresh = parse(text);
      // What waits was said after this change and has seen nothing later.
      outbox.version = Number(waiting ? response.headers.get("X-Assay-Version") : fresh.dataset.version);
      put(fresh, rest, response.headers.get("X-Assay-Version") === fresh.dataset.version, item);
    },
    onRefused(changes, response, text) {
      if (response.status === 403) {
        refused.add(changes, "This can't be taken back any more.", false);
        return;
      }
      if (response.status !== 409) {
        mustLook = true;
        const judgments = changes.filter(isJudgment);
        if (judgments.length) refused.add(judgments, text, false);
        else state.tell(text);
        return;
      }
      const fresh = parse(text);
      outbox.version = Number(fresh.dataset.version);
      const said = JSON.parse(fresh.dataset.said);
      for (const { fields, about } of changes) about.there = said[fields.item];
      put(fresh, [], false);
      const why = "This topic's passages were judged elsewhere meanwhile, in another tab.";
      refused.add(changes, why, changes.some(isJudgment));
    },
    fallsWith: (later, change) => !isJudgment(later) && later.fields.item === change.fields.item,
    canLapse: (change) => !isJudgment(change),
    onState(...told) {
      state.set(...told);
      if (told[0] === "saved" && mustLook) setTimeout(look); // the outbox is still at it
    },
  });

  // Have the passages that are at hand and that nothing waits to be said of. The present one stays, whatever the server
  // puts ahead of it, unless the person took back another (undone); where it is gone, the next keys are not meant for
  // the one in its place. Of a long list the server sends the first ones: where nothing was said in another tab (isOurs)
  // one that is not among them is further down.
  function put(fresh, waiting, isOurs, undone = null) {
    known = fresh;
    const said = new Set(waiting.filter(isJudgment).map(({ about }) => about.item));
    const isListed = present && fresh.querySelector(`[id="${present.id}"]`);
    const isFurtherDown = isOurs && "more" in fresh.dataset && !said.has(present?.dataset.item);
    const isGone = present && !isListed && !isFurtherDown && !undone;
    const wanted = [...fresh.querySelectorAll(".passage")]
      .filter((article) => !said.has(article.dataset.item))
      .map((article) => document.getElementById(article.id) || document.importNode(article, true));
    if (present && !isListed && isFurtherDown) wanted.unshift(present);
    const back = undone && wanted.find((article) => article.dataset.item === undone);
    const rest = document.getElementById("rest");
    const freshRest = document.importNode(fresh.querySelector("#rest"), true);
    if (rest.innerHTML !== freshRest.innerHTML) rest.replaceChildren(...freshRest.childNodes);
    assay.relabel();
    wanted.push(rest);
    for (const child of [...passages.children]) if (!wanted.includes(child)) child.remove();
    wanted.forEach((child, at) => {
      if (passages.children[at] !== child) passages.insertBefore(child, passages.children[at] || null);
    });
    open(waiting, back);
    if (!isGone) return;
    heldUntil = Date.now() + 1000;
    state.tell(`The passage is not yours to judge any more${present ? ": this is another one" : ""}.`);
  }

  // Open a passage, if it is not open already: the one that is wanted, else the present one, else the first.
  function open(waiting, wanted = null) {
    const all = articles();
    const next = wanted || (all.includes(present) ? present : all[0]) || null;
    const rest = document.getElementById("rest");
    for (const article of all) article.hidden = article !== next;
    rest.hidden = Boolean(next);
    const { graded, total } = known.dataset;
    const judging = waiting.filter(isJudgment).length;
    document.getElementById("progress").textContent = `${Math.min(Number(graded) + judging, total)} of ${total}`;
    undoButton.disabled = !undoable(waiting).length;
    if (next !== present) {
      present = next;
      openedAt = assay.active;
      awaited = shown ? next : null;
      main.firstElementChild.scrollTop = 0;
      (next || rest).focus({ preventScroll: true });
      if (shown) show(next);
    }
    for (const choice of choices) choice.disabled = !present || present === awaited;
  }

  // Ask for the model's grade of the passage on screen: that it is shown is recorded before it is.
  async function show(article) {
    shown.textContent = article ? "…" : "";
    for (let wait = 1000; article && present === article; wait = Math.min(wait * 2, 15000)) {
      try {
        const response = await assay.post(`${base}show/`, { item: article.dataset.item });
        const text = await response.text();
        if (present !== article) return;
        if (response.ok) {
          shown.textContent = JSON.parse(text).grade;
          awaited = null;
          state.read(200);
          return open(outbox.changes);
        }
        if ([400, 410].includes(response.status)) {
          // Refused: look what is at hand. Where that is still this passage, its grade is asked for once more.
          state.tell(text);
          mustLook = true;
          await look();
        } else state.read(assay.statusOf(response));
      } catch {
        state.read(0); // no connection: the passage can be read meanwhile
      }
      await new Promise((done) => setTimeout(done, wait));
    }
  }

  // Renew the leases, and have what is at hand now. What comes to nothing is tried again by the heartbeat.
  async function look() {
    if (outbox.changes.length) return;
    const { version } = outbox;
    let fresh = null;
    try {
      const response = await assay.post(`${base}draw/`, {}, { signal: AbortSignal.timeout(30000) });
      if (response.ok) fresh = parse(await response.text());
      state.read(response.ok && !fresh ? 0 : assay.statusOf(response)); // something else may answer in the server's place
    } catch {
      state.read(0);
    }
    // What was said meanwhile has an answer of its own, which is newer.
    if (!fresh || outbox.changes.length || outbox.version !== version) return;
    mustLook = false;
    outbox.version = Number(fresh.dataset.version);
    put(fresh, [], fresh.dataset.version === String(version));
  }
  setInterval(() => {
    const isOver = known.dataset.graded === known.dataset.total;
    const isDue = mustLook || (!isOver && ("drawn" in main.dataset || !present));
    if (Date.now() - assay.lastInput < AWAY && isDue) look();
  }, HEARTBEAT);
  window.addEventListener("online", () => mustLook && look());

  // ---- what a person does ----
  function judge(fields, said) {
    if (!present) return state.tell("There is no passage to judge now.");
    if (present === awaited) return state.tell("The model's grade is on its way: press the key again.");
    if (Date.now() < heldUntil) return;
    // Until an undo is answered nobody can know which passage is next.
    if (outbox.changes.some((change) => !isJudgment(change))) return state.tell("Undo waits for the server: press the key again.");
    const { item } = present.dataset;
    const title = present.querySelector("h2").textContent.trim();
    const seconds = assay.active - openedAt;
    const all = articles();
    const after = all.indexOf(present) + 1;
    const [next] = [...all.slice(after), ...all.slice(0, after - 1)];
    present.remove();
    outbox.add({ url: `${base}judge/`, fields: { item, seconds, ...fields }, about: { action: "judge", item, title, said } });
    open(outbox.changes, next);
  }

  // Pass over a passage, or go back to one: of those that are here.
  function move(by) {
    const all = articles();
    const next = all[all.indexOf(present) + by];
    if (next) open(outbox.changes, next);
    else if (present) state.tell(`This is the ${by > 0 ? "last" : "first"} of the ${all.length} passages that are here now.`);
  }

  // What is on screen has no grade yet, since the next passage opens with it; where nothing is left, there is a way on.
  function goOn() {
    if (present) return state.tell(assay.howToLabel());
    document.querySelector("#rest a")?.focus();
    state.tell("No passage is left to judge here.");
  }

  // What can be taken back, the latest first: the last that the server named, and what waits to be sent.
  function undoable(waiting) {
    let items = known.dataset.undo.split(" ").filter(Boolean);
    for (const change of waiting) {
      const { item } = change.fields;
      items = items.filter((other) => other !== item);
      if (isJudgment(change)) items.unshift(item);
    }
    return items;
  }

  // An undo names what it is meant for: should that be refused, none before it is taken back instead.
  function undo() {
    const [item] = undoable(outbox.changes);
    if (!item) return state.tell("There is nothing to take back that this page knows of.");
    outbox.add({ url: `${base}undo/`, fields: { item }, about: { action: "undo" } });
    if (state.name === "offline") state.tell("Undo shows when the server answers.");
  }

  let about = null; // the passage that the open dialog is about
  function askReason() {
    about = present;
    reason.value = "";
    cannot.showModal();
  }
  cannot.addEventListener("close", () => {
    const text = reason.value.trim();
    const isMeant = cannot.returnValue === "yes" && text;
    cannot.returnValue = "";
    if (!isMeant) return present?.focus({ preventScroll: true });
    if (present !== about) return state.tell("The passage was not yours to judge any more: this is another one.");
    judge({ reason: text }, `can't be judged: ${text}`);
  });

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-act]");
    if (!button) return;
    const { act, grade } = button.dataset;
    if (act === "judge") judge({ grade }, grade);
    else if (act === "cannot") askReason();
    else if (act === "undo") undo();
    else if (act === "down") move(1);
    else if (act === "up") move(-1);
    else if (act === "next") goOn();
  });

  // ---- what an earlier visit left ----
  for (const name of assay.storage.names(refusedOf(""))) {
    const owner = name.slice(refusedOf("").length);
    if (owner === tab.name || tab.isOpen(owner)) continue;
    refused.take(assay.storage.get(name) || []);
    assay.storage.remove(name);
  }
  refused.draw("From an earlier visit:");
  put(known, outbox.changes, true);
  main.dataset.ready = "1";
  state.show();
  outbox.send();
})();
