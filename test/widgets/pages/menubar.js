import Menubar from "accessible-menu/menubar";

const chosen = [];
for (const link of document.querySelectorAll("#menu a"))
  link.addEventListener("click", () => chosen.push(link.getAttribute("href")));
new Menubar({ menuElement: document.getElementById("menu") });
window.oracle = () => ({ chosen });
