// "Choose all not given": checks every box of that name whose topic nobody has yet.
"use strict";

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-choose]");
  if (!button) return;
  for (const box of document.querySelectorAll(`input[name="${button.dataset.choose}"]:not([data-given])`)) {
    box.checked = true;
  }
});
