// Keys choose an answer, Enter sends it, S skips, R opens the report. Every page works without this file.
"use strict";

document.documentElement.classList.add("has-keys");

document.addEventListener("keydown", (event) => {
  const form = document.getElementById("item");
  if (!form || event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat) return;
  if (event.target.matches("textarea, select, input:not([type=radio])")) return;
  if (event.key === "Enter" && event.target.matches("a, button, summary")) return;
  const key = event.key.toLowerCase();
  const chosen = form.querySelector(`[data-key="${CSS.escape(key)}"]`);
  if (!chosen || !key) return;
  event.preventDefault();
  if (chosen.tagName === "SUMMARY") {
    chosen.parentElement.open = true;
    chosen.parentElement.querySelector("textarea").focus();
  } else if (chosen.tagName === "BUTTON") {
    form.requestSubmit(chosen);
  } else {
    chosen.checked = true;
    chosen.focus();
  }
});
