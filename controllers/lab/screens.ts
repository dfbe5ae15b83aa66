/** What a made-up set-top box shows: pure data. */
export type Item = {
  id: string;
  role: "button" | "textbox" | "heading" | "checkbox";
  name: string;
  /** The screen that it opens. */
  opens?: string;
  /** The question that it asks before it does so. */
  asks?: string;
};
export type Screen = { title: string; items: readonly Item[]; back?: string };

const programmes = Array.from({ length: 30 }, (_, index): Item => {
  return { id: `programme-${index + 1}`, role: "button", name: `Programme ${index + 1}` };
});

export const screens: Readonly<Record<string, Screen>> = {
  home: {
    title: "Home",
    items: [
      { id: "home-title", role: "heading", name: "Welcome home" },
      { id: "live", role: "button", name: "Live TV", opens: "live" },
      { id: "movies", role: "button", name: "Movies", opens: "movies" },
      { id: "settings", role: "button", name: "Settings", opens: "settings" },
    ],
  },
  live: {
    title: "Live TV",
    back: "home",
    items: [
      { id: "live-title", role: "heading", name: "Now playing: News" },
      { id: "guide", role: "button", name: "Guide", opens: "guide" },
    ],
  },
  guide: {
    title: "Guide",
    back: "live",
    items: [
      { id: "guide-title", role: "heading", name: "Tonight" },
      { id: "record-all", role: "button", name: "Record all", opens: "live", asks: "Record all programmes?" },
      ...programmes,
    ],
  },
  movies: {
    title: "Movies",
    back: "home",
    items: [
      { id: "movies-title", role: "heading", name: "All movies" },
      { id: "movie-1", role: "button", name: "The Long Take", opens: "movies" },
    ],
  },
  settings: {
    title: "Settings",
    back: "home",
    items: [
      { id: "settings-title", role: "heading", name: "Device settings" },
      { id: "device-name", role: "textbox", name: "Device name" },
      { id: "parental", role: "checkbox", name: "Parental lock" },
    ],
  },
};

/** The apps on the box: each screen that the launcher opens, and the launcher itself. */
export const apps: readonly { id: string; name: string; screen: string }[] = Object.entries(screens).flatMap(
  ([screen, { title, back }]) =>
    back === undefined || back === "home" ? [{ id: `simulated.${screen}`, name: title, screen }] : [],
);
