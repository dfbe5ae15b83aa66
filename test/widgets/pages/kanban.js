import { DragDropContext, Draggable, Droppable } from "@hello-pangea/dnd";
import { createElement as h, useState } from "react";
import { createRoot } from "react-dom/client";

let board = {
  "To do": ["Fix login", "Write guide"],
  Doing: ["Add search"],
  Done: ["Set up CI"],
};
const card = (name, index) =>
  h(Draggable, { key: name, draggableId: name, index }, ({ innerRef, draggableProps, dragHandleProps }) =>
    h("div", { ref: innerRef, ...draggableProps, ...dragHandleProps, className: "card" }, name),
  );
const column = ([name, cards]) =>
  h(
    "section",
    { key: name },
    h("h2", null, name),
    h(Droppable, { droppableId: name }, ({ innerRef, droppableProps, placeholder }) =>
      h("div", { ref: innerRef, ...droppableProps, className: "column" }, cards.map(card), placeholder),
    ),
  );
function Board() {
  const [columns, setColumns] = useState(board);
  const onDragEnd = ({ source, destination, draggableId }) => {
    if (!destination) return;
    const next = structuredClone(columns);
    next[source.droppableId].splice(source.index, 1);
    next[destination.droppableId].splice(destination.index, 0, draggableId);
    board = next;
    setColumns(next);
  };
  return h(
    DragDropContext,
    { onDragEnd },
    h("div", { className: "board" }, Object.entries(columns).map(column)),
  );
}
createRoot(document.getElementById("root")).render(h(Board));
window.oracle = () => board;
