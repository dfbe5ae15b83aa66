import GLightbox from "glightbox";
import "glightbox/dist/css/glightbox.min.css";

const shown = [];
const lightbox = GLightbox({ touchNavigation: true, loop: true });
lightbox.on("slide_changed", ({ current }) => shown.push(current.slideConfig.title));
lightbox.on("close", () => shown.push("closed"));
window.oracle = () => ({ shown });
