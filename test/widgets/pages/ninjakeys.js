import "ninja-keys";

const chosen = [];
const ninja = document.querySelector("ninja-keys");
ninja.data = [
  { id: "Projects", title: "Open Projects", section: "Projects", handler: () => chosen.push("projects") },
  {
    id: "Theme",
    title: "Change theme...",
    children: ["Light Theme", "Dark Theme"],
    handler: () => {
      ninja.open({ parent: "Theme" });
      return { keepOpen: true };
    },
  },
  { id: "Light Theme", title: "Change theme to Light", parent: "Theme", handler: () => chosen.push("light") },
  { id: "Dark Theme", title: "Change theme to Dark", parent: "Theme", handler: () => chosen.push("dark") },
];
window.oracle = () => ({ chosen });
