import VanillaContextMenu from "vanilla-context-menu";

const chosen = [];
new VanillaContextMenu({
  scope: document.getElementById("report"),
  menuItems: ["Open", "Rename", "Delete"].map((label) => ({ label, callback: () => chosen.push(label) })),
});
window.oracle = () => ({ chosen });
