import Stepper from "bs-stepper";
import "bs-stepper/dist/css/bs-stepper.min.css";

const root = document.querySelector(".bs-stepper");
const stepper = new Stepper(root);
const steps = [];
const orders = [];
root.addEventListener("shown.bs-stepper", ({ detail }) => steps.push(detail.indexStep));
for (const next of document.querySelectorAll(".next")) next.addEventListener("click", () => stepper.next());
document.getElementById("place").addEventListener("click", () => {
  const delivery = document.querySelector("[name=delivery]:checked").value;
  orders.push({ name: document.getElementById("name").value, delivery });
});
window.oracle = () => ({ steps, orders });
