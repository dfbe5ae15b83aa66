import { FocusMap } from "./focusMap.ts";

const mostScreens = 30;

export class FocusMaps {
  readonly #maps = new Map<string, FocusMap>();

  /** The map of a screen by a name that is the same whenever it is shown, such as its activity. */
  of(screen: string): FocusMap {
    const map = this.#maps.get(screen) ?? new FocusMap();
    this.#maps.delete(screen);
    this.#maps.set(screen, map);
    for (const name of this.#maps.keys()) if (this.#maps.size > mostScreens) this.#maps.delete(name);
    return map;
  }
}
