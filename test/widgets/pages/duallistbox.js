import makeDualListbox from "bootstrap4-duallistbox";
import "bootstrap4-duallistbox/dist/bootstrap-duallistbox.min.css";
import $ from "jquery";

makeDualListbox(window, $);
const fruit = $("#fruit").bootstrapDualListbox({
  nonSelectedListLabel: "Non-selected",
  selectedListLabel: "Selected",
  preserveSelectionOnMove: "moved",
  moveOnSelect: false,
});
window.oracle = () => ({ chosen: fruit.val() });
