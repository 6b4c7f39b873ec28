// What the correction form adds when there is JavaScript; it only presses and sets what is already there.
"use strict";

// What was wrong with a field is no longer true once it changes.
document.addEventListener("input", (event) => {
  const around = event.target.closest(".editor-row, .missing");
  around?.querySelector(".field-problem")?.remove();
  event.target.removeAttribute("aria-invalid");
});

// A value that is typed is meant: it is no longer "any value".
document.addEventListener("input", (event) => {
  if (!event.target.matches(".editor-value")) return;
  const match = event.target.closest(".editor-row").querySelector(".editor-match");
  if (match.value === "any") {
    match.value = match.dataset.fitting || "text";
  }
});

// Ctrl or Command with Enter saves, wherever one is typing.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  const save = document.getElementById("save");
  if (save && save.form.contains(event.target)) {
    event.preventDefault();
    save.click();
  }
});
