// What every page does before its parts are mounted: preferences, words for a lost connection, drawers and dialogs.
"use strict";

window.dramaturg = {
  // Sets one preference in the cookie and shows the page anew. `place` is its place in the cookie's value.
  prefer(place, value) {
    const parts = document.documentElement.dataset.preferences.split(".");
    parts[place] = value === true ? "1" : value === false ? "0" : value;
    document.cookie = `dramaturg=${parts.join(".")};path=/;max-age=31536000;samesite=strict`;
    location.reload();
  },
  show(id) {
    document.getElementById(id).showModal();
  },
  hide(id) {
    document.getElementById(id).close();
  },
  drawer(open) {
    document.body.classList.toggle("record-open", open);
    const button = document.querySelector(".record-button");
    if (button) button.setAttribute("aria-expanded", String(open));
    const target = document.querySelector(open ? ".record-close" : ".record-button");
    if (target) target.focus();
  },
  // Puts words at the head of what the person is writing.
  insert(words) {
    window.dispatchEvent(new CustomEvent("dramaturg-insert", { detail: words }));
  },
};

{
  const root = document.documentElement;
  const own = document.currentScript.dataset;
  root.lang = own.language;
  root.dataset.theme = own.theme;
  root.dataset.preferences = own.preferences;
  if ("speechSynthesis" in window) root.classList.add("has-voices");
  if ("SpeechRecognition" in window || "webkitSpeechRecognition" in window) root.classList.add("has-dictation");
  document.addEventListener("DOMContentLoaded", () => {
    const spans = document.querySelectorAll("#popup span");
    if (spans.length === 2) {
      spans[0].textContent = own.lost;
      spans[1].textContent = own.reconnecting;
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && document.body.classList.contains("record-open")) window.dramaturg.drawer(false);
  });
  window.addEventListener("pagehide", () => window.speechSynthesis?.cancel());
}
