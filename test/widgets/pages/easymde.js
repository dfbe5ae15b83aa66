import EasyMDE from "easymde";
import "easymde/dist/easymde.min.css";

const editor = new EasyMDE({
  element: document.getElementById("notes"),
  autoDownloadFontAwesome: false,
  spellChecker: false,
});
window.oracle = () => ({ value: editor.value() });
