// "Select topics without an assessor": checks every box of that name whose topic nobody has yet.
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-choose]");
  if (!button) return;
  const boxes = document.querySelectorAll(`input[name="${button.dataset.choose}"]:not([data-given])`);
  for (const box of boxes) box.checked = true;
});
