import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

const hours = Array.from({ length: 24 }, (_, at) => 1_800_000_000 + at * 3600);
const wave = (scale) => hours.map((_, at) => 50 + scale * Math.sin(at / 3));
const chart = new uPlot(
  {
    width: 700,
    height: 300,
    series: [
      {},
      { label: "CPU", stroke: "red" },
      { label: "RAM", stroke: "blue" },
      { label: "TCP Out", stroke: "green" },
    ],
  },
  [hours, wave(10), wave(20), wave(30)],
  document.getElementById("chart"),
);
window.oracle = () => ({
  shown: chart.series
    .slice(1)
    .filter(({ show }) => show)
    .map(({ label }) => label),
});
