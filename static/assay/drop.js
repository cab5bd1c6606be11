// Files and folders that are dropped on the zone, or chosen there, are sent at once.

const zoneOf = (event) => event.target.closest?.("form.drop");
document.body.classList.add("drops");

document.addEventListener("change", (event) => {
  if (event.target.type === "file" && zoneOf(event)) send(zoneOf(event), event.target.files.length);
});

for (const name of ["dragover", "dragleave", "drop"]) {
  document.addEventListener(name, (event) => {
    const form = zoneOf(event);
    if (!form) return;
    event.preventDefault();
    form.classList.toggle("over", name === "dragover");
    if (name === "drop") take(form, event.dataTransfer);
  });
}

async function take(form, dropped) {
  const entries = [...dropped.items].map((item) => item.webkitGetAsEntry()).filter(Boolean);
  const chosen = new DataTransfer();
  for (const file of (await Promise.all(entries.map(filesOf))).flat()) chosen.items.add(file);
  form.querySelector("#id_uploads").files = chosen.files;
  send(form, chosen.files.length);
}

async function filesOf(entry) {
  if (entry.isFile) return [await new Promise((resolve, reject) => entry.file(resolve, reject))];
  const reader = entry.createReader();
  const inside = [];
  for (let some = [null]; some.length; inside.push(...some)) {
    some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject)); // a hundred at a time
  }
  const persons = inside.filter((one) => !one.name.startsWith("."));
  return (await Promise.all(persons.map(filesOf))).flat();
}

function send(form, count) {
  const most = Number(form.dataset.most);
  const isTooMany = count > most;
  const wrong = `These are ${count} files; at most ${most} are taken at once. Pack them into a .zip.`;
  form.querySelector("[data-wrong]").textContent = isTooMany ? wrong : "";
  if (count && !isTooMany) form.requestSubmit();
}

document.addEventListener("htmx:xhr:progress", (event) => {
  const bar = zoneOf(event)?.querySelector("progress");
  if (!bar || !event.detail.lengthComputable) return;
  bar.hidden = false;
  bar.max = event.detail.total;
  bar.value = event.detail.loaded;
});
