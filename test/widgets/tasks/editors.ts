import { click, press, type } from "../hands.ts";
import { same, type Task } from "../task.ts";

/** Editors of text, code and Markdown. */
export const editorTasks: Readonly<Record<string, Task>> = {
  quill: {
    done: ({ ops }) =>
      same(ops, [{ insert: "Hello " }, { attributes: { bold: true }, insert: "team" }, { insert: "\n" }]),
    async ours(hand) {
      const bold = hand.ref(/^button "bold"/i);
      await hand.act(type("Hello ", hand.ref(/^textbox/)), click(bold), type("team"));
    },
    async theirs(hand) {
      await hand.snapshot();
      const field = hand.ref(/^(textbox|paragraph)/);
      await hand.type(field, "Hello ", { slowly: true });
      await hand.click(hand.ref(/^button "bold"/i));
      for (const letter of "team") await hand.press(letter);
      await hand.find("team");
    },
  },
  codemirror: {
    done: ({ doc }) => doc === "const answer = 42;",
    async ours(hand) {
      await hand.act(press("Control+a", { ref: hand.ref(/^textbox/) }), type("const answer = 42;"));
    },
    async theirs(hand) {
      await hand.find("textbox");
      await hand.type(hand.ref(/^textbox/), "const answer = 42;");
      await hand.find("textbox");
    },
  },
  easymde: {
    done: ({ value }) => value === "# Ready to ship",
    async ours(hand) {
      await hand.act(type("Ready to ship", hand.ref(/^textbox/)), click(hand.ref(/^button "Heading/)));
    },
    async theirs(hand) {
      await hand.snapshot();
      await hand.type(hand.ref(/^textbox/), "Ready to ship", { slowly: true });
      await hand.click(hand.ref(/^button "Heading/));
      await hand.find("Ready to ship");
    },
  },
  sceditor: {
    done: ({ value }) =>
      /^<div[^>]*(center)[^>]*>\s*Dear customer\s*<\/div>$|^<p[^>]*center[^>]*>\s*Dear customer\s*<\/p>$/.test(
        String(value).trim(),
      ),
    async ours(hand) {
      await hand.dump();
      await hand.act(type("Dear customer", hand.ref(/^textbox/)), click(hand.ref(/"Center"/)));
    },
    async theirs(hand) {
      await hand.snapshot();
      await hand.click(hand.ref(/^iframe|^paragraph/));
      for (const letter of "Dear customer") await hand.press(letter === " " ? "Space" : letter);
      await hand.click(hand.ref(/"Center"/));
      await hand.find("Dear customer");
    },
  },
};
