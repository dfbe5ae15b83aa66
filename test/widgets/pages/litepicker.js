import { Litepicker } from "litepicker";

const chosen = [];
new Litepicker({
  element: document.getElementById("stay"),
  singleMode: false,
  startDate: "2027-04-02",
  endDate: "2027-04-03",
  setup(picker) {
    picker.on("selected", (from, to) => chosen.push([from.format("YYYY-MM-DD"), to.format("YYYY-MM-DD")]));
  },
});
window.oracle = () => ({ chosen });
