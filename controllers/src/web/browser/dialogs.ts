import type { Dialog } from "playwright-core";

/** A dialog of the page with the answer it got. `at` is ISO 8601 UTC. */
export type DialogInfo = {
  type: "alert" | "beforeunload" | "confirm" | "prompt";
  message: string;
  accepted: boolean;
  at: string;
};

export type DialogAnswer = { accept: boolean; promptText?: string | undefined };

/** Dialogs are answered the moment they open, so `open()` has one only until the browser has taken the answer. */
export type Dialogs = {
  open(): DialogInfo | undefined;
  /** The last fifty, oldest first. */
  readonly history: readonly DialogInfo[];
  /** The answer to the next dialog that is not a beforeunload; without it alerts are accepted, others dismissed. */
  arm(answer: DialogAnswer): void;
};

const KEPT = 50;

export type AnsweringDialogs = Dialogs & {
  answer(dialog: Dialog): Promise<void>;
  clear(): void;
};

/** `report` gets one line per dialog, before it is answered. */
export function createDialogs(report: (line: string) => void): AnsweringDialogs {
  const history: DialogInfo[] = [];
  let armed: DialogAnswer | undefined;
  let open: DialogInfo | undefined;

  function choose(type: string): DialogAnswer {
    if (type === "beforeunload") return { accept: true };
    const answer = armed ?? { accept: type === "alert" };
    armed = undefined;
    return answer;
  }

  return {
    open: () => open,
    history,
    arm(answer) {
      armed = answer;
    },
    clear() {
      armed = undefined;
      history.length = 0;
    },
    async answer(dialog) {
      const type = dialogType(dialog.type());
      const chosen = choose(type);
      const info = {
        type,
        message: dialog.message(),
        accepted: chosen.accept,
        at: new Date().toISOString(),
      };
      history.push(info);
      if (history.length > KEPT) history.shift();
      open = info;
      report(`${type} "${info.message.slice(0, 300)}" was ${info.accepted ? "accepted" : "dismissed"}`);
      try {
        await (chosen.accept ? dialog.accept(chosen.promptText) : dialog.dismiss());
      } finally {
        if (open === info) open = undefined;
      }
    },
  };
}

function dialogType(type: string): DialogInfo["type"] {
  return type === "beforeunload" || type === "confirm" || type === "prompt" ? type : "alert";
}
