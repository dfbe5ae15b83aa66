import $ from "jquery";
import "jstree";
import "jstree/dist/themes/default/style.min.css";

$("#files").jstree({
  core: {
    data: [
      {
        id: "documents",
        text: "Documents",
        children: [
          {
            id: "reports",
            text: "Reports",
            children: [
              { id: "budget-2026", text: "Budget 2026" },
              { id: "budget-2027", text: "Budget 2027" },
            ],
          },
          { id: "letters", text: "Letters" },
        ],
      },
      { id: "pictures", text: "Pictures", children: [{ id: "holiday", text: "Holiday" }] },
    ],
  },
});
window.oracle = () => ({ selected: $("#files").jstree(true).get_selected() });
