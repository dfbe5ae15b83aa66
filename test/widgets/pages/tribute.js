import Tribute from "tributejs";
import "tributejs/dist/tribute.css";

const mentioned = [];
const comment = document.getElementById("comment");
comment.addEventListener("tribute-replaced", ({ detail }) => mentioned.push(detail.item.original.key));
new Tribute({
  values: [
    { key: "Phil Heartman", value: "pheartman" },
    { key: "Gordon Ramsey", value: "gramsey" },
  ],
}).attach(comment);
window.oracle = () => ({ text: comment.textContent.replaceAll("\u00a0", " ").trim(), mentioned });
