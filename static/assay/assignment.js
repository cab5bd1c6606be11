// The blind screen. What a person says of a nugget shows at once and goes into the outbox; each answer is a thread of its
// own there. Answers come with the page or are fetched before the person gets to them, and stay in it.
"use strict";

(async () => {
  const AHEAD = 4; // answers to be done that are there before the person gets to them
  const KEPT = 500; // acts that can be undone

  const main = document.getElementById("main");
  const { base, edition } = main.dataset;
  const subject = `${main.dataset.person}.assignment.${main.dataset.task}`;
  const holder = document.getElementById("answers");
  const rows = [...document.querySelectorAll(".fact")];
  const byNugget = new Map(rows.map((row) => [row.dataset.nugget, row]));
  const button = (act) => document.querySelector(`.keys-bar [data-act="${act}"]`);
  const tab = await assay.tab();

  // A person's answers, by the key of their sheet. said: what stands there, once the answer is in the page.
  const sheets = new Map(
    JSON.parse(main.dataset.queue).map(([key, number, toDo, version, putOff]) => {
      const id = String(key);
      return [id, { id, number, toDo, version, putOff, said: null, older: {}, article: null }];
    }),
  );

  let closed = main.dataset.closed || ""; // why nothing can be said
  let wanted = null; // the answer that the person is at
  let present = null; // the same, once it is here
  let row = null; // the nugget that keys are about; none once all of an answer is said
  let at = 0; // its place, also when there is none any more
  let since = 0; // active seconds when the answer came or the label before was given

  const inOrder = () => [...sheets.values()].sort((a, b) => a.putOff - b.putOff || a.number - b.number);
  const asked = ({ said }) => (said.asked ? said.asked.map(String) : rows.map((one) => one.dataset.nugget));
  const unsaid = (sheet) => asked(sheet).filter((nugget) => !(nugget in sheet.said.labels || nugget in sheet.said.cannot));
  const toDo = (sheet) => (sheet.said ? unsaid(sheet).length : sheet.toDo);
  const wordsOf = (nugget) => byNugget.get(nugget)?.querySelector(".text").textContent || "a nugget that is gone";
  const shown = () => rows.filter((one) => !one.hidden);

  // ---- what changes do ----
  function put(column, nugget, value) {
    if (value?.length) column[nugget] = value;
    else delete column[nugget];
  }
  const effects = {
    label({ said }, { nugget, label }) {
      put(said.labels, nugget, label);
      delete said.cannot[nugget];
      if (label) delete said.stale[nugget];
    },
    cannot({ said }, { nugget, reason }) {
      put(said.cannot, nugget, reason);
      delete said.labels[nugget];
      delete said.stale[nugget];
    },
    flag: ({ said }, { nugget, note }) => put(said.flags, nugget, note),
    mark: ({ said }, { nugget, marks }) => put(said.marks, nugget, marks),
    later: (sheet, { to }) => (sheet.putOff = to),
  };

  // What stands of a nugget, as far as an action changes it.
  function standing(sheet, action, nugget) {
    const { labels, cannot, stale, flags, marks } = sheet.said;
    if (action === "later") return { to: sheet.putOff };
    if (action === "flag") return { note: flags[nugget] || "" };
    if (action === "mark") return { marks: marks[nugget] || [] };
    return { label: labels[nugget] || "", reason: cannot[nugget] || "", stale: stale[nugget] || "" };
  }

  function inWords({ label, reason, note, marks }) {
    if (note !== undefined) return note ? `flag: ${note}` : "no flag";
    if (marks !== undefined) return marks.length ? "words marked" : "no words marked";
    return label || (reason ? `can't be judged: ${reason}` : "nothing");
  }

  // ---- what was refused ----
  const state = new assay.StateLine({
    decide: "decide what to do with the changes above the answer.",
    isRefused: () => refused.changes.length > 0,
  });
  const refusedOf = (name) => `assay.refused.${subject}.${name}`;
  const refused = new assay.Refused({
    name: refusedOf(tab.name),
    notices: document.getElementById("notices"),
    inWords({ about }) {
      const which = `Answer ${about.number}`;
      if (about.action === "later") return `${which}: later`;
      return `${which}, “${about.text}”: ${inWords(about)}`;
    },
    there: ({ about }) => about.there || "",
    // A label is about the nuggets' texts as they were when it was given.
    canRedo: ({ thread, about }) => !closed && about.edition === edition && sheets.has(thread),
    again(changes) {
      for (const { url, fields, thread, about } of changes) {
        const sheet = sheets.get(thread);
        if (sheet?.said) effects[about.action](sheet, about);
        outbox.add({ url, fields, thread, about });
      }
      draw();
    },
    onChange: () => state.show(),
  });

  // ---- saving ----
  const outbox = new assay.Outbox({
    subject,
    tab,
    versions: Object.fromEntries([...sheets.values()].map(({ id, version }) => [id, version])),
    onAnswer(change, response, text) {
      if (change.about.action === "signOff") return window.location.assign(main.dataset.home);
      const told = JSON.parse(text);
      outbox.versions[change.thread] = told.version;
      const sheet = sheets.get(change.thread);
      if (sheet && !sheet.said) sheet.toDo = told.to_do;
    },
    onRefused(changes, response, text) {
      const [change] = changes;
      const sheet = sheets.get(change.thread);
      if (change.about.action === "signOff") return signOffRefused(response.status, text);
      if (response.status !== 409) {
        // Nothing of it was done: what the server has is asked for anew.
        if (response.status === 404) sheets.delete(change.thread);
        forget(sheet);
        refused.add(changes, text, false);
        return;
      }
      const there = JSON.parse(text);
      if (there.closed) close(there.closed);
      outbox.versions[change.thread] = there.version;
      if (sheet?.said) Object.assign(sheet, { said: there.said, putOff: there.put_off });
      else if (sheet) Object.assign(sheet, { toDo: there.to_do, putOff: there.put_off });
      for (const { about } of changes) {
        const now = standing({ said: there.said, putOff: there.put_off }, about.action, about.nugget);
        if (about.action !== "later") about.there = inWords(now);
      }
      if (String(there.edition) !== edition) outdated();
      draw();
      refused.add(changes, closed ? "This came too late." : "This answer was changed elsewhere meanwhile.", !closed);
    },
    onState: (...told) => state.set(...told),
  });

  // A sign-off is about all that was seen, so after a refusal it is for the person to look and to do it anew.
  function signOffRefused(status, text) {
    if (status !== 409) return state.tell(`Not signed off: ${text}`);
    const why = JSON.parse(text).closed;
    if (why) close(why);
    else stop("Something was changed elsewhere meanwhile, so the topic is not signed off.", ", look, then sign off again.");
  }

  function change(sheet, action, nugget, fields, now) {
    const text = nugget && wordsOf(nugget);
    const about = { action, nugget, text, number: sheet.number, edition, ...now };
    effects[action](sheet, about);
    outbox.add({ url: `${base}answers/${sheet.id}/${action}/`, fields, thread: sheet.id, about });
  }

  // Do something that can be undone.
  function act(sheet, action, nugget, fields, now) {
    const before = standing(sheet, action, nugget);
    change(sheet, action, nugget, nugget ? { nugget, ...fields } : fields, now);
    done.push({ sheet: sheet.id, action, nugget, before, after: standing(sheet, action, nugget) });
    keepDone();
    draw();
  }

  // ---- undo: what this tab did, on the nuggets as they are now ----
  const DONE = `assay.done.${subject}.${edition}`;
  let done = [];
  try {
    done = JSON.parse(sessionStorage.getItem(DONE)) || [];
  } catch {
    // Then it begins anew with each load.
  }
  function keepDone() {
    done = done.slice(-KEPT);
    try {
      sessionStorage.setItem(DONE, JSON.stringify(done));
    } catch {
      // As above.
    }
  }

  const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

  async function undo() {
    if (closed) return state.tell(closed);
    const last = done[done.length - 1];
    const sheet = sheets.get(last?.sheet);
    if (!last) return state.tell("There is nothing to take back that this tab did.");
    if (sheet && !(await load(sheet))) return state.tell("Undo waits for the server: press the key again.");
    if (done[done.length - 1] !== last) return;
    done.pop();
    keepDone();
    const { action, nugget, before, after } = last;
    if (!sheet || !same(standing(sheet, action, nugget), after)) {
      return state.tell("What was done last was changed since, so it is not taken back.");
    }
    // Taking back is a write like any other, of what stood before.
    if (action === "later") change(sheet, action, null, { to: before.to }, before);
    else if (action === "flag") change(sheet, action, nugget, { nugget, note: before.note }, before);
    else if (action === "mark") change(sheet, action, nugget, { nugget, marks: JSON.stringify(before.marks) }, before);
    else if (before.reason) change(sheet, "cannot", nugget, { nugget, reason: before.reason }, before);
    else change(sheet, "label", nugget, { nugget, label: before.label }, before);
    if (before.stale) sheet.said.stale[nugget] = before.stale;
    open(sheet, nugget);
  }

  // ---- the answers ----
  const parse = (html) => new DOMParser().parseFromString(html, "text/html").querySelector(".answer");

  // Take an answer as the server has it; what waits to be sent was said after that.
  function take(fresh) {
    const sheet = sheets.get(fresh.dataset.sheet);
    const article = document.importNode(fresh, true);
    sheet.article?.remove();
    Object.assign(sheet, { article, said: JSON.parse(fresh.dataset.said), older: JSON.parse(fresh.dataset.older) });
    const waiting = outbox.of(sheet.id);
    for (const { about } of waiting) effects[about.action](sheet, about);
    if (!waiting.length) outbox.versions[sheet.id] = Number(fresh.dataset.version);
    article.hidden = true;
    holder.append(article);
    if (fresh.dataset.edition !== edition) outdated();
  }

  function forget(sheet) {
    if (!sheet) return;
    sheet.article?.remove();
    Object.assign(sheet, { article: null, said: null });
    if (present === sheet) present = null;
    if (wanted === sheet) open(sheets.get(sheet.id) || inOrder().find(toDo) || inOrder()[0]);
    else draw();
  }

  // Have an answer in the page; return whether it is.
  async function load(sheet) {
    if (sheet.said) return true;
    sheet.loading = sheet.loading || fetchAnswer(sheet).finally(() => (sheet.loading = null));
    return sheet.loading;
  }

  async function fetchAnswer(sheet) {
    try {
      const response = await fetch(`${base}answers/${sheet.id}/`, { headers: { "X-Assay-Write": "1" } });
      if (response.status === 404) {
        sheets.delete(sheet.id);
        forget(sheet);
        // The others may be there; once none is, the work itself is gone.
        state.read(sheets.size ? 200 : 404);
        return false;
      }
      state.read(response.status);
      if (!response.ok) return false;
      const fresh = parse(await response.text());
      // Read before something was saved that has been answered since.
      if (Number(fresh.dataset.version) < outbox.versions[sheet.id]) return fetchAnswer(sheet);
      take(fresh);
      return true;
    } catch {
      state.read(0);
      return false;
    }
  }

  // Fetch those that come next; one that is gone is passed over. Without a connection that is tried again now and then.
  async function lookAhead() {
    const next = afterPresent().filter(toDo).slice(0, AHEAD);
    for (const sheet of next) if (!(await load(sheet)) && sheets.has(sheet.id)) return;
  }
  setInterval(lookAhead, 15000);

  // The others in their order, those that come after the present one first.
  function afterPresent() {
    const all = inOrder();
    const here = all.indexOf(wanted);
    return [...all.slice(here + 1), ...all.slice(0, Math.max(here, 0))];
  }

  // Go to an answer, and there to a nugget: the one that is named, else the first of which nothing is said.
  async function open(sheet, nugget = null) {
    wanted = sheet;
    if (!sheet) return draw();
    if (!sheet.said) {
      present = null;
      draw();
      for (let wait = 1000; !(await load(sheet)); wait = Math.min(wait * 2, 15000)) {
        await new Promise((passed) => setTimeout(passed, wait));
        if (wanted !== sheet || !sheets.has(sheet.id)) return;
      }
      if (wanted !== sheet) return;
    }
    const isNew = present !== sheet;
    if (isNew) {
      present = sheet;
      since = assay.active;
      for (const panel of main.children) panel.scrollTop = 0;
      document.getSelection().removeAllRanges();
      state.announced.textContent = `Answer ${sheet.number} of ${sheets.size}`;
    }
    draw();
    if (nugget && byNugget.has(nugget)) pick(byNugget.get(nugget));
    else advance(0);
    if (isNew) window.scrollTo(0, 0); // where nuggets stand below the answer, that is read first
    lookAhead();
  }

  // ---- drawing ----
  function draw() {
    for (const { article } of sheets.values()) if (article) article.hidden = article !== present?.article;
    document.getElementById("coming").hidden = Boolean(present) || !sheets.size;
    for (const one of rows) drawRow(one);
    const all = inOrder();
    const finished = all.filter((sheet) => !toDo(sheet)).length;
    const meter = document.getElementById("meter");
    meter.max = all.length;
    meter.value = finished;
    document.getElementById("progress").textContent = wanted
      ? `Answer ${wanted.number} of ${all.length} · ${finished} done`
      : `${finished} of ${all.length} done`;
    document.getElementById("said-count").textContent = present
      ? `${asked(present).length - unsaid(present).length} of ${asked(present).length}`
      : "";
    const isOver = finished === all.length && !closed;
    button("next").hidden = isOver;
    button("signOff").hidden = !isOver;
    for (const act of ["flag", "cannot", "mark", "later"]) button(act).disabled = Boolean(closed) || !present;
    button("undo").disabled = Boolean(closed) || !done.length;
    drawMarks();
  }

  function drawRow(one) {
    const { nugget } = one.dataset;
    const sheet = present;
    one.hidden = Boolean(sheet) && !asked(sheet).includes(nugget);
    for (const choice of one.querySelectorAll("[data-label]")) {
      choice.disabled = !sheet || Boolean(closed);
      choice.setAttribute("aria-pressed", String(sheet?.said.labels[nugget] === choice.dataset.label));
    }
    const told = one.querySelector(".told");
    told.replaceChildren(...(sheet ? toldOf(sheet, nugget) : []));
    told.hidden = !told.childNodes.length;
  }

  // What stands of a nugget besides a label, as elements.
  function toldOf({ said, older, article }, nugget) {
    const lines = [];
    const line = (...parts) => {
      const made = document.createElement("p");
      made.dir = "auto";
      made.append(...parts);
      lines.push(made);
    };
    const chip = (text) => {
      const made = document.createElement("span");
      made.className = "chip warn";
      made.textContent = text;
      return made;
    };
    if (nugget in said.cannot) line(chip("can't judge"), ` ${said.cannot[nugget]}`);
    if (nugget in said.stale) {
      const pieces = (older[nugget] || []).flatMap(([kind, words]) => {
        const piece = document.createElement({ both: "span", old: "del", new: "ins" }[kind]);
        piece.textContent = words;
        return [" ", piece];
      });
      line(chip(`was: ${said.stale[nugget]}, on an older text`), ...pieces);
    }
    if (nugget in said.flags) line(chip("flag"), ` ${said.flags[nugget]}`);
    if (nugget in said.marks) {
      line(said.marks[nugget].map((mark) => `“${assay.marks.words(article, mark)}”`).join(" "));
      lines[lines.length - 1].className = "marked";
    }
    return lines;
  }

  function drawMarks() {
    const marks = present && row ? present.said.marks[row.dataset.nugget] || [] : [];
    if (present) assay.marks.show(present.article, marks);
  }

  // ---- nuggets ----

  // Let the keys be about a nugget; none: about no nugget.
  function pick(next) {
    if (row) {
      row.removeAttribute("aria-current");
      for (const choice of row.querySelectorAll("[data-key]")) {
        choice.removeAttribute("data-key");
        choice.removeAttribute("aria-keyshortcuts");
      }
    }
    row = next;
    drawMarks();
    if (!row) return;
    at = shown().indexOf(row);
    row.setAttribute("aria-current", "true");
    for (const choice of row.querySelectorAll("[data-its-key]")) {
      choice.dataset.key = choice.dataset.itsKey;
      choice.dataset.keyLabel = `This nugget: ${choice.dataset.label}`;
    }
    assay.relabel();
    row.focus({ preventScroll: true });
    row.scrollIntoView({ block: "nearest" });
  }

  function move(by) {
    const all = shown();
    const next = row ? at + by : by > 0 ? at : at - 1;
    pick(all[Math.min(Math.max(next, 0), all.length - 1)] || null);
  }

  // Go to the first nugget from a place on of which nothing is said yet; where all is said, to what comes then.
  function advance(from) {
    const left = present && !closed ? unsaid(present) : [];
    const all = shown();
    const next = [...all.slice(from), ...all.slice(0, from)].find((one) => left.includes(one.dataset.nugget));
    if (next) return pick(next);
    if (closed) return pick(all[0] || null);
    pick(null);
    at = from; // k goes to the one that was labelled last
    if (!button("next").hidden) button("next").focus();
    else if (from) state.tell("All answers are done: you can sign the topic off, or look through them once more.");
  }

  // ---- what a person does ----
  function spent() {
    const seconds = assay.active - since;
    since = assay.active;
    return seconds;
  }

  function label(one, given) {
    if (closed || !present) return;
    const { nugget } = one.dataset;
    if (present.said.labels[nugget] !== given) {
      act(present, "label", nugget, { label: given, seconds: spent() }, { label: given, reason: "", stale: "" });
    }
    advance(shown().indexOf(one) + 1);
  }

  let about = null; // what the open dialog is about
  function ask(dialog, field, value) {
    if (!present || !row) return state.tell("Choose a nugget first, with j and k.");
    about = { sheet: present, nugget: row.dataset.nugget };
    dialog.querySelector(".about").textContent = wordsOf(about.nugget);
    field.value = value(present.said)[about.nugget] || "";
    dialog.showModal();
  }

  // Have what was typed into a dialog handed on when it is confirmed; where it can't be said any more it is kept among
  // what was refused. toldBy(text) is what it says of the nugget.
  function onConfirmed(dialog, field, toldBy, take) {
    dialog.addEventListener("close", () => {
      const text = field.value.trim().replace(/\s+/g, " ");
      const isMeant = dialog.returnValue === "yes";
      dialog.returnValue = "";
      if (!isMeant) return row?.focus({ preventScroll: true });
      const { sheet, nugget } = about;
      if (!closed && sheet.said && asked(sheet).includes(nugget)) return take(sheet, nugget, text, toldBy(text));
      const typed = { action: dialog.id, nugget, text: wordsOf(nugget), number: sheet.number, edition, ...toldBy(text) };
      refused.add([{ about: typed }], closed || "This nugget of this answer is not there any more.", false);
    });
  }

  const dialogs = Object.fromEntries(["cannot", "flag", "across", "ending"].map((id) => [id, document.getElementById(id)]));
  const reason = document.getElementById("reason");
  const note = document.getElementById("note");
  const unjudged = (text) => ({ reason: text, label: "", stale: "" });
  onConfirmed(dialogs.cannot, reason, unjudged, (sheet, nugget, text, told) => {
    if (text) act(sheet, "cannot", nugget, { reason: text, seconds: spent() }, told);
    if (sheet === present) advance(at + 1);
  });
  const flagged = (text) => ({ note: text });
  onConfirmed(dialogs.flag, note, flagged, (sheet, nugget, text, told) => {
    if (text !== (sheet.said.flags[nugget] || "")) act(sheet, "flag", nugget, { note: text }, told);
    row?.focus({ preventScroll: true });
  });
  dialogs.ending.addEventListener("close", () => {
    const isMeant = dialogs.ending.returnValue === "yes";
    dialogs.ending.returnValue = "";
    if (!isMeant) return;
    // What was seen is all that is known of the answers.
    outbox.versions.signOff = [...sheets.keys()].reduce((sum, id) => sum + outbox.versions[id], 0);
    outbox.add({ url: `${base}sign-off/`, fields: {}, thread: "signOff", about: { action: "signOff", edition } });
  });

  const acts = {
    label: (element) => label(element.closest(".fact"), element.dataset.label),
    down: () => move(1),
    up: () => move(-1),
    undo,
    flag: () => ask(dialogs.flag, note, (said) => said.flags),
    cannot: () => ask(dialogs.cannot, reason, (said) => said.cannot),
    sentence: () => present && assay.marks.step(present.article, 1),
    sentenceBefore: () => present && assay.marks.step(present.article, -1),
    mark() {
      if (!row) return state.tell("Choose a nugget first, with j and k.");
      const { nugget } = row.dataset;
      const before = present.said.marks[nugget] || [];
      const chosen = assay.marks.selected(present.article);
      if (!chosen.length && !before.length) return state.tell("Select words of the answer first, with the mouse or with [ and ].");
      const marks = chosen.length ? assay.marks.joined([...before, ...chosen]) : [];
      document.getSelection().removeAllRanges();
      if (!same(marks, before)) act(present, "mark", nugget, { marks: JSON.stringify(marks) }, { marks });
    },
    later() {
      const next = afterPresent().find(toDo);
      if (!toDo(present)) return state.tell("All of this answer is said: there is nothing to put off.");
      if (!next) return state.tell("This is the last answer that is to be done.");
      const to = Math.max(...[...sheets.values()].map(({ putOff }) => putOff)) + 1;
      act(present, "later", null, {}, { to });
      open(next);
    },
    before: () => step(-1),
    after: () => step(1),
    next() {
      if (closed) return step(1);
      const left = present ? unsaid(present) : [];
      if (left.length) {
        advance(row ? at : 0);
        return state.tell(`Of ${left.length} nugget${left.length === 1 ? "" : "s"} nothing is said yet. Later (l) puts the answer off.`);
      }
      const next = afterPresent().find(toDo);
      if (next) open(next);
    },
    async across() {
      if (!row) return state.tell("Choose a nugget first, with j and k.");
      const place = document.getElementById("across-text");
      place.textContent = "…";
      dialogs.across.showModal();
      try {
        const response = await fetch(`${base}nuggets/${row.dataset.nugget}/`, { headers: { "X-Assay-Write": "1" } });
        if (!response.ok) throw new Error(response.status);
        const found = new DOMParser().parseFromString(await response.text(), "text/html");
        place.replaceChildren(...document.importNode(found.body, true).childNodes);
      } catch {
        place.textContent = "This can't be shown now: the server does not answer.";
      }
    },
    signOff() {
      if (outbox.changes.length) return state.tell("Signing off waits until all is saved.");
      dialogs.ending.showModal();
    },
  };

  function step(by) {
    const all = inOrder();
    const next = all[all.indexOf(wanted) + by];
    if (next) open(next);
    else state.tell(by > 0 ? "This is the last answer." : "This is the first answer.");
  }

  document.addEventListener("click", (event) => {
    const element = event.target.closest("[data-act]");
    const link = event.target.closest("#across-text [data-sheet]");
    if (element) acts[element.dataset.act](element);
    else if (link && sheets.has(link.dataset.sheet)) {
      event.preventDefault();
      dialogs.across.close();
      open(sheets.get(link.dataset.sheet), link.dataset.nugget);
    } else {
      const one = event.target.closest(".fact");
      if (one && !event.target.closest("button")) pick(one);
    }
  });

  // ---- when nothing can be said any more ----
  function close(why, ...more) {
    closed = why;
    const notice = document.getElementById("closed");
    notice.replaceChildren(why, ...more);
    notice.hidden = !why;
    draw();
  }

  // Have the person load the page anew before anything else: why, and what to do then.
  function stop(why, then) {
    const again = document.createElement("a");
    again.href = base;
    again.textContent = "Load the page again";
    close(why, " ", again, then);
  }

  function outdated() {
    stop("The nuggets were changed meanwhile.", " to go on with them as they are now.");
  }

  // ---- the start ----
  close(closed);
  for (const article of [...holder.querySelectorAll(".answer")]) {
    article.remove();
    take(article);
  }
  for (const name of assay.storage.names(refusedOf(""))) {
    const owner = name.slice(refusedOf("").length);
    if (owner === tab.name || tab.isOpen(owner)) continue;
    refused.take(assay.storage.get(name) || []);
    assay.storage.remove(name);
  }
  refused.draw("From an earlier visit:");
  const address = new URLSearchParams(window.location.search);
  const first = sheets.get(address.get("answer")) || inOrder().find(toDo) || inOrder()[0] || null;
  main.dataset.ready = "1";
  state.show();
  open(first, address.get("nugget"));
  outbox.send();
})();
