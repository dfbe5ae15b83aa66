import noUiSlider from "nouislider";
import "nouislider/dist/nouislider.css";

const slider = noUiSlider.create(document.getElementById("price"), {
  start: [100, 900],
  connect: true,
  step: 50,
  range: { min: 0, max: 1000 },
  handleAttributes: [{ "aria-label": "lower" }, { "aria-label": "upper" }],
});
slider.on("update", (values) => {
  document.getElementById("from").textContent = values[0];
  document.getElementById("to").textContent = values[1];
});
window.oracle = () => ({ range: slider.get(true) });
