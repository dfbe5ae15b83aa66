import "sceditor/minified/themes/default.min.css";

const { sceditor } = window;
const area = document.getElementById("letter");
sceditor.create(area, {
  format: "xhtml",
  emoticonsEnabled: false,
  style: "/npm/sceditor/minified/themes/content/default.min.css",
});
window.oracle = () => ({ value: sceditor.instance(area).val() });
