import "@github/tab-container-element";

const shown = [];
document
  .querySelector("tab-container")
  .addEventListener("tab-container-changed", ({ tab }) => shown.push(tab.textContent));
window.oracle = () => ({ shown });
