import { javascript } from "@codemirror/lang-javascript";
import { basicSetup, EditorView } from "codemirror";

const view = new EditorView({
  doc: 'function hello() {\n  console.log("hello");\n}\nhello();\n',
  extensions: [basicSetup, javascript()],
  parent: document.getElementById("editor"),
});
window.oracle = () => ({ doc: view.state.doc.toString() });
