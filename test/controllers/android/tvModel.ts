import { realClock } from "../../../controllers/lab/android/labUi.ts";
import { tv } from "../../../controllers/lab/android/personas/tv.ts";
import { Desk } from "../../../controllers/lab/android/ui/desk.ts";
import { focusables, pressKey } from "../../../controllers/lab/android/ui/keys.ts";
import { everyPlaced, type Placed } from "../../../controllers/lab/android/ui/layout.ts";

const arrowCodes = [19, 20, 21, 22];

type State = { focus: string | undefined; offsets: ReadonlyMap<string, number> };

/** The laboratory's TV once more, to be told each key that the real one gets, and asked for the fewest keys to a target. */
export class TvModel {
  readonly #desk = new Desk({ screen: tv.screen, isTv: true, clock: realClock, onKey: () => undefined });

  start(activity: string): void {
    this.#desk.running.start({ packageName: "com.google.android.tvlauncher", activity });
  }

  press(code: number): void {
    pressKey(this.#desk, code, { isOn: true });
  }

  /** What has the focus, by its words. */
  focused(): string {
    const surface = this.#desk.activeSurface();
    const placed = focusables(surface).find(({ key }) => key === surface.state.focus);
    return placed ? wordsOf(placed) : "";
  }

  /** The fewest arrow keys to what is called so, by a search over all states of the screen, from the state now. */
  fewest(target: string): number {
    const start = this.#state();
    const known = new Set([signOf(start)]);
    let states = [start];
    try {
      for (let presses = 0; states.length > 0; presses++) {
        const next: State[] = [];
        for (const state of states) {
          this.#restore(state);
          if (this.focused() === target) return presses;
          next.push(...this.#after(state).filter((one) => !known.has(signOf(one)) && known.add(signOf(one))));
        }
        states = next;
      }
      throw new Error(`No key leads to ${target}.`);
    } finally {
      this.#restore(start);
    }
  }

  #after(state: State): State[] {
    return arrowCodes.map((code) => {
      this.#restore(state);
      this.press(code);
      return this.#state();
    });
  }

  #state(): State {
    const { focus, offsets } = this.#desk.activeSurface().state;
    return { focus, offsets: new Map(offsets) };
  }

  #restore({ focus, offsets }: State): void {
    const { state } = this.#desk.activeSurface();
    state.focus = focus;
    state.offsets = new Map(offsets);
  }
}

const signOf = ({ focus, offsets }: State): string => JSON.stringify([focus, [...offsets].toSorted()]);

function wordsOf(placed: Placed): string {
  const texts = [...everyPlaced(placed)].flatMap(({ view }) => view.text ?? []);
  return texts[0] || placed.view.hint || "";
}
