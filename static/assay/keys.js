// Keys: an element with data-key is clicked (a field is focused) when its key is pressed outside of typing.
// A person can put single-character keys on others, or switch them all off: pages have them as they are for the person.

const typing = (target) =>
  target.matches("textarea, select, input:not([type=radio], [type=checkbox], [type=button], [type=submit])");

// What has keys, or had some; of rows that have the same, in the present one.
const controls = () => [...document.querySelectorAll("[data-key-label]:not(.fact:not([aria-current]) *)")];
const usable = (element) => !element.disabled && element.getClientRects().length > 0;

// A letter by what it says, whatever Caps Lock says; on other scripts' layouts by where it stands.
function letter(event) {
  const foreign = [...event.key].length === 1 && event.key > "\u007f" && /^Key[A-Z]$/.test(event.code);
  return (foreign ? event.code.slice(3) : event.key).toLowerCase();
}

function pressed(event) {
  const key = letter(event);
  const ctrl = event.ctrlKey || event.metaKey;
  const shift = event.shiftKey && (ctrl || event.altKey || /^[a-z]$/.test(key));
  return [ctrl && "ctrl", event.altKey && "alt", shift && "shift", key].filter(Boolean).join("+");
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
  const control = controls().find((one) => [one.dataset.key, one.dataset.arrow].includes(name) && usable(one));
  if (!control || (field && name.startsWith("ctrl+") && control.dataset.keyIn !== field.id)) return;
  event.preventDefault();
  // A key held down acts once, unless it only moves.
  if (event.repeat && !control.hasAttribute("data-key-repeats")) return;
  control.click();
  if (typing(control)) control.focus();
});

assay.element = (tag, told, ...children) => {
  const made = Object.assign(document.createElement(tag), told);
  made.append(...children);
  return made;
};

const ARROWS = { arrowup: "↑", arrowdown: "↓" };

function describe(control) {
  const { arrow, keyLabel } = control.dataset;
  const key = (control.labels?.[0] || control).querySelector("kbd");
  const names = [key?.textContent, ARROWS[arrow]].filter(Boolean);
  return assay.element("li", {}, keyLabel, assay.element("kbd", {}, names.join(" ") || document.getElementById("keys-text").dataset.off));
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

// Ask in a dialog. about: what it is about, in words; yes, no: what is done then.
assay.ask = (name, about, yes, no) => {
  const dialog = document.getElementById(name);
  if (about) dialog.querySelector(".about").textContent = about;
  dialog.returnValue = "";
  dialog.onclose = () => (dialog.returnValue === "yes" ? yes() : no?.());
  dialog.showModal();
};
