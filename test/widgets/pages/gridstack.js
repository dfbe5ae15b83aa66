import { GridStack } from "gridstack";
import "gridstack/dist/gridstack.min.css";

GridStack.renderCB = (element, { content }) => {
  element.textContent = content;
};
const grid = GridStack.init({ cellHeight: 100 });
grid.load([
  { id: "sales", x: 0, y: 0, w: 4, h: 1, content: "Sales" },
  { id: "news", x: 4, y: 0, w: 4, h: 1, content: "News" },
  { id: "team", x: 8, y: 0, w: 4, h: 1, content: "Team" },
]);
window.oracle = () => ({ tiles: grid.save(false).map(({ id, x, y }) => ({ id, x, y })) });
