import { type Action, click, drag, fill, press, type } from "../hands.ts";
import { type State, same, type Task } from "../task.ts";

const hover = (ref: string): Action => ({ command: "hover_element", params: { ref } });
const settings = { server: { host: "localhost", port: 8080 }, theme: "light" };

function isPutOff({ moved }: State): boolean {
  const last: unknown = Array.isArray(moved) ? moved.at(-1) : undefined;
  if (typeof last !== "object" || last === null || !("id" in last && "start" in last)) return false;
  return last.id === "release" && Date.parse(String(last.start)) >= Date.parse("Mon Mar 22 2027");
}

/** Of the widgets in `heldOut.ts`. */
export const heldOutTasks: Readonly<Record<string, Task>> = {
  glightbox: {
    done: ({ shown }) => same(shown, ["Harbour", "Bridge"]),
    async ours(hand) {
      await hand.act(click(hand.ref(/^link "Harbour"/)));
      await hand.act(click(hand.ref(/^button "Next"/)));
    },
    async theirs(hand) {
      await hand.find("Harbour");
      await hand.click(hand.ref(/^img "Harbour"/));
      await hand.find("Next");
      await hand.click(hand.ref(/^button "Next"/));
      await hand.find("Bridge");
    },
  },
  mediaelement: {
    done: (state) => same(state, { muted: true, paused: false, subtitles: "en" }),
    async ours(hand) {
      await hand.act(click(hand.ref(/^button "Mute"/)), click(hand.ref(/^button "Captions/)));
      await hand.act(click(hand.ref(/^clickable "English"/)), click(hand.ref(/^button "Play"/)));
    },
    async theirs(hand) {
      await hand.snapshot();
      await hand.click(hand.ref(/^button "Mute"/));
      await hand.click(hand.ref(/^button "Captions/));
      await hand.click(hand.ref(/: English/));
      await hand.click(hand.ref(/^button "Play"/));
      await hand.snapshot();
    },
  },
  cookieconsent: {
    done: ({ consents }) => same(consents, [["necessary", "analytics"]]),
    async ours(hand) {
      await hand.act(click(hand.ref(/^button "Manage/)));
      await hand.act(
        { command: "set_checked", params: { ref: hand.ref(/^checkbox "Performance and Analytics"/) } },
        click(hand.ref(/^button "Accept current selection"/)),
      );
    },
    async theirs(hand) {
      await hand.call("browser_wait_for", { text: "cookies" });
      await hand.find("Manage");
      await hand.click(hand.ref(/^button "Manage/));
      await hand.snapshot();
      await hand.click(hand.ref(/^checkbox "Performance and Analytics"/));
      await hand.click(hand.ref(/^button "Accept current selection"/));
      await hand.snapshot();
    },
  },
  ninjakeys: {
    done: ({ chosen }) => same(chosen, ["dark"]),
    async ours(hand) {
      await hand.act(press("Control+k"));
      await hand.act(click(hand.ref(/"Change theme/)));
      await hand.act(click(hand.ref(/"Change theme to Dark"/)));
    },
    async theirs(hand) {
      await hand.press("Control+k");
      await hand.find("theme");
      await hand.click(hand.ref(/: Change theme/));
      await hand.find("Dark");
      await hand.click(hand.ref(/: Change theme to Dark/));
      await hand.snapshot();
    },
  },
  duallistbox: {
    done: ({ chosen }) => same(chosen, ["Apple", "Cherry", "Date"]),
    async ours(hand) {
      const ref = hand.ref(/^listbox "Non-selected"/);
      await hand.act(
        { command: "select_option", params: { ref, option: ["Apple", "Cherry"] } },
        click(hand.ref(/^button ">" /)),
      );
    },
    async theirs(hand) {
      await hand.snapshot();
      const target = hand.ref(/^listbox "Non-selected"/);
      await hand.call("browser_select_option", { target, values: ["Apple", "Cherry"] });
      await hand.click(hand.ref(/^button ">" /));
      await hand.snapshot();
    },
  },
  imgcomparison: {
    done: ({ value }) => typeof value === "number" && value >= 80,
    async ours(hand) {
      await hand.act({ command: "drag_by", params: { ref: hand.ref(/Before/), x: 400 } });
    },
    async theirs(hand) {
      await hand.snapshot();
      await hand.call("browser_drag", {
        startTarget: hand.ref(/^generic/, /"Renovation"/),
        endTarget: hand.ref(/"Renovation"/),
      });
      await hand.snapshot();
    },
  },
  jsonedit: {
    done: (state) => same(state, settings),
    async ours(hand) {
      await hand.act(hover(hand.ref(/^clickable "settings:\{ 3 items \}"/)));
      await hand.act(click(hand.ref(/"jer edit"/)));
      await hand.act(fill(hand.ref(/^textbox/), JSON.stringify(settings)), press("Control+Enter"));
    },
    async theirs(hand) {
      await hand.snapshot();
      await hand.call("browser_hover", { target: hand.ref(/: "settings:"/) });
      await hand.click(hand.ref(/^generic/, /: "\}"/));
      await hand.find("textbox");
      await hand.type(hand.ref(/^textbox/), JSON.stringify(settings));
      await hand.press("Control+Enter");
      await hand.snapshot();
    },
  },
  gantt: {
    done: isPutOff,
    async ours(hand) {
      if (!hand.sees(/"26"/)) await hand.dump({ interactive_only: false });
      await hand.act(drag(hand.ref(/"Release"/), hand.ref(/"26"/)));
      await hand.act(click(hand.ref(/"Release"/)));
    },
    async theirs(hand) {
      await hand.snapshot();
      await hand.call("browser_drag", {
        startTarget: hand.ref(/: Release/),
        endTarget: hand.ref(/: "26"/, /: "28"/),
      });
      await hand.click(hand.ref(/: Release/));
      await hand.find("Release");
    },
  },
  tomselect: {
    done: ({ labels }) => same(labels, ["flaky", "bug"]),
    async ours(hand) {
      await hand.act(type("flaky", hand.ref(/^combobox "Labels"/)), press("Enter"));
      await hand.act(click(hand.ref(/^option "bug"/)));
    },
    async theirs(hand) {
      await hand.find("Labels");
      await hand.type(hand.ref(/^combobox "Labels"/), "flaky", { slowly: true });
      await hand.find("flaky");
      await hand.click(hand.ref(/^strong/));
      await hand.find("bug");
      await hand.click(hand.ref(/^option "bug"/, /^listbox "Labels"/));
      await hand.find("bug");
    },
  },
  tribute: {
    done: ({ text, mentioned }) => same([text, mentioned], ["Please review, @gramsey", ["Gordon Ramsey"]]),
    async ours(hand) {
      await hand.act(type("Please review, @Gordon", hand.ref(/^textbox/)));
      await hand.act(click(hand.ref(/"Gordon Ramsey"/)));
    },
    async theirs(hand) {
      await hand.snapshot();
      await hand.type(hand.ref(/^paragraph/), "Please review, @Gordon", { slowly: true });
      await hand.find("Gordon");
      await hand.click(hand.ref(/: Gordon Ramsey/));
      await hand.find("gramsey");
    },
  },
};
