// Without this script everything still works: it opens what hides the target of a link, and opens all for print.
(() => {
  "use strict";
  const open = (node) => {
    for (let box = node && node.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
  };
  const reveal = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    open(target);
    target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((box) => { box.open = true; }));
  reveal();
})();
