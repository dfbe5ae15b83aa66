import {
  type Action,
  type App,
  button,
  column,
  field,
  heading,
  list,
  rail,
  row,
  text,
  type Values,
  type View,
} from "../views.ts";
import { player } from "./samples.ts";

const watch = (film: string): readonly Action[] => [{ do: "go", screen: "player", with: { film } }];

/** A frame that takes the focus and the key, with its title in a view of its own. */
const card = (title: string, onTap: readonly Action[], width = 160): View =>
  column([text(title, { id: "title_text", weight: 1 })], {
    className: "android.widget.FrameLayout",
    name: title,
    look: "card",
    width,
    height: 90,
    onTap,
  });

const films = (genre: string, amount: number): View[] =>
  Array.from({ length: amount }, (_, place) => {
    const title = `${genre} ${place + 1}`;
    return card(title, watch(title));
  });

const shelf = (title: string, cards: readonly View[]): View =>
  column(
    [text(title, { height: 32 }), rail(`row_${title.toLowerCase()}`, cards, { height: 106, padding: 8 })],
    { name: title },
  );

/** The keyboard is a part of the screen, as most apps of televisions have it. */
const letters = ["abcdefg", "hijklmn", "opqrstu", "vwxyz12", "3456789"];
const keyboardFor = (value: string): View =>
  column(
    [
      ...letters.map((line) =>
        row(
          [...line].map((key) =>
            button(key, [{ do: "append", value, text: key }], { look: "key", width: 44, height: 40 }),
          ),
        ),
      ),
      row([
        button("space", [{ do: "append", value, text: " " }], { look: "key", width: 132, height: 40 }),
        button("delete", [{ do: "erase", value }], { look: "key", width: 132, height: 40 }),
      ]),
    ],
    { id: "keyboard" },
  );

const found = (values: Values): View[] => {
  const query = String(values.query ?? "").trim();
  return query === "" ? [] : ["Drama 1", "Comedy 2", "News 3"].map((title) => card(title, watch(title), 140));
};

export const tvLauncher: App = {
  packageName: "com.google.android.tvlauncher",
  label: "Android TV Home",
  startMs: { cold: 240, warm: 90 },
  screens: {
    main: {
      activity: ".Main",
      view: ({ apps }) =>
        column([
          row(
            [
              button("Search", [{ do: "go", screen: "search" }], { width: 120 }),
              button("All films", [{ do: "go", screen: "grid" }], { width: 120 }),
              button("Rate us", [{ do: "go", screen: "trap" }], { width: 120 }),
            ],
            { padding: 8 },
          ),
          list("rows", [
            shelf(
              "Apps",
              apps.map(({ packageName, label }) => card(label, [{ do: "launch", packageName }])),
            ),
            shelf("Drama", films("Drama", 8)),
            shelf("Comedy", films("Comedy", 3)),
            shelf("News", films("News", 6)),
          ]),
        ]),
    },
    recent: { activity: ".Recents", view: () => column([heading("Recent apps")]) },
    player: player("A long film"),
    grid: {
      activity: ".Grid",
      view: () =>
        column([
          heading("All films"),
          list("grid", films("Film", 32), { flow: "grid", columns: 5, padding: 8 }),
        ]),
    },
    search: {
      activity: ".Search",
      view: ({ values }) =>
        column([
          field("query", "Search for films", values),
          row([keyboardFor("query"), column(found(values), { id: "found", weight: 1 })], { weight: 1 }),
        ]),
    },
    code: {
      activity: ".Code",
      view: ({ values }) =>
        column([field("code", "Code of the screen", values, { takesNoKeys: true }), keyboardFor("code")]),
    },
    /** A D-pad cannot leave the stars: only Back does. */
    trap: {
      activity: ".Trap",
      view: ({ values }) =>
        column([
          heading("Rate us"),
          row(
            [1, 2, 3, 4, 5].map((stars) =>
              button(`${stars} stars`, [{ do: "set", value: "stars", to: stars }], { width: 120 }),
            ),
            { id: "stars", keepsFocus: true },
          ),
          text(values.stars ? `You gave ${values.stars}` : "Not rated yet", { id: "given" }),
          button("Send", [{ do: "toast", text: "Thank you" }], { width: 160 }),
        ]),
    },
  },
};
