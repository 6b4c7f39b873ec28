// The browser asks before a page is left with marks on it that are not saved.
"use strict";

let isUnsaved = false;

for (const typed of ["input", "change"]) {
  document.addEventListener(typed, (event) => {
    if (event.target.closest("#correction-form")) isUnsaved = true;
  });
}

document.addEventListener("htmx:afterSwap", (event) => {
  if (event.target.id === "run-panel" && document.querySelector("#saved-note .saved")) isUnsaved = false;
});

window.addEventListener("beforeunload", (event) => {
  if (isUnsaved) event.preventDefault();
});
