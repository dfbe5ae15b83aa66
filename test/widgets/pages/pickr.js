import Pickr from "@simonwep/pickr";
import "@simonwep/pickr/dist/themes/classic.min.css";

const saved = [];
const pickr = Pickr.create({
  el: ".color-picker",
  theme: "classic",
  default: "#42445a",
  swatches: ["rgba(244, 67, 54, 1)", "rgba(233, 30, 99, 0.95)", "rgba(156, 39, 176, 0.9)"],
  components: {
    preview: true,
    opacity: true,
    hue: true,
    interaction: { hex: true, rgba: true, hsla: true, input: true, clear: true, save: true },
  },
});
pickr.on("save", (color) => saved.push(color?.toHEXA().toString()));
window.oracle = () => ({ saved });
