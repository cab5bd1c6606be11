// The live part of a page asks for what is new only while somebody looks at it and nothing in it has the focus: what is
// read or about to be clicked must not change places. The server answers 204 where nothing is new.
document.addEventListener("htmx:beforeRequest", (event) => {
  const isLookedAt = document.visibilityState === "visible" && !event.target.contains(document.activeElement);
  if (event.target.id === "live" && !isLookedAt) event.preventDefault();
});
