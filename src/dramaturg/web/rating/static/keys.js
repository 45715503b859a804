// Keys 1 to 5 rate the scale that has the focus, else the first open one; 0 says that nobody can tell; Enter hands in.
// What is filled in is saved at once. Every page works without this file: a button saves.
"use strict";

document.documentElement.classList.add("has-keys");

const form = document.getElementById("item");

function scaleInHand() {
  const focused = document.activeElement.closest(".scale");
  if (focused) return focused;
  const scales = [...form.querySelectorAll(".scale")];
  return scales.find((scale) => !scale.querySelector(":checked[type=radio]")) || scales[0];
}

function goOn(scale) {
  const scales = [...form.querySelectorAll(".scale")];
  const later = [...scales.slice(scales.indexOf(scale) + 1), ...scales];
  const next = later.find((other) => !other.querySelector(":checked[type=radio]"));
  const target = next ? next.querySelector("[type=radio]") : form.querySelector("[data-key=enter]");
  target.focus({ preventScroll: true });
  (next || target).scrollIntoView({ block: "nearest", behavior: "smooth" });
}

document.addEventListener("keydown", (event) => {
  if (!form || event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat) return;
  if (event.target.matches("textarea, select, input:not([type=radio])")) return;
  if (event.key === "Enter") {
    if (event.target.matches("a, button, summary")) return;
    event.preventDefault();
    form.requestSubmit(form.querySelector("[data-key=enter]"));
    return;
  }
  if (!/^[0-5]$/.test(event.key)) return;
  event.preventDefault();
  const scale = scaleInHand();
  const chosen = scale.querySelector(`[data-key="${event.key}"]`);
  chosen.checked = true;
  chosen.dispatchEvent(new Event("change", { bubbles: true }));
  goOn(scale);
});

if (form) {
  let asked = 0;
  form.addEventListener("change", async (event) => {
    const scale = event.target.closest(".scale");
    if (!scale) return;
    scale.classList.remove("open-scale");
    const own = new URLSearchParams({ ticket: form.elements.ticket.value, do: "draft" });
    for (const [name, value] of new FormData(form)) {
      if (form.elements[name] && scale.querySelector(`[name="${CSS.escape(name)}"]`)) own.append(name, value);
    }
    const number = ++asked;
    let saved = false;
    try {
      const reply = await fetch(form.action, { method: "POST", body: own, keepalive: true, redirect: "manual" });
      saved = reply.status === 204;
    } catch {
      saved = false;  // the server is away; the next change, or the button, tries again
    }
    if (number === asked) {
      const said = document.getElementById("saving");
      said.textContent = saved ? form.dataset.saved : form.dataset.unsaved;
      said.classList.toggle("failed", !saved);
    }
  });
}
