import type { LabPage } from "../labUi.ts";
import type { Placed } from "./layout.ts";
import type { Popup } from "./popups.ts";
import type { Surface } from "./surfaces.ts";
import type { Action, Value } from "./views.ts";

export type Stage = {
  readonly scale: number;
  readonly page: LabPage | undefined;
  now(): number;
  surfaces(): readonly Surface[];
  activeSurface(): Surface;
  /** Does what a view of this window is for; a popup closes before. */
  act(surface: Surface, actions: readonly Action[]): void;
  /** Closes a popup as Back does, where it lets that be. */
  cancel(surface: Surface, popup: Popup): void;
  setValue(surface: Surface, value: string, to: Value): void;
  focus(surface: Surface, placed: Placed, options: { isTyping: boolean }): void;
  scroll(surface: Surface, placed: Placed, by: number): void;
  notifications(open: boolean): void;
};

export type KeyStage = Stage & {
  home(): void;
  back(): void;
  recent(): void;
  power(on?: boolean): void;
  /** Hides the keyboard; false where none is shown. */
  endTyping(): boolean;
  /** Into the field that has the focus; false where none has it. */
  write(change: (text: string) => string): boolean;
  /** To the app that plays, or is in front. */
  control(action: Action): void;
};
