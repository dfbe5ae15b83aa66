import Splide from "@splidejs/splide";
import "@splidejs/splide/css";

const splide = new Splide(".splide").mount();
window.oracle = () => ({ index: splide.index });
