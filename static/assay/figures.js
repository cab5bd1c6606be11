// Draws the figures of a page, in the system's light or dark; what lies under the pointer is named.
const dark = matchMedia("(prefers-color-scheme: dark)");
const tip = document.getElementById("tip");

function show(handler, event, item, value) {
  tip.hidden = !value;
  if (!value) return;
  tip.textContent = Object.entries(value).map(([name, told]) => `${name}: ${told}`).join("\n");
  const wide = document.documentElement.clientWidth;
  tip.style.left = `${Math.max(8, Math.min(event.pageX + 12, scrollX + wide - tip.offsetWidth - 8))}px`;
  tip.style.top = `${event.pageY + 12}px`;
}

async function draw(place) {
  const response = await fetch(`${place.dataset.figure}?theme=${dark.matches ? "dark" : "light"}`);
  if (!response.ok) throw new Error(`${response.status}`);
  // Without inline style or eval, which the page's policy forbids.
  const options = { ast: true, defaultStyle: false, tooltip: show, actions: false, renderer: "svg" };
  place.replaceChildren();
  await window.vegaEmbed(place, await response.json(), options);
  place.querySelector("svg").setAttribute("aria-hidden", "true"); // its place has the name, the table the figures
}

function drawAll() {
  for (const place of document.querySelectorAll("[data-figure]")) {
    draw(place).catch(() => {
      place.textContent = "This figure could not be drawn; its table and files are below.";
    });
  }
}

document.addEventListener("DOMContentLoaded", drawAll);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") tip.hidden = true;
});
dark.addEventListener("change", drawAll);
