// Draws the figures of a page, in the system's light or dark; what lies under the pointer is named.
const dark = matchMedia("(prefers-color-scheme: dark)");
const tooltip = { id: "tip", disableDefaultStyle: true };

async function draw(place) {
  const address = new URL(place.dataset.figure, location.href);
  address.searchParams.set("theme", dark.matches ? "dark" : "light");
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${response.status}`);
  // Without inline style or eval, which the page's policy forbids.
  const options = { ast: true, defaultStyle: false, tooltip, actions: false, renderer: "svg" };
  place.replaceChildren();
  await window.vegaEmbed(place, await response.json(), options);
  place.querySelector("svg").setAttribute("aria-hidden", "true"); // its place has the name, the table the figures
}

function drawAll(which = "[data-figure]") {
  for (const place of document.querySelectorAll(which)) {
    place.dataset.drawn = ""; // htmx tells of each element that it put there
    draw(place).catch(() => {
      place.textContent = "This figure could not be drawn; its table and files are below.";
    });
  }
}

document.addEventListener("DOMContentLoaded", () => drawAll());
document.addEventListener("htmx:afterSettle", () => drawAll("[data-figure]:not([data-drawn])")); // a part of the page was replaced
document.addEventListener("keydown", ({ key }) => key === "Escape" && document.getElementById("tip")?.classList.remove("visible"));
dark.addEventListener("change", () => drawAll());
