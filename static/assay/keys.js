// Keys: an element with data-key is clicked (a field is focused) when its key is pressed outside of typing.
// A person can put single-character keys on others, or switch them all off: their settings come with each page.
const { off = false, own = {} } = JSON.parse(document.body.dataset.keys || "{}");

const typing = (target) =>
  target.matches("textarea, select, input:not([type=radio], [type=checkbox], [type=button], [type=submit])");

// A key is a character, Shift and a letter (which follows that letter's own change), or a combination.
const isSingle = (key) => [...key].length === 1;
const isCharacter = (key) => isSingle(key.replace(/^shift\+/, ""));
const isOff = (key) => off && isCharacter(key);
const present = (key) => (key.startsWith("shift+") ? `shift+${present(key.slice(6))}` : own[key] || key);
const controls = () => [...document.querySelectorAll("[data-key]")];
const usable = (element) => !element.disabled && element.getClientRects().length > 0;

// A letter by what it says, whatever Caps Lock says; on other scripts' layouts by where it stands.
function letter(event) {
  const foreign = isSingle(event.key) && event.key > "\u007f" && /^Key[A-Z]$/.test(event.code);
  return (foreign ? event.code.slice(3) : event.key).toLowerCase();
}

function pressed(event) {
  const key = letter(event);
  const ctrl = event.ctrlKey || event.metaKey;
  const shift = event.shiftKey && (ctrl || event.altKey || /^[a-z]$/.test(key));
  return [ctrl && "ctrl", event.altKey && "alt", shift && "shift", key].filter(Boolean).join("+");
}

function matches({ dataset: { key, arrow } }, name) {
  return arrow === name || (!isOff(key) && present(key) === name);
}

document.addEventListener("keydown", (event) => {
  if (!event.key || event.defaultPrevented || event.isComposing) return; // filling in sends events without a key
  const name = pressed(event);
  // What has the focus takes its own Enter, once: held down, it would go through a dialog that asks.
  if (name === "enter" && event.target.closest("button, a[href], summary")) {
    if (event.repeat) event.preventDefault();
    return;
  }
  // A panel that was tabbed to scrolls by arrows.
  if (name.startsWith("arrow") && event.target.matches('[tabindex="0"]')) return;
  // Typing is typing; a field may say that Alt and an arrow move what it belongs to, or name what Ctrl may do in it.
  const field = typing(event.target) ? event.target : null;
  if (field && !(name.startsWith("alt+") ? field.hasAttribute("data-alt-keys") : name.startsWith("ctrl+"))) return;
  if (document.querySelector("dialog[open]")) return;
  const control = controls().find((element) => matches(element, name) && usable(element));
  if (!control || (field && name.startsWith("ctrl+") && control.dataset.keyIn !== field.id)) return;
  event.preventDefault();
  // A key held down acts once, unless it only moves.
  if (event.repeat && !control.hasAttribute("data-key-repeats")) return;
  if (typing(control)) {
    control.dispatchEvent(new CustomEvent("assay:key", { bubbles: true }));
    control.focus();
  } else {
    control.click();
  }
});

const NAMES = { enter: "⏎", arrowup: "↑", arrowdown: "↓", alt: "Alt", ctrl: "Ctrl", shift: "⇧" };
const inWords = (key) =>
  isSingle(key) ? key : key.split("+").map((part) => NAMES[part] || part.toUpperCase()).join(" ");

function showKey(kbd, key) {
  kbd.textContent = inWords(present(key));
  kbd.hidden = isOff(key);
}

// Show the keys as they are for this person: on their controls, and wherever a text names one.
assay.relabel = () => {
  for (const element of controls()) {
    const { key } = element.dataset;
    const kbd = (element.labels?.[0] || element).querySelector("kbd");
    if (kbd) showKey(kbd, key);
    if (!isCharacter(key)) continue;
    element.setAttribute("aria-keyshortcuts", off ? "" : present(key).replace("shift", "Shift"));
  }
  for (const kbd of document.querySelectorAll("kbd[data-key-of]")) showKey(kbd, kbd.dataset.keyOf);
};
// Keys as they are for this person, for a sentence; none of the characters where they are off.
assay.keyNames = (...keys) => keys.filter((key) => !isOff(key)).map((key) => inWords(present(key)));
// How to do something by keys, for the end of a sentence; nothing where they are off.
assay.byKeys = (...keys) => (off ? "" : `, with ${assay.keyNames(...keys).join(" and ")}`);
// What Enter says where nothing is labelled yet.
assay.howToLabel = () => {
  const labels = [...document.querySelectorAll("[data-choice][data-key]")].map(({ dataset }) => dataset.key);
  const pass = assay.keyNames("arrowdown", "j").join(" or ");
  const told = { labels: assay.keyNames(...labels).join(" "), cannot: assay.keyNames("x"), pass };
  return assay.say(off ? "no-label-yet-by-mouse" : "no-label-yet", told);
};

assay.element = (tag, told, ...children) => {
  const made = Object.assign(document.createElement(tag), told);
  made.append(...children);
  return made;
};

function describe({ dataset: { key, arrow, keyLabel } }) {
  const names = assay.keyNames(...[key, arrow].filter(Boolean));
  return assay.element("li", {}, keyLabel, assay.element("kbd", {}, names.join(" ") || "off"));
}

document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-dialog]");
  if (!opener) return;
  event.preventDefault();
  if (opener.dataset.dialog === "keys") {
    document.getElementById("keys-text").replaceChildren(...controls().map(describe));
  }
  document.getElementById(opener.dataset.dialog).showModal();
});

// Ask in a dialog; what comes of it is done with whether the answer is yes.
assay.ask = (dialog, answer) => {
  dialog.returnValue = "";
  dialog.onclose = () => answer(dialog.returnValue === "yes");
  dialog.showModal();
};

document.addEventListener("DOMContentLoaded", assay.relabel);
