import { Grid } from "gridjs";
import "gridjs/dist/theme/mermaid.min.css";

const cities = ["Hamburg", "Lyon", "Porto"];
const grid = new Grid({
  columns: ["Name", "City", "Salary"],
  data: Array.from({ length: 60 }, (_, at) => [
    `Person ${at + 1}`,
    cities[at % 3],
    30000 + ((at * 137) % 4000),
  ]),
  search: true,
  sort: true,
  pagination: { limit: 10 },
}).render(document.getElementById("people"));
window.oracle = () => ({
  rows: (grid.config.store.getState().data?.rows ?? []).map((row) => row.cells.map(({ data }) => data)),
});
