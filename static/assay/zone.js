// Offers the browser's own zone, where it is another one than what is chosen.
const choice = document.getElementById("id_time_zone");
const offer = document.getElementById("own-zone");
const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
const show = () => (offer.hidden = choice.value === own || !choice.querySelector(`[value="${own}"]`));
offer.querySelector("span").textContent = own;
offer.querySelector("button").addEventListener("click", () => {
  choice.value = own;
  choice.focus();
  show();
});
choice.addEventListener("change", show);
show();
