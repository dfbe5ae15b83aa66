import jspreadsheet from "jspreadsheet-ce";
import "jspreadsheet-ce/dist/jspreadsheet.css";
import "jsuites/dist/jsuites.css";

const [sheet] = jspreadsheet(document.getElementById("sheet"), {
  worksheets: [
    {
      data: [
        ["January", 1100, 240],
        ["February", 1100, 260],
        ["March", 1100, 250],
        ["April", 1100, 230],
      ],
      columns: [
        { type: "text", title: "Month", width: 120 },
        { type: "numeric", title: "Rent", width: 100 },
        { type: "numeric", title: "Food", width: 100 },
      ],
    },
  ],
});
window.oracle = () => ({ data: sheet.getData() });
