import "sceditor/minified/themes/default.min.css";

const { sceditor } = window;
const area = document.getElementById("letter");
sceditor.create(area, { format: "xhtml", emoticonsEnabled: false });
window.oracle = () => ({ value: sceditor.instance(area).val() });
