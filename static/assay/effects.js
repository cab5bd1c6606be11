// What each change does to the list on screen, before the server has answered; also for changes that an earlier
// visit left. The server's list has the last word.
"use strict";

window.assay = window.assay || {};

assay.effects = (list, passages, reading) => {
  const { folded, text: textOf, note: noteOf, evidence: evidenceOf } = assay.NuggetList;
  const same = (one, other) => one.docid === other.docid && one.start === other.start && one.end === other.end;
  const united = (evidence) => evidence.filter((one, at) => evidence.findIndex((other) => same(one, other)) === at);

  // Their notes, each once: the halves of a nugget share theirs.
  const notesOf = (rows) => [...new Set(rows.map((row) => noteOf(row).dataset.saved).filter(Boolean))].join(" / ");

  // The field that a change is about, if it is about one.
  function fieldOf({ action, uid }) {
    if (action === "reading") return reading;
    const row = list.row(uid);
    return (row && { reword: textOf, note: noteOf }[action]?.(row)) || null;
  }

  function decide(uid) {
    list.row(uid)?.removeAttribute("data-undecided");
  }

  function setField({ action, uid, text }) {
    const field = fieldOf({ action, uid });
    if (!field) return;
    field.dataset.saved = text;
    if (folded(field.value) !== text) field.value = text;
    list.tidy();
  }

  function setEvidence(uid, of) {
    const row = list.row(uid);
    if (row) list.setEvidence(row, of(evidenceOf(row)));
  }

  function showRead() {
    const read = new Set(JSON.parse(list.element.dataset.read));
    for (const article of passages.articles) {
      article.querySelector(".is-read").hidden = !read.has(article.dataset.docid);
      article.toggleAttribute("data-read", read.has(article.dataset.docid));
    }
    const shown = passages.articles.filter((article) => read.has(article.dataset.docid)).length;
    document.getElementById("read-count").textContent = shown ? `${shown} read` : "";
  }

  const effects = {
    add({ uid, text, evidence, importance }) {
      if (!list.row(uid)) list.insert({ uid, text, evidence: evidence ? [evidence] : [], importance });
      list.tidy();
    },
    keep({ uid }) {
      decide(uid);
      list.tidy();
    },
    reword(about) {
      decide(about.uid);
      setField(about);
    },
    note: setField,
    reading: setField,
    importance({ uid, importance }) {
      const radio = list.row(uid)?.querySelector(`input[value="${importance}"]`);
      if (radio) radio.checked = true;
      decide(uid);
      list.tidy();
    },
    move({ uid, to }) {
      const row = list.row(uid);
      if (!row) return;
      const others = list.rows.filter((other) => other !== row);
      list.move(row, others[to]);
      list.tidy();
    },
    delete({ uid }) {
      const row = list.row(uid);
      if (row) list.remove(row);
      list.tidy();
    },
    attach: ({ uid, evidence }) => setEvidence(uid, (there) => united([...there, evidence])),
    detach: ({ uid, evidence }) => setEvidence(uid, (there) => there.filter((one) => !same(one, evidence))),
    merge({ uid, uids, text }) {
      const rows = list.rows.filter((row) => uids.includes(row.dataset.uid));
      if (!rows.length || list.row(uid)) return;
      const importance = new Set(rows.map((row) => row.querySelector("input[type=radio]:checked")?.value || ""));
      const merged = {
        uid,
        text,
        evidence: united(rows.flatMap(evidenceOf)),
        importance: importance.size === 1 ? [...importance][0] : "",
        note: notesOf(rows),
        origin: `merged from ${rows.length}`,
      };
      list.insert(merged, rows[0]);
      for (const row of rows) list.remove(row);
      list.tidy();
    },
    split({ uid, into }) {
      const row = list.row(uid);
      if (!row) return;
      const [evidence, note] = [evidenceOf(row), noteOf(row).dataset.saved];
      for (const part of into) if (!list.row(part.uid)) list.insert({ ...part, evidence, note, origin: "split" }, row);
      list.remove(row);
      list.tidy();
    },
    read({ docid, read }) {
      const all = new Set(JSON.parse(list.element.dataset.read));
      if (read) all.add(docid);
      else all.delete(docid);
      list.element.dataset.read = JSON.stringify([...all]);
      showRead();
    },
  };
  return { effects, fieldOf, notesOf, showRead, same };
};
