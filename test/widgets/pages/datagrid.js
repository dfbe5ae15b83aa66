import { createElement as h, useMemo, useState } from "react";
import { DataGrid, renderTextEditor } from "react-data-grid";
import "react-data-grid/lib/styles.css";
import { createRoot } from "react-dom/client";

const columns = [
  { key: "id", name: "ID", width: 80 },
  { key: "name", name: "Customer", renderEditCell: renderTextEditor, sortable: true, width: 220 },
  { key: "city", name: "City", width: 160 },
  { key: "revenue", name: "Revenue", sortable: true, sortDescendingFirst: true, width: 140 },
];
const cities = ["Bergen", "Lyon", "Porto", "Graz"];
let rows = Array.from({ length: 400 }, (_, at) => ({
  id: at + 1,
  name: `Customer ${at + 1}`,
  city: cities[at % cities.length],
  revenue: (at * 7919) % 10007,
}));
let sorting = [];
function Grid() {
  const [held, setHeld] = useState(rows);
  const [sortColumns, setSortColumns] = useState([]);
  const sorted = useMemo(() => {
    const [by] = sortColumns;
    if (!by) return held;
    const sign = by.direction === "ASC" ? 1 : -1;
    return held.toSorted((a, b) => sign * (a[by.columnKey] > b[by.columnKey] ? 1 : -1));
  }, [held, sortColumns]);
  const onRowsChange = (changed) => {
    const byId = new Map(changed.map((row) => [row.id, row]));
    rows = held.map((row) => byId.get(row.id));
    setHeld(rows);
  };
  const onSortColumnsChange = (next) => {
    sorting = next;
    setSortColumns(next);
  };
  const rowKeyGetter = (row) => row.id;
  return h(DataGrid, { columns, rows: sorted, rowKeyGetter, onRowsChange, sortColumns, onSortColumnsChange });
}
createRoot(document.getElementById("root")).render(h(Grid));
window.oracle = () => ({
  sorting,
  largest: rows.reduce((most, row) => (row.revenue > most.revenue ? row : most)),
  renamed: rows.filter(({ name }) => name === "Zenith").length,
});
