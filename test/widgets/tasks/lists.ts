import { click, drag, fill, press, type } from "../hands.ts";
import { type State, same, type Task } from "../task.ts";

const plan = ["Write tests", "Design", "Write code", "Release"];
const done = ({ Done, "To do": todo }: State): boolean =>
  Array.isArray(Done) && Done.includes("Fix login") && same(todo, ["Write guide"]);

/** Trees, lists, boards and tables. */
export const listTasks: Readonly<Record<string, Task>> = {
  jstree: {
    done: ({ selected }) => same(selected, ["budget-2027"]),
    async ours(hand) {
      await hand.act({ command: "double_click", params: { ref: hand.ref(/^treeitem "Documents"/) } });
      await hand.act({ command: "double_click", params: { ref: hand.ref(/^treeitem "Reports"/) } });
      await hand.act(click(hand.ref(/^treeitem "Budget 2027"/)));
    },
    async theirs(hand) {
      await hand.find("Documents");
      await hand.click(hand.ref(/"?Documents"?/), { doubleClick: true });
      await hand.find("Reports");
      await hand.click(hand.ref(/"?Reports"?/), { doubleClick: true });
      await hand.find("Budget 2027");
      await hand.click(hand.ref(/"?Budget 2027"?/));
      await hand.find("Budget 2027");
    },
  },
  sortable: {
    done: ({ order }) => same(order, plan),
    async ours(hand) {
      await hand.dump({ interactive_only: false });
      await hand.act(drag(hand.ref(/Write tests/), hand.ref(/Design/)));
    },
    async theirs(hand) {
      await hand.snapshot();
      await hand.call("browser_drag", {
        startTarget: hand.ref(/Write tests/),
        endTarget: hand.ref(/Design/),
      });
      await hand.snapshot();
    },
  },
  kanban: {
    done,
    async ours(hand) {
      await hand.act(
        press("Space", { ref: hand.ref(/"Fix login"/) }),
        press("ArrowRight"),
        press("ArrowRight"),
        press("Space"),
      );
    },
    async theirs(hand) {
      await hand.snapshot();
      await hand.call("browser_press_key", { key: "Tab" });
      for (const key of ["Space", "ArrowRight", "ArrowRight", "Space"]) await hand.press(key);
      await hand.snapshot();
    },
  },
  datagrid: {
    done({ sorting, largest, renamed }) {
      return (
        same(sorting, [{ columnKey: "revenue", direction: "DESC" }]) &&
        renamed === 1 &&
        JSON.stringify(largest).includes('"Zenith"')
      );
    },
    async ours(hand) {
      await hand.act(click(hand.ref(/^\w+ "Revenue/)));
      await hand.act({ command: "double_click", params: { ref: hand.ref(/^gridcell "Customer \d+"/) } });
      await hand.act(fill(hand.ref(/^textbox/), "Zenith"), press("Enter"));
    },
    async theirs(hand) {
      await hand.find("Revenue");
      await hand.click(hand.ref(/^\w+ "Revenue/));
      await hand.snapshot();
      await hand.click(hand.ref(/^gridcell "Customer \d+"/), { doubleClick: true });
      await hand.find("textbox");
      await hand.type(hand.ref(/^textbox/), "Zenith", { submit: true });
      await hand.find("Zenith");
    },
  },
  gridjs: {
    done: ({ rows }) =>
      Array.isArray(rows) && rows.length === 10 && JSON.stringify(rows).split('"Hamburg"').length === 11,
    async ours(hand) {
      await hand.quietly(type("Hamburg", hand.ref(/^(searchbox|textbox)/)));
      await hand.find("Page 2");
      await hand.quietly(click(hand.ref(/^button "Page 2"/)));
      await hand.find("Page 2 of 2");
    },
    async theirs(hand) {
      await hand.find("Type a keyword");
      await hand.type(hand.ref(/^(searchbox|textbox)/), "Hamburg");
      await hand.find("Page 2");
      await hand.click(hand.ref(/^button "Page 2"/));
      await hand.find("Showing");
    },
  },
  spreadsheet: {
    done: ({ data }) =>
      JSON.stringify(data).includes('["March","1200",') || JSON.stringify(data).includes('["March",1200,'),
    async ours(hand) {
      await hand.dump({ interactive_only: false });
      await hand.act({ command: "double_click", params: { ref: hand.ref(/^\w+ "1100"/, /"March"/) } });
      await hand.act(press("Control+a"), type("1200"), press("Enter"));
    },
    async theirs(hand) {
      await hand.find("March");
      await hand.click(hand.ref(/^cell "1100"/, /"March"/), { doubleClick: true });
      await hand.find("textbox");
      await hand.type(hand.ref(/^textbox/), "1200", { submit: true });
      await hand.find("March");
    },
  },
  virtuallist: {
    done: ({ starred }) => same(starred, [250]),
    async ours(hand) {
      const ref = hand.ref(/^button "Star Message 1"/);
      await hand.act({ command: "scroll", params: { ref, amount: 249 * 32 } });
      await hand.act(click(hand.ref(/^button "Star Message 250"/)));
    },
    async theirs(hand) {
      await hand.snapshot();
      await hand.press("Tab");
      for (let key = 0; key < 23; key++) await hand.press("PageDown");
      await hand.find("Star Message 250");
      await hand.click(hand.ref(/^button "Star Message 250"/));
      await hand.find("Star Message 250");
    },
  },
};
