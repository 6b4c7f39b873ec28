// A button that copies, beside what can be copied: a short text, or what stands at an address.
"use strict";

async function copiedText(from) {
  if (from.dataset.copy) return from.dataset.copy;
  const answer = await fetch(from.dataset.copyFrom);
  if (!answer.ok) throw new Error(String(answer.status));
  return answer.text();
}

function addCopyButtons(root) {
  if (!navigator.clipboard) return;
  for (const from of root.querySelectorAll("[data-copy], [data-copy-from]")) {
    if (from.nextElementSibling?.matches(".copy")) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "quiet copy";
    button.textContent = from.dataset.copyWords;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(await copiedText(from));
      button.textContent = from.dataset.copiedWords;
    });
    from.after(button);
  }
}

document.addEventListener("DOMContentLoaded", () => addCopyButtons(document));
document.addEventListener("htmx:load", (event) => addCopyButtons(event.detail.elt));
