// A list is not asked again for what it shows: the pause after the last key and leaving the field would each ask once more,
// and an answer that comes late would turn the reader's page back.
"use strict";

const asked = new WeakMap();

function said(form) {
  return new URLSearchParams(new FormData(form)).toString();
}

document.addEventListener("DOMContentLoaded", () => {
  for (const form of document.querySelectorAll("form.filter")) asked.set(form, said(form));
});

document.addEventListener("htmx:confirm", (event) => {
  const form = event.detail.elt;
  if (!form.matches("form.filter")) return;
  const isPressed = event.detail.triggeringEvent?.type === "submit";
  if (!isPressed && asked.get(form) === said(form)) event.preventDefault();
  asked.set(form, said(form));
});
