import { driver } from "driver.js";
import "driver.js/dist/driver.css";

const tour = driver({
  showProgress: true,
  steps: [
    { element: "#title", popover: { title: "Reports", description: "All reports of your team." } },
    { element: "#search", popover: { title: "Search", description: "Find a report by a word." } },
    { element: "#new", popover: { title: "New report", description: "Begin a report here." } },
    { popover: { title: "Enjoy", description: "That is all." } },
  ],
});
document.getElementById("start").addEventListener("click", () => tour.drive());
window.oracle = () => ({ step: tour.getActiveIndex() ?? -1 });
