// The sentences that scripts say. They stand in the page, in <template id="words">, each under its name (data-say) and
// with {gaps} for what only the script knows.
assay.say = (name, told = {}) => {
  const sentence = document.getElementById("words").content.querySelector(`[data-say="${name}"]`);
  return sentence.textContent.replace(/\{(\w+)\}/g, (gap, key) => told[key] ?? "");
};

// A number with what it counts: assay.count(2, "change") says "2 changes".
assay.count = (number, thing) => `${number} ${assay.say(number === 1 ? thing : `${thing}s`)}`;

// What is there already is not written again: each write would cost a layout at every key, and a link its focus.
assay.write = (element, text, property = "textContent") => {
  if (element[property] !== text) element[property] = text;
};
