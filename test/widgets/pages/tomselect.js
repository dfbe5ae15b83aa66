import TomSelect from "tom-select";
import "tom-select/dist/css/tom-select.default.css";

const labels = new TomSelect("#labels", { create: true });
window.oracle = () => ({ labels: labels.items });
