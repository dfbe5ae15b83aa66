import { click, fill, press } from "../hands.ts";
import { same, type Task } from "../task.ts";

/** Dates, times, colours, numbers and stars. */
export const pickerTasks: Readonly<Record<string, Task>> = {
  flatpickr: {
    done: ({ chosen }) => same(chosen, ["2027-03-14"]),
    async ours(hand) {
      await hand.quietly(click(hand.ref(/^textbox "Due date"/)));
      await hand.find("Month");
      const month = hand.ref(/^combobox "Month"/);
      await hand.quietly({ command: "select_option", params: { ref: month, option: "March" } });
      await hand.find("March 14, 2027");
      await hand.quietly(click(hand.ref(/"March 14, 2027"/)));
      await hand.find("Due date");
    },
    async theirs(hand) {
      await hand.find("Due date");
      await hand.click(hand.ref(/^textbox "Due date"/));
      await hand.find("Month");
      await hand.call("browser_select_option", { target: hand.ref(/^combobox "Month"/), values: ["March"] });
      await hand.find("March 14, 2027");
      await hand.click(hand.ref(/"March 14, 2027"/));
      await hand.find("2027-03-14");
    },
  },
  litepicker: {
    done: ({ chosen }) => same(chosen, [["2027-05-10", "2027-05-15"]]),
    async ours(hand) {
      await hand.act(click(hand.ref(/^textbox "Stay"/)));
      await hand.act(click(hand.ref(/button.*(next|→|>)/i)));
      await hand.act(click(hand.ref(/"10"/)));
      await hand.act(click(hand.ref(/"15"/)));
    },
    async theirs(hand) {
      await hand.find("Stay");
      await hand.click(hand.ref(/^textbox "Stay"/));
      await hand.snapshot();
      await hand.click(hand.ref(/^button.*(next|→|>)/i));
      await hand.snapshot();
      await hand.click(hand.ref(/: "10"|"10"/));
      await hand.click(hand.ref(/: "15"|"15"/));
      await hand.find("2027-05-15");
    },
  },
  timepicker: {
    done: ({ confirmed }) => same(confirmed, ["09:30 PM"]),
    async ours(hand) {
      await hand.act(click(hand.ref(/^textbox "Starts at"/)));
      await hand.act(click(hand.ref(/^clickable "9"/)));
      // The field says "12:00 PM": the half of the day is right already.
      await hand.act(click(hand.ref(/^clickable "30"/)), click(hand.ref(/^button "OK"/i)));
    },
    async theirs(hand) {
      await hand.find("Starts at");
      await hand.click(hand.ref(/^textbox "Starts at"/));
      await hand.snapshot();
      await hand.click(hand.ref(/: "9"|"9"/));
      await hand.snapshot();
      await hand.click(hand.ref(/: "30"|"30"/));
      await hand.click(hand.ref(/^button "OK"/i));
      await hand.find("09:30 PM");
    },
  },
  pickr: {
    done: ({ saved }) => same(saved, ["#2E7D32"]),
    async ours(hand) {
      await hand.act(click(hand.ref(/^button/)));
      await hand.act(fill(hand.ref(/^textbox/), "#2E7D32"), click(hand.ref(/^button "save/i)));
    },
    async theirs(hand) {
      await hand.snapshot();
      await hand.click(hand.ref(/^button/));
      await hand.snapshot();
      await hand.type(hand.ref(/^textbox/), "#2E7D32");
      await hand.click(hand.ref(/^button "save/i));
      await hand.snapshot();
    },
  },
  nouislider: {
    done: ({ range }) => same(range, [200, 800]),
    async ours(hand) {
      await hand.act(
        press("ArrowRight", { ref: hand.ref(/^slider "lower"/), count: 2 }),
        press("ArrowLeft", { ref: hand.ref(/^slider "upper"/), count: 2 }),
      );
    },
    async theirs(hand) {
      await hand.find("slider");
      await hand.click(hand.ref(/^slider "lower"/));
      await hand.press("ArrowRight");
      await hand.press("ArrowRight");
      await hand.click(hand.ref(/^slider "upper"/));
      await hand.press("ArrowLeft");
      await hand.press("ArrowLeft");
      await hand.find("800.00");
    },
  },
  calendar: {
    done: ({ from, opened }) => same([from, opened], ["2027-04-01", ["Team offsite"]]),
    async ours(hand) {
      await hand.quietly(click(hand.ref(/^button "Next/i)));
      await hand.find("Team offsite");
      await hand.act(click(hand.ref(/Team offsite/)));
    },
    async theirs(hand) {
      await hand.find("Next");
      await hand.click(hand.ref(/^button "Next/i));
      await hand.find("Team offsite");
      await hand.click(hand.ref(/Team offsite/));
    },
  },
  stars: {
    done: ({ value, changes }) => same([value, changes], ["4", ["4"]]),
    async ours(hand) {
      await hand.act({
        command: "select_option",
        params: { ref: hand.ref(/"Rating"/), option: "Very Good" },
      });
    },
    async theirs(hand) {
      await hand.find("Rating");
      await hand.call("browser_select_option", {
        target: 'role=combobox[name="Rating"]',
        values: ["Very Good"],
      });
      await hand.find("Rating");
    },
  },
};
