// Forms that a passkey fills in. They are hidden until it is known that this browser has passkeys.
const { create, get } = window.webauthnJSON ?? {};

async function optionsOf(form) {
  if (!("fetches" in form.dataset)) return JSON.parse(form.querySelector("script").textContent);
  const response = await fetch(form.action, { headers: { Accept: "application/json" } });
  if (!response.ok) throw new Error(`${response.status}`);
  return (await response.json()).request_options;
}

for (const form of document.querySelectorAll("[data-passkey]")) {
  const wrong = form.querySelector("[role=alert]");
  form.hidden = !window.PublicKeyCredential || !get;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    wrong.hidden = true;
    try {
      const options = await optionsOf(form);
      form.credential.value = JSON.stringify(await (form.dataset.passkey === "create" ? create : get)(options));
      form.submit();
    } catch {
      wrong.hidden = false;
    }
  });
}
