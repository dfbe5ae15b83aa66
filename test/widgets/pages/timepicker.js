import { TimepickerUI } from "timepicker-ui";
import "timepicker-ui/main.css";

const confirmed = [];
const picker = new TimepickerUI(document.getElementById("starts"), {
  callbacks: { onConfirm: ({ hour, minutes, type }) => confirmed.push(`${hour}:${minutes} ${type}`) },
});
picker.create();
window.oracle = () => ({ confirmed });
