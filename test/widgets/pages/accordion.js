import Accordion from "accordion-js";
import "accordion-js/dist/accordion.min.css";

const opened = [];
new Accordion(".accordion-container", {
  onOpen: (element) => opened.push(element.querySelector(".ac-trigger").textContent),
});
window.oracle = () => ({ opened });
