// The screen of reports: one sentence in its report, beside it a document that it cites, and the questions that may be
// answered there. What is asked of one citation, or of a sentence that cites nothing, is a group.
const holder = document.getElementById("passages");
const steps = [...document.querySelectorAll(".step")];
const boxes = [...document.querySelectorAll("[data-answer]")];
const ticks = [...document.querySelectorAll("#ticks > span")];
const KEY = /^(s(\d+)(?:\.d(.+))?)\.(?:(n[0-9a-f-]{36}\.[^.]+)|(attests|needs|first|negative))$/s;
// What comes back of an item with the label that it follows from: as writes call it, and where it stands.
const BACK = { label: "labels", cannot: "cannot", flag: "flags" };
const known = new Map();

// The parts of an item's key, as items.py makes them.
function partsOf(key) {
  if (!known.has(key)) {
    const [, group, sentence, docid = "", answer = "", step = "answers"] = KEY.exec(key);
    known.set(key, { group, sentence, docid, answer, step });
  }
  return known.get(key);
}

class Argue extends assay.Workbench {
  AHEAD = 3;

  constructor(tab) {
    super(tab);
    const { label, cannot } = this.actions;
    // Whoever judges it anew has seen the text as it is now.
    for (const { columns } of [label, cannot]) columns.push("stale");
    // What vanishes with the label that it follows from comes back with it.
    label.fields = ({ labels, others }) => {
      const back = Object.keys(others || {}).length && { others: JSON.stringify(others) };
      return { label: labels, ...back };
    };
    this.actions.answers = { columns: [], fields: ({ answers }) => ({ labels: JSON.stringify(answers) }) };
  }

  // ---- what is asked ----
  asked(sheet) {
    return sheet.said.open.filter((key) => this.isAsked(sheet, key));
  }

  isAsked({ said, follows = {} }, key) {
    const { group, docid, step } = partsOf(key);
    return docid || Object.entries(follows[step] || {}).every(([of, label]) => said.labels[`${group}.${of}`] === label);
  }

  // What may be asked because of an item's label.
  followers({ said, follows = {} }, item) {
    const { group, docid, step } = partsOf(item);
    const led = Object.keys(follows).filter((name) => !docid && step in follows[name]);
    return said.open.filter((key) => partsOf(key).group === group && led.includes(partsOf(key).step));
  }

  groupOf(sheet, item) {
    return this.asked(sheet).filter((key) => partsOf(key).group === partsOf(item).group);
  }

  // The answers that are confirmed together.
  strip(sheet, item) {
    return this.groupOf(sheet, item).filter((key) => partsOf(key).answer && !(key in sheet.said.cannot));
  }

  nextUnsaid() {
    const here = this.item && this.groupOf(this.present, this.item);
    return this.unsaid(this.present).find((key) => here?.includes(key)) ?? super.nextUnsaid();
  }

  taken(sheet, article) {
    sheet.follows = JSON.parse(article.dataset.follows);
    sheet.ticks ||= new Set(); // answers that are ticked, and not confirmed
    sheet.documents = article.querySelector(".cited");
    holder.append(sheet.documents);
    this.changedElsewhere(article.dataset);
  }

  drop(sheet) {
    super.drop(sheet);
    sheet.documents?.remove();
  }

  changedElsewhere({ edition }) {
    if (String(edition) !== this.edition) this.stop(assay.say("questions-changed"), assay.say("to-go-on"));
  }

  // ---- where items are on screen ----
  sentence(sheet, item) {
    return sheet.article?.querySelector(`[data-sentence="${partsOf(item).sentence}"]`);
  }

  elementOf(sheet, item) {
    if (!item) return null;
    const { answer, step } = partsOf(item);
    return answer ? boxes.find((box) => box.dataset.answer === answer) : steps.find((row) => row.dataset.step === step);
  }

  itemAt(choice) {
    const step = choice.closest("[data-step]")?.dataset.step;
    return step && this.item ? `${partsOf(this.item).group}.${step}` : this.item;
  }

  wordsOf(sheet, item) {
    const line = this.sentence(sheet, item);
    if (!line) return assay.say("gone-item");
    const { answer } = partsOf(item);
    const element = this.elementOf(sheet, item);
    const about = answer
      ? assay.say("states", { answer: element?.closest("label").querySelector("[data-words]").textContent })
      : element.dataset.about;
    return assay.say("about-item", { sentence: line.querySelector(".reading").textContent, about });
  }

  // ---- what is said ----
  standing(sheet, action, item) {
    const { said } = sheet;
    if (action === "answers") {
      return { answers: Object.fromEntries(this.strip(sheet, item).map((key) => [key, said.labels[key] || ""])) };
    }
    const standing = super.standing(sheet, action, item);
    if (!("labels" in standing)) return standing;
    const others = {};
    for (const key of this.followers(sheet, item)) {
      const there = Object.entries(BACK).filter(([, column]) => key in said[column]);
      if (there.length) others[key] = Object.fromEntries(there.map(([name, column]) => [name, said[column][key]]));
    }
    return { ...standing, others };
  }

  effect(sheet, about) {
    const { answers, others, ...now } = about.now;
    super.effect(sheet, { ...about, now });
    const { said } = sheet;
    for (const [key, label] of Object.entries(answers || {})) {
      for (const column of ["labels", "cannot", "stale"]) delete said[column][key];
      if (label) said.labels[key] = label;
    }
    for (const [key, there] of Object.entries(others || {})) {
      for (const [name, value] of Object.entries(there)) said[BACK[name]][key] = value;
    }
    // What is asked no longer has no label any more.
    for (const key of said.open.filter((other) => !this.isAsked(sheet, other))) {
      for (const column of ["labels", "cannot", "flags", "stale"]) delete said[column][key];
    }
  }

  inWords(now) {
    if (!now.answers) return super.inWords(now);
    const labels = Object.values(now.answers);
    if (!labels.some(Boolean)) return assay.say("nothing-stated");
    return assay.say("stated", { stated: labels.filter((label) => label === "yes").length, total: labels.length });
  }

  tick(box) {
    const { present } = this;
    if (!this.canSay || Date.now() < this.heldUntil) return this.draw();
    const item = `${partsOf(this.item).group}.${box.dataset.answer}`;
    const isDecided = item in present.said.labels || item in present.said.cannot;
    if (item !== this.item) this.pick(item); // by mouse, or with a digit
    if (isDecided) {
      const label = present.said.labels[item] === "yes" ? "no" : "yes";
      return this.act(present, "label", item, this.only("label", "labels", label), { seconds: this.spent() });
    }
    if (!present.ticks.delete(item)) present.ticks.add(item);
    this.draw();
  }

  next() {
    const { present, item } = this;
    if (!this.canSay || !partsOf(item).answer || Date.now() < this.heldUntil) return super.next();
    const undecided = this.strip(present, item).filter((key) => !(key in present.said.labels));
    if (!undecided.length) return super.next();
    const answers = Object.fromEntries(undecided.map((key) => [key, present.ticks.has(key) ? "yes" : "no"]));
    this.act(present, "answers", undecided[0], { answers }, { seconds: this.spent() });
    this.advance();
  }

  moveGroup(by) {
    if (!this.present || !this.item) return this.step(by, by > 0 ? "first" : "last");
    const all = [...new Set(this.asked(this.present).map((key) => partsOf(key).group))];
    const group = all[all.indexOf(partsOf(this.item).group) + by];
    if (!group) return this.step(by, by > 0 ? "first" : "last");
    this.pick(this.asked(this.present).find((key) => partsOf(key).group === group));
  }

  // ---- drawing ----
  arrive(sheet, item, isNew) {
    super.arrive(sheet, item, isNew);
    if (isNew) window.scrollTo(0, 0); // where the document stands below the report, that is read first
  }

  draw() {
    super.draw();
    const { present, item } = this;
    const here = present && item ? partsOf(item) : null;
    const group = here ? this.groupOf(present, item) : [];
    this.drawDocument(here);
    for (const row of steps) {
      const { step } = row.dataset;
      row.hidden = !group.includes(`${here?.group}.${step}`);
      const isPresent = !row.hidden && (step === here.step || step === "attests");
      row.ariaCurrent = isPresent ? "true" : null;
      // Keys are about the present row alone (keys.js).
      for (const choice of row.querySelectorAll("[data-choice]")) {
        choice.ariaKeyShortcuts = (isPresent && choice.dataset.key) || null;
      }
    }
    this.drawStrip(here, group);
    if (!present) return;
    const all = this.asked(present);
    const done = all.length - this.unsaid(present).length;
    document.getElementById("said-count").textContent = assay.say("said-count", { done, total: all.length });
    this.drawSentences(present, here, all);
  }

  drawDocument(here) {
    const { present } = this;
    let found = null;
    for (const one of holder.querySelectorAll(".passage")) {
      one.hidden = one.parentElement !== present?.documents || one.dataset.docid !== here?.docid;
      if (!one.hidden) found = one;
    }
    const lacking = document.getElementById("no-document");
    lacking.hidden = !here || Boolean(found);
    if (!lacking.hidden) lacking.textContent = assay.say(here.docid ? "no-text" : "cites-nothing", here);
    const same = here ? this.asked(present).filter((key) => partsOf(key).sentence === here.sentence) : [];
    const groups = [...new Set(same.map((key) => partsOf(key).group))];
    const which = { number: groups.indexOf(here?.group) + 1, total: groups.length };
    document.getElementById("which").textContent = groups.length > 1 ? assay.say("which", which) : "";
  }

  drawStrip(here, group) {
    const { present, item } = this;
    const keys = group.filter((key) => partsOf(key).answer);
    let number = 0;
    for (const box of boxes) {
      const key = `${here?.group}.${box.dataset.answer}`;
      const row = box.closest("label");
      row.hidden = !keys.includes(key);
      const tick = row.hidden ? null : ticks[number++];
      const [name, kbd] = [tick?.dataset.key, row.querySelector("kbd")];
      kbd.hidden = !name;
      kbd.textContent = name ? tick.textContent : "";
      box.ariaKeyShortcuts = name || null;
      // In the list of keys stands what has one.
      Object.assign(box.dataset, name ? { key: name, keyLabel: assay.say("tick", { number }) } : {});
      if (!name) for (const of of ["key", "keyLabel"]) delete box.dataset[of];
      if (row.hidden) continue;
      const { labels, cannot, flags, stale } = present.said;
      box.checked = key in labels ? labels[key] === "yes" : present.ticks.has(key);
      row.ariaCurrent = key === item ? "true" : null;
      const told = [
        key in cannot && assay.say("cannot-chip"),
        key in stale && assay.say("was", { label: stale[key] }),
        key in flags && "⚑",
      ];
      row.querySelector(".told").textContent = told.filter(Boolean).join(", ");
    }
    for (const question of document.querySelectorAll(".question")) {
      question.hidden = !question.querySelector("label:not([hidden])");
    }
    document.getElementById("strip").hidden = !keys.length && !here?.docid;
    document.getElementById("strip-none").hidden = keys.length > 0;
    document.getElementById("strip-title").hidden = !keys.length;
    const isOpen = keys.some((key) => this.unsaid(present).includes(key));
    assay.write(document.getElementById("strip-state"), keys.length ? assay.say(isOpen ? "to-confirm" : "confirmed") : "");
  }

  drawSentences(sheet, here, all) {
    const groups = new Map();
    for (const key of all) {
      const { sentence, group } = partsOf(key);
      if (!groups.has(sentence)) groups.set(sentence, new Map());
      const of = groups.get(sentence);
      of.set(group, [...(of.get(group) || []), key]);
    }
    for (const line of sheet.article.querySelectorAll("[data-asked]")) {
      const { sentence } = line.dataset;
      line.ariaCurrent = sentence === here?.sentence ? "true" : null;
      const words = [...(groups.get(sentence)?.values() || [])].map((keys) => this.summary(sheet, keys));
      assay.write(line.querySelector(".told"), words.filter(Boolean).join("; "));
    }
  }

  called(item, label) {
    const { answer } = partsOf(item);
    return answer ? label : this.elementOf(null, item).querySelector(`[data-label="${label}"]`).dataset.says;
  }

  // What is said of a group, in a few words.
  summary({ said }, keys) {
    const words = [];
    for (const key of keys.filter((one) => !partsOf(one).answer)) {
      if (key in said.labels) words.push(this.called(key, said.labels[key]));
      else if (key in said.cannot) words.push(assay.say("cannot-chip"));
    }
    const answers = keys.filter((key) => partsOf(key).answer && key in said.labels);
    const stated = answers.filter((key) => said.labels[key] === "yes").length;
    if (answers.length) words.push(assay.count(stated, "answer"));
    if (keys.some((key) => partsOf(key).answer && key in said.cannot)) words.push(assay.say("cannot-chip"));
    if (keys.some((key) => key in said.flags)) words.push("⚑");
    const { docid } = partsOf(keys[0]);
    return words.length && docid ? `${docid}: ${words.join(", ")}` : words.join(", ");
  }

  toldOf(sheet, item) {
    const { stale } = sheet.said;
    const older = item in stale ? [this.line("", assay.say("was", { label: stale[item] }))] : [];
    return [...super.toldOf(sheet, item), ...older];
  }

  pick(item) {
    const isNew = !this.item || !item || partsOf(item).group !== partsOf(this.item).group;
    if (isNew) this.since = assay.active;
    super.pick(item);
    if (!item || !isNew) return;
    holder.scrollTop = 0;
    this.sentence(this.present, item)?.scrollIntoView({ block: "nearest" }); // with some of the report around it
    window.scrollTo(0, 0);
  }

  clicked({ target }) {
    const line = target.closest("[data-asked]");
    if (!line || !document.getSelection().isCollapsed) return;
    const here = this.asked(this.present).filter((key) => partsOf(key).sentence === line.dataset.sentence);
    this.pick(this.unsaid(this.present).find((key) => here.includes(key)) || here[0]);
  }
}

new Argue(await assay.tab()).start();
