import Gantt from "frappe-gantt";

const moved = [];
new Gantt(
  "#gantt",
  [
    { id: "design", name: "Design", start: "2027-03-01", end: "2027-03-05", progress: 100 },
    { id: "build", name: "Build", start: "2027-03-08", end: "2027-03-12", progress: 20 },
    { id: "release", name: "Release", start: "2027-03-15", end: "2027-03-17", progress: 0 },
  ],
  {
    scroll_to: "start",
    on_date_change: ({ id }, start) => moved.push({ id, start: start.toDateString() }),
  },
);
window.oracle = () => ({ moved });
