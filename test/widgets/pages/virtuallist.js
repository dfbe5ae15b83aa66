import { createElement as h, useState } from "react";
import { createRoot } from "react-dom/client";
import { List } from "react-window";

let starred = [];
function Row({ index, style, ariaAttributes, chosen, toggle }) {
  const name = `Message ${index + 1}`;
  const pressed = chosen.includes(index + 1);
  return h(
    "div",
    { style, ...ariaAttributes },
    h("span", null, name),
    " ",
    h(
      "button",
      { type: "button", "aria-pressed": pressed, onClick: () => toggle(index + 1) },
      `Star ${name}`,
    ),
  );
}
function Inbox() {
  const [chosen, setChosen] = useState(starred);
  const toggle = (number) => {
    starred = chosen.includes(number) ? chosen.filter((other) => other !== number) : [...chosen, number];
    setChosen(starred);
  };
  const rowProps = { chosen, toggle };
  return h(List, { rowComponent: Row, rowCount: 1000, rowHeight: 32, rowProps, style: { height: 400 } });
}
createRoot(document.getElementById("root")).render(h(Inbox));
window.oracle = () => ({ starred });
