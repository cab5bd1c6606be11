// Keys: an element with data-key is clicked (a field is focused) when its key is pressed outside of typing.
// In the dialog of `?` a person can change a single-character key or switch them all off; that is kept in the browser.
"use strict";

window.assay = window.assay || {};

assay.keys = (() => {
  const STORE = "assay.keys";
  let settings = { off: false, map: {} };
  try {
    settings = { ...settings, ...JSON.parse(localStorage.getItem(STORE) || "{}") };
  } catch {
    localStorage.removeItem(STORE);
  }

  const typing = (target) =>
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement ||
    (target instanceof HTMLInputElement && !["radio", "checkbox", "button", "submit"].includes(target.type));

  const isSingle = (key) => [...key].length === 1;
  const present = (key) => settings.map[key] || key;
  const controls = () => [...document.querySelectorAll("[data-key]")];
  const usable = (element) => !element.disabled && element.getClientRects().length > 0;

  function pressed(event) {
    const parts = [];
    if (event.ctrlKey || event.metaKey) parts.push("ctrl");
    if (event.altKey) parts.push("alt");
    if (event.shiftKey && parts.length) parts.push("shift");
    return [...parts, event.key].join("+");
  }

  function matches(element, name) {
    const key = element.dataset.key;
    return isSingle(key) ? !settings.off && present(key) === name : key === name;
  }

  document.addEventListener("keydown", (event) => {
    const name = pressed(event);
    if (event.defaultPrevented || event.isComposing) return;
    // Moving with Alt and an arrow means nothing to a text field, so it works there too.
    if (typing(event.target) && !name.startsWith("alt+")) return;
    if (document.querySelector("dialog[open]")) return;
    const control = controls().find((element) => matches(element, name) && usable(element));
    if (!control) return;
    event.preventDefault();
    if (typing(control)) {
      control.dispatchEvent(new CustomEvent("assay:key", { bubbles: true }));
      control.focus();
    } else {
      control.click();
    }
  });

  // Show the keys as they are now on their controls.
  function relabel() {
    for (const element of controls()) {
      const key = element.dataset.key;
      const shown = (element.matches("textarea") ? element.labels[0] : element).querySelector("kbd");
      if (shown && isSingle(key)) {
        shown.textContent = present(key);
        shown.hidden = settings.off;
      }
    }
  }

  function keep() {
    localStorage.setItem(STORE, JSON.stringify(settings));
    relabel();
  }

  const NAMES = { ArrowUp: "↑", ArrowDown: "↓", alt: "Alt", ctrl: "Ctrl", shift: "Shift" };

  function keyField(element) {
    const key = element.dataset.key;
    if (!isSingle(key)) {
      const kbd = document.createElement("kbd");
      kbd.textContent = key.split("+").map((part) => NAMES[part] || part.toUpperCase()).join(" ");
      return kbd;
    }
    const input = document.createElement("input");
    input.value = present(key);
    input.maxLength = 1;
    input.addEventListener("change", () => {
      const taken = controls().some((other) => other !== element && present(other.dataset.key) === input.value);
      if (!input.value.trim() || taken) {
        input.value = present(key);
        return;
      }
      settings.map[key] = input.value;
      keep();
    });
    return input;
  }

  function fillDialog(target) {
    const labels = controls().map((element) => {
      const label = document.createElement("label");
      label.append(element.dataset.keyLabel, keyField(element));
      return label;
    });
    const off = document.createElement("label");
    const box = document.createElement("input");
    box.type = "checkbox";
    box.checked = settings.off;
    box.addEventListener("change", () => {
      settings.off = box.checked;
      keep();
    });
    off.append("Switch single-character keys off", box);
    target.replaceChildren(...labels, off);
  }

  document.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-dialog]");
    if (!opener) return;
    const dialog = document.getElementById(opener.dataset.dialog);
    event.preventDefault();
    if (dialog.id === "keys") fillDialog(document.getElementById("keys-text"));
    dialog.showModal();
  });

  document.addEventListener("DOMContentLoaded", relabel);
  return { typing };
})();
