// A form that is on its way is not sent again by a second press. What htmx sends has its own rule, hx-sync.
"use strict";

const PATIENCE = 10_000; // until a form whose answer never came may be sent again

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.method !== "post") return;
  if (form.dataset.sent) {
    event.preventDefault();
    return;
  }
  form.dataset.sent = "yes";
  setTimeout(() => delete form.dataset.sent, PATIENCE);
});

window.addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});
