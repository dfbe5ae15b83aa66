import { type Action, click, drag, type } from "../hands.ts";
import { type State, same, type Task } from "../task.ts";

const hover = (ref: string): Action => ({ command: "hover_element", params: { ref } });
const rightClick = (ref: string): Action => ({ command: "right_click", params: { ref } });

function isBelow({ tiles }: State): boolean {
  if (!Array.isArray(tiles)) return false;
  const of = (id: string) => tiles.find((tile: { id: string }) => tile.id === id);
  const [sales, news] = [of("sales"), of("news")];
  return sales?.x === news?.x && sales?.y === news?.y + 1;
}

/** Menus, what opens over a page, and what shows more than fits. */
export const surfaceTasks: Readonly<Record<string, Task>> = {
  menubar: {
    done: ({ chosen }) => Array.isArray(chosen) && chosen.at(-1) === "#pdf",
    async ours(hand) {
      await hand.act(click(hand.ref(/"File"/)));
      await hand.act(click(hand.ref(/"Export"/)));
      await hand.act(click(hand.ref(/"PDF"/)));
    },
    async theirs(hand) {
      await hand.find("File");
      await hand.click(hand.ref(/^menuitem "File"/));
      await hand.find("Export");
      await hand.click(hand.ref(/^menuitem "Export"/));
      await hand.find("PDF");
      await hand.click(hand.ref(/^menuitem "PDF"/));
    },
  },
  contextmenu: {
    done: ({ chosen }) => same(chosen, ["Rename"]),
    async ours(hand) {
      await hand.find("report.txt");
      await hand.act(rightClick(hand.ref(/report\.txt/)));
      await hand.act(click(hand.ref(/Rename/)));
    },
    async theirs(hand) {
      await hand.find("report.txt");
      await hand.click(hand.ref(/report\.txt/), { button: "right" });
      await hand.find("Rename");
      await hand.click(hand.ref(/Rename/));
    },
  },
  micromodal: {
    done: ({ events }) =>
      Array.isArray(events) && events.includes("shown terms") && events.includes("accepted"),
    async ours(hand) {
      await hand.act(click(hand.ref(/^button "Show terms"/)));
      await hand.act(click(hand.ref(/^button "Accept"/)));
    },
    async theirs(hand) {
      await hand.find("Show terms");
      await hand.click(hand.ref(/^button "Show terms"/));
      await hand.find("Accept");
      await hand.click(hand.ref(/^button "Accept"/));
    },
  },
  notyf: {
    done: ({ events }) => same(events, ["shown", "dismissed"]),
    async ours(hand) {
      await hand.act(click(hand.ref(/^button "Save"/)));
      await hand.act(click(hand.ref(/^button(?! "Save")/)));
    },
    async theirs(hand) {
      await hand.find("Save");
      await hand.click(hand.ref(/^button "Save"/));
      await hand.snapshot();
      await hand.click(hand.ref(/^button(?! "Save")/));
    },
  },
  splide: {
    done: ({ index }) => index === 3,
    async ours(hand) {
      await hand.act(click(hand.ref(/"Go to slide 4"/)));
    },
    async theirs(hand) {
      await hand.find("slide 4");
      await hand.click(hand.ref(/"Go to slide 4"/));
      await hand.find("slide 4");
    },
  },
  tabs: {
    done: ({ shown }) => Array.isArray(shown) && shown.at(-1) === "Billing",
    async ours(hand) {
      await hand.act(click(hand.ref(/^tab "Billing"/)));
    },
    async theirs(hand) {
      await hand.find("Billing");
      await hand.click(hand.ref(/^tab "Billing"/));
      await hand.find("Billing");
    },
  },
  emoji: {
    done: ({ picked }) => same(picked, ["🚀"]),
    async ours(hand) {
      await hand.act(type("rocket", hand.ref(/^(combobox|searchbox|textbox)/)));
      await hand.act(click(hand.ref(/rocket/)));
    },
    async theirs(hand) {
      await hand.find("Search");
      await hand.type(hand.ref(/^(combobox|searchbox|textbox)/), "rocket");
      await hand.call("browser_wait_for", { text: "🚀" });
      await hand.find("rocket");
      await hand.click(hand.ref(/^(option|menuitem|button).*rocket/));
    },
  },
  leaflet: {
    done: ({ zoom, opened }) => zoom === 6 && same(opened, ["Lisbon"]),
    async ours(hand) {
      await hand.act(click(hand.ref(/^button "Zoom in"/)));
      await hand.act(click(hand.ref(/"Lisbon"/)));
    },
    async theirs(hand) {
      await hand.snapshot();
      await hand.click(hand.ref(/^button "Zoom in"/));
      await hand.click(hand.ref(/"Lisbon"/));
      await hand.find("Our office in");
    },
  },
  uplot: {
    done: ({ shown }) => same(shown, ["CPU", "TCP Out"]),
    async ours(hand) {
      await hand.act(click(hand.ref(/RAM/)));
    },
    async theirs(hand) {
      await hand.find("RAM");
      await hand.click(hand.ref(/RAM/));
    },
  },
  tippy: {
    done: ({ events }) => Array.isArray(events) && events.includes("shown") && events.includes("copied"),
    async ours(hand) {
      await hand.act(hover(hand.ref(/^button "Details"/)));
      await hand.act(click(hand.ref(/^button "Copy link"/)));
    },
    async theirs(hand) {
      await hand.find("Details");
      await hand.call("browser_hover", { target: hand.ref(/^button "Details"/) });
      await hand.find("Copy link");
      await hand.click(hand.ref(/^button "Copy link"/));
    },
  },
  driver: {
    done: ({ step }) => step === 2,
    async ours(hand) {
      await hand.act(click(hand.ref(/^button "Take the tour"/)));
      await hand.act(click(hand.ref(/^button "Next/)));
      await hand.act(click(hand.ref(/^button "Next/)));
    },
    async theirs(hand) {
      await hand.find("Take the tour");
      await hand.click(hand.ref(/^button "Take the tour"/));
      await hand.find("Next");
      await hand.click(hand.ref(/^button "Next/));
      await hand.find("Next");
      await hand.click(hand.ref(/^button "Next/));
      await hand.find("3 of 4");
    },
  },
  accordion: {
    done: ({ opened }) => Array.isArray(opened) && opened.at(-1) === "Returns",
    async ours(hand) {
      await hand.act(click(hand.ref(/^button "Returns"/)));
    },
    async theirs(hand) {
      await hand.snapshot();
      await hand.click(hand.ref(/^button "Returns/));
      await hand.find("Within 30 days");
    },
  },
  split: {
    done: ({ sizes }) => Array.isArray(sizes) && sizes[0] >= 60,
    async ours(hand) {
      await hand.dump({ interactive_only: false });
      await hand.act(drag(hand.ref(/gutter|separator/), hand.ref(/After/)));
    },
    async theirs(hand) {
      await hand.snapshot();
      await hand.call("browser_drag", {
        startTarget: hand.ref(/gutter|separator/),
        endTarget: hand.ref(/After/),
      });
      await hand.snapshot();
    },
  },
  gridstack: {
    done: isBelow,
    async ours(hand) {
      await hand.act(drag(hand.ref(/Sales/), hand.ref(/News/)));
    },
    async theirs(hand) {
      await hand.snapshot();
      await hand.call("browser_drag", { startTarget: hand.ref(/Sales/), endTarget: hand.ref(/News/) });
      await hand.snapshot();
    },
  },
};
