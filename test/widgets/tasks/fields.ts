import { click, fill, press, type } from "../hands.ts";
import { same, type Task } from "../task.ts";

/** Fields that help, correct or collect what is typed. */
export const fieldTasks: Readonly<Record<string, Task>> = {
  inputmask: {
    done: (state) => same(state, { phone: "5551234567", complete: true, birthday: "24/12/1990" }),
    async ours(hand) {
      await hand.act(
        fill(hand.ref(/^textbox "Phone"/), "(555) 123-4567"),
        fill(hand.ref(/^textbox "Birthday"/), "24/12/1990"),
      );
    },
    async theirs(hand) {
      await hand.snapshot();
      await hand.call("browser_fill_form", {
        fields: [
          { target: hand.ref(/^textbox "Phone"/), name: "Phone", type: "textbox", value: "(555) 123-4567" },
          { target: hand.ref(/^textbox "Birthday"/), name: "Birthday", type: "textbox", value: "24/12/1990" },
        ],
      });
      await hand.snapshot();
    },
  },
  autocomplete: {
    done: ({ confirmed }) => same(confirmed, ["Norway"]),
    async ours(hand) {
      await hand.act(type("nor", hand.ref(/"Country"/)));
      await hand.act(click(hand.ref(/^option "Norway/)));
    },
    async theirs(hand) {
      await hand.find("Country");
      await hand.type(hand.ref(/^combobox "Country"/), "nor", { slowly: true });
      await hand.find("Norway");
      await hand.click(hand.ref(/^option "Norway/));
      await hand.find("Norway");
    },
  },
  choices: {
    done: ({ value }) => same(value, ["Date", "Cherry"]),
    async ours(hand) {
      await hand.act(click(hand.ref(/^button "Remove item.*Banana/i)));
      await hand.act(click(hand.ref(/^(textbox|searchbox|combobox)/)));
      await hand.act(click(hand.ref(/^option "Cherry"/)));
    },
    async theirs(hand) {
      await hand.snapshot();
      await hand.click(hand.ref(/^button "Remove item.*Banana/i));
      await hand.click(hand.ref(/^(textbox|searchbox|combobox)/));
      await hand.find("Cherry");
      await hand.click(hand.ref(/^option "Cherry"/));
      await hand.find("Cherry");
    },
  },
  tagify: {
    done: ({ tags }) => same(tags, ["parser", "urgent", "backend"]),
    async ours(hand) {
      const field = hand.ref(/^textbox/);
      await hand.act(
        click(hand.ref(/remove.*|.*draft.*remove/i)),
        type("urgent", field),
        press("Enter"),
        type("backend"),
        press("Enter"),
      );
    },
    async theirs(hand) {
      await hand.snapshot();
      await hand.click(hand.ref(/^button "remove tag"/i));
      await hand.type(hand.ref(/^textbox/), "urgent", { slowly: true, submit: true });
      await hand.type(hand.ref(/^textbox/), "backend", { slowly: true, submit: true });
      await hand.snapshot();
    },
  },
  telephone: {
    done: ({ number }) => number === "+41446681800",
    async ours(hand) {
      await hand.quietly(click(hand.ref(/^(button|combobox).*(country|United States)/i)));
      await hand.find("Switzerland");
      const number = hand.ref(/^textbox "Phone number"/);
      await hand.act(click(hand.ref(/^option "Switzerland/)), fill(number, "044 668 18 00"));
    },
    async theirs(hand) {
      await hand.snapshot();
      await hand.click(hand.ref(/^(button|combobox).*(country|United States)/i));
      await hand.find("Switzerland");
      await hand.click(hand.ref(/^option "Switzerland/));
      await hand.type(hand.ref(/^textbox "Phone number"/), "044 668 18 00");
      await hand.find("Phone number");
    },
  },
  treeselect: {
    done: ({ value }) => same(value, [3, 7]),
    async ours(hand) {
      const search = hand.ref(/^(textbox|combobox|searchbox)/);
      await hand.act(fill(search, "Chelsea"));
      await hand.act(click(hand.ref(/"Chelsea/)), fill(search, "Paris"));
      await hand.act(click(hand.ref(/"Paris/)));
    },
    async theirs(hand) {
      await hand.snapshot();
      await hand.click(hand.ref(/^(textbox|combobox|searchbox)/));
      await hand.snapshot();
      await hand.click(hand.ref(/Chelsea/));
      await hand.click(hand.ref(/Paris/));
      await hand.find("Paris");
    },
  },
  dropzone: {
    done: ({ files }) => same(files, [{ name: "notes.txt", size: 16 }]),
    async ours(hand) {
      await hand.act({
        command: "upload_file",
        params: { ref: hand.ref(/Drop files here/), files: ["notes.txt"] },
      });
    },
    async theirs(hand) {
      await hand.find("Drop files");
      await hand.click(hand.ref(/Drop files here/));
      await hand.call("browser_file_upload", { paths: ["notes.txt"] });
      await hand.find("notes.txt");
    },
  },
  stepper: {
    done: ({ orders }) => same(orders, [{ name: "Ada", delivery: "express" }]),
    async ours(hand) {
      await hand.act(fill(hand.ref(/^textbox "Your name"/), "Ada"), click(hand.ref(/^button "Next"/)));
      await hand.act(
        { command: "set_checked", params: { ref: hand.ref(/^radio "Express"/) } },
        click(hand.ref(/^button "Next"/)),
      );
      await hand.act(click(hand.ref(/^button "Place order"/)));
    },
    async theirs(hand) {
      await hand.snapshot();
      await hand.type(hand.ref(/^textbox "Your name"/), "Ada");
      await hand.click(hand.ref(/^button "Next"/));
      await hand.snapshot();
      await hand.click(hand.ref(/^radio "Express"/));
      await hand.click(hand.ref(/^button "Next"/));
      await hand.find("Place order");
      await hand.click(hand.ref(/^button "Place order"/));
    },
  },
};
