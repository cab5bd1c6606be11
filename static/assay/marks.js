// Words of an answer that carry a nugget: selected with the mouse, or whole sentences with keys. A mark is [sentence,
// start, end], in characters (code points) of the sentence's text, as the server counts.
"use strict";

window.assay = window.assay || {};

assay.marks = (() => {
  const sentences = (article) => [...article.querySelectorAll(".sentences .reading")];
  const points = (text, units) => [...text.slice(0, units)].length;
  const units = (text, count) => [...text].slice(0, count).join("").length;

  // What is selected of an answer, without the blanks around it, sentence by sentence.
  function selected(article) {
    const selection = document.getSelection();
    if (!selection.rangeCount || selection.isCollapsed) return [];
    const chosen = selection.getRangeAt(0);
    return sentences(article).flatMap((sentence, at) => {
      const text = sentence.firstChild;
      if (!text || !chosen.intersectsNode(text)) return [];
      const from = chosen.startContainer === text ? chosen.startOffset : 0;
      const to = chosen.endContainer === text ? chosen.endOffset : text.length;
      const [start, end] = trimmed(text.data, from, to);
      return end > start ? [[at, points(text.data, start), points(text.data, end)]] : [];
    });
  }

  // Marks in order, those that touch each other joined.
  function joined(marks) {
    const found = [];
    for (const [sentence, start, end] of [...marks].sort((a, b) => a[0] - b[0] || a[1] - b[1])) {
      const last = found[found.length - 1];
      if (last && last[0] === sentence && start <= last[2]) last[2] = Math.max(last[2], end);
      else found.push([sentence, start, end]);
    }
    return found;
  }

  function words(article, [sentence, start, end]) {
    return [...sentences(article)[sentence].textContent].slice(start, end).join("");
  }

  function show(article, marks) {
    const places = marks.map(([sentence, start, end]) => {
      const text = sentences(article)[sentence].firstChild;
      return range(text, units(text.data, start), units(text.data, end));
    });
    assay.highlight("evidence", places);
  }

  // Select the next sentence (by 1) or the one before (by -1) of the one that is selected; the first press the first.
  function step(article, by) {
    const all = sentences(article);
    const { anchorNode } = document.getSelection();
    const at = all.findIndex((sentence) => sentence.contains(anchorNode));
    const sentence = all[at < 0 ? 0 : Math.min(Math.max(at + by, 0), all.length - 1)];
    if (!sentence) return;
    document.getSelection().selectAllChildren(sentence);
    sentence.scrollIntoView({ block: "nearest" });
  }

  return { selected, joined, words, show, step };
})();
