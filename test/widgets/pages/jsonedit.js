import { JsonEditor } from "json-edit-react";
import { createElement as h, useState } from "react";
import { createRoot } from "react-dom/client";

let settings = {
  server: { host: "localhost", port: 3000 },
  theme: "light",
  legacy: true,
};
function Settings() {
  const [data, setData] = useState(settings);
  const set = (next) => {
    settings = next;
    setData(next);
  };
  return h(JsonEditor, { data, setData: set, rootName: "settings" });
}
createRoot(document.getElementById("root")).render(h(Settings));
window.oracle = () => settings;
