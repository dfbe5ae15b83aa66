import tippy from "tippy.js";
import "tippy.js/dist/tippy.css";

const events = [];
const content = document.getElementById("content");
content.style.display = "block";
tippy("#details", { content, allowHTML: true, interactive: true, onShown: () => events.push("shown") });
document.addEventListener("click", ({ target }) => {
  if (target.id === "copy") events.push("copied");
});
window.oracle = () => ({ events });
