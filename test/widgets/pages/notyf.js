import { Notyf, NotyfEvent } from "notyf";
import "notyf/notyf.min.css";

const events = [];
const notyf = new Notyf({ duration: 0, dismissible: true });
document.getElementById("save").addEventListener("click", () => {
  events.push("shown");
  notyf
    .success("Your changes have been successfully saved!")
    .on(NotyfEvent.Dismiss, () => events.push("dismissed"));
});
window.oracle = () => ({ events });
