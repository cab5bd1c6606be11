// Asks every ten seconds for the live part of a page, while somebody looks at it and nothing in it has the focus:
// what is read or about to be clicked must not change places. The server answers 204 where nothing is new.
function look() {
  const part = document.getElementById("live");
  if (document.visibilityState !== "visible" || part.contains(document.activeElement)) return;
  htmx.trigger(part, "look");
}

setInterval(look, 10_000);
document.addEventListener("visibilitychange", look);
