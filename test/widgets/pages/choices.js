import Choices from "choices.js";
import "choices.js/public/assets/styles/choices.min.css";

const choices = new Choices("#fruit", { removeItemButton: true });
window.oracle = () => ({ value: choices.getValue(true) });
