// Says so when the server cannot be reached; what was typed stays where it is, and nothing was sent twice.
"use strict";

function messages() {
  return document.getElementById("messages");
}

for (const failed of ["htmx:sendError", "htmx:timeout"]) {
  document.addEventListener(failed, () => {
    const said = document.getElementById("server-away").content.cloneNode(true);
    messages().replaceChildren(said);
  });
}

document.addEventListener("htmx:afterOnLoad", () => messages().querySelector(".server-away")?.remove());
