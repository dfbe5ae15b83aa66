import "img-comparison-slider";
import "img-comparison-slider/dist/styles.css";

const slider = document.querySelector("img-comparison-slider");
window.oracle = () => ({ value: slider.value });
