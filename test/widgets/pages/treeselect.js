import Treeselect from "treeselectjs";
import "treeselectjs/dist/treeselectjs.css";

const tree = new Treeselect({
  parentHtmlContainer: document.querySelector(".places"),
  value: [],
  options: [
    {
      name: "England",
      value: 1,
      children: [
        {
          name: "London",
          value: 2,
          children: [
            { name: "Chelsea", value: 3, children: [] },
            { name: "West End", value: 4, children: [] },
          ],
        },
        { name: "Brighton", value: 5, children: [] },
      ],
    },
    {
      name: "France",
      value: 6,
      children: [
        { name: "Paris", value: 7, children: [] },
        { name: "Lyon", value: 8, children: [] },
      ],
    },
  ],
});
window.oracle = () => ({ value: tree.value });
