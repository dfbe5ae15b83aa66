import type { Dialog } from "playwright-core";
import { shortened } from "../../elements/quoted.ts";

export type DialogAnswer = { accept: boolean; promptText?: string | undefined };

const KEPT = 50;

/** Answers dialogs the moment they open. `report` gets one line for each, before it is answered. */
export class Dialogs {
  /** The messages of the last fifty, oldest first. */
  readonly history: string[] = [];
  #armed: DialogAnswer | undefined;
  #isPersons = false;
  #open: Dialog | undefined;

  constructor(private readonly report: (line: string) => void) {}

  /** The answer to the next dialog that is not a beforeunload; without it alerts are accepted, others dismissed. */
  arm(answer: DialogAnswer): void {
    this.#armed = answer;
  }

  /** Whether a person who sees the window answers dialogs. One that they leave open is dismissed. */
  leaveToPerson(leaves: boolean): void {
    this.#isPersons = leaves;
    if (!leaves) this.#open?.dismiss().catch(() => undefined);
    this.#open = undefined;
  }

  clear(): void {
    this.#armed = undefined;
    this.history.length = 0;
  }

  async answer(dialog: Dialog): Promise<void> {
    const [type, message] = [dialog.type(), dialog.message()];
    this.history.push(message);
    if (this.history.length > KEPT) this.history.shift();
    if (this.#isPersons && type !== "beforeunload") {
      this.#open = dialog;
      return;
    }
    const { accept, promptText } = this.#answerTo(type);
    this.report(`${type} "${shortened(message, 300)}" was ${accept ? "accepted" : "dismissed"}`);
    await (accept ? dialog.accept(promptText) : dialog.dismiss());
  }

  #answerTo(type: string): DialogAnswer {
    if (type === "beforeunload") return { accept: true };
    const answer = this.#armed ?? { accept: type === "alert" };
    this.#armed = undefined;
    return answer;
  }
}
