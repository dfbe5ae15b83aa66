import Quill from "quill";
import "quill/dist/quill.snow.css";

const quill = new Quill("#editor", { theme: "snow", placeholder: "Compose an epic..." });
window.oracle = () => quill.getContents();
