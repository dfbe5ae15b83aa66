import Split from "split.js";

const split = Split(["#left", "#right"]);
window.oracle = () => ({ sizes: split.getSizes() });
