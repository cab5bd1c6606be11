// Active time: seconds in which the tab is visible and the last input is less than 60 s ago.
assay.active = 0; // active seconds since the page was opened
assay.lastInput = Date.now();

const shown = document.getElementById("time");
let reported = 0; // of the active seconds
let unsent = null; // {key, seconds}: sent again until the server has it

for (const name of ["keydown", "pointerdown", "pointermove", "scroll", "wheel"]) {
  document.addEventListener(name, () => (assay.lastInput = Date.now()), { passive: true, capture: true });
}

async function report() {
  if (!unsent && assay.active > reported) {
    unsent = { key: assay.uuid(), seconds: assay.active - reported };
    reported = assay.active;
  }
  if (!unsent) return;
  const sent = unsent;
  try {
    const response = await assay.post(shown.dataset.url, sent, { keepalive: true });
    if (response.ok) {
      shown.textContent = await response.text();
      if (unsent === sent) unsent = null;
    }
  } catch {
    // Offline: the next report sends it again.
  }
}

setInterval(() => {
  if (document.visibilityState === "visible" && Date.now() - assay.lastInput < 60000) assay.active += 1;
  if (assay.active - reported >= 30) report();
}, 1000);
document.addEventListener("visibilitychange", () => document.visibilityState === "hidden" && report());
