/** A made-up set-top box: four screens, a focus that the D-pad moves, a form. Pure data and state, no input or output. */
export type SimulatedItem = {
  id: string;
  role: "button" | "textbox" | "heading" | "checkbox";
  name: string;
  opens?: string;
};
export type SimulatedScreen = { title: string; items: readonly SimulatedItem[]; back?: string };

export const simulatedScreens: Readonly<Record<string, SimulatedScreen>> = {
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
      { id: "guide", role: "button", name: "Guide", opens: "live" },
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

export class SimulatedState {
  screen = "home";
  focus = 0;
  readonly values = new Map<string, string>();
  readonly checked = new Set<string>();

  current(): SimulatedScreen {
    const screen = simulatedScreens[this.screen];
    if (!screen) throw new Error(`The simulated device has no screen ${this.screen}`);
    return screen;
  }

  focusable(): SimulatedItem[] {
    return this.current().items.filter((item) => item.role !== "heading");
  }

  open(screen: string): void {
    this.screen = screen;
    this.focus = 0;
  }

  activate(item: SimulatedItem): void {
    if (item.opens !== undefined) this.open(item.opens);
    else if (item.role === "checkbox" && !this.checked.delete(item.id)) this.checked.add(item.id);
  }

  press(key: string): void {
    const items = this.focusable();
    const moves: Record<string, number> = { UP: -1, LEFT: -1, DOWN: 1, RIGHT: 1 };
    const move = moves[key];
    if (move !== undefined)
      this.focus = Math.min(Math.max(this.focus + move, 0), Math.max(items.length - 1, 0));
    else if (key === "HOME") this.open("home");
    else if (key === "BACK") this.open(this.current().back ?? this.screen);
    else if (key === "OK") {
      const item = items[this.focus];
      if (item) this.activate(item);
    }
  }
}
