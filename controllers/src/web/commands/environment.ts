import { z } from "zod";
import { type Command, defineCommand } from "../../contract.ts";
import { portable } from "../../portable.ts";
import type { Actions } from "../acting/action.ts";
import { readStorageState, writeStorageState } from "../browser/storageState.ts";

const stateName = z.string().min(1).max(100);
const STATE_MS = 10_000;

export function environmentCommands(actions: Actions): Command[] {
  const { session } = actions;
  return [
    defineCommand({
      ...portable.handle_dialog,
      description: `${portable.handle_dialog.description} Without it alerts are accepted, other dialogs dismissed.`,
      async run({ accept, prompt_text }) {
        session.page();
        session.dialogs.arm({ accept, promptText: prompt_text });
        return { message: `the next dialog will be ${accept ? "accepted" : "dismissed"}`, isNews: true };
      },
    }),
    defineCommand({
      name: "save_storage_state",
      description: "Saves cookies and local storage (a login, say) under a name.",
      effect: "read",
      input: z.strictObject({ name: stateName }),
      async run({ name }, signal) {
        const path = session.context.storageStatePath(name);
        const done = `saved storage state "${name}"`;
        return actions.run({ command: "save_storage_state", timeoutMs: STATE_MS, signal, done }, async () =>
          writeStorageState(path, await session.storageState()),
        );
      },
    }),
    defineCommand({
      name: "load_storage_state",
      description:
        "Starts afresh: all tabs, cookies and storage go, and those saved under the name come back, if one is given.",
      effect: "write",
      input: z.strictObject({
        name: stateName.optional().describe("Of a saved state; absent: start with nothing."),
      }),
      async run({ name }, signal) {
        const state =
          name === undefined
            ? undefined
            : await readStorageState(session.context.storageStatePath(name), name);
        const message =
          name === undefined ? "started with an empty browser" : `loaded storage state "${name}"`;
        const options = { command: "load_storage_state", timeoutMs: STATE_MS, signal, done: message };
        return { ...(await actions.run(options, () => session.reset(state))), message };
      },
    }),
  ];
}
