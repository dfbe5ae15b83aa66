import { z } from "zod";
import { type Command, defineCommand } from "../../contract.ts";
import { portable } from "../../portable.ts";
import { act } from "../acting/act.ts";
import type { DrivenSession } from "../browser/session.ts";
import { readStorageState, writeStorageState } from "../browser/storageState.ts";

/** Dialogs and storage: what surrounds the page. */
export function environmentCommands(session: DrivenSession): Command[] {
  return [handleDialog(session), saveStorageState(session), loadStorageState(session)];
}

function handleDialog(session: DrivenSession): Command {
  return defineCommand({
    ...portable.handle_dialog,
    description: `${portable.handle_dialog.description} Without it alerts are accepted, other dialogs dismissed.`,
    async run({ accept, prompt_text }) {
      session.page();
      session.dialogs.arm({ accept, promptText: prompt_text });
      return { message: `the next dialog will be ${accept ? "accepted" : "dismissed"}`, isNews: true };
    },
  });
}

const stateName = z.string().min(1).max(100);

function saveStorageState(session: DrivenSession): Command {
  const input = z.strictObject({ name: stateName });
  return defineCommand<typeof input>({
    name: "save_storage_state",
    description: "Saves cookies and local storage (a login, say) under a name.",
    effect: "read",
    input,
    async run({ name }, signal) {
      const path = session.context.storageStatePath(name);
      const options = {
        command: "save_storage_state",
        timeoutMs: 10_000,
        signal,
        done: `saved storage state "${name}"`,
      };
      return act(session, options, async () => {
        await writeStorageState(path, await session.storageState());
      });
    },
  });
}

function loadStorageState(session: DrivenSession): Command {
  const input = z.strictObject({
    name: stateName.optional().describe("Of a saved state; absent: start with nothing."),
  });
  return defineCommand<typeof input>({
    name: "load_storage_state",
    description:
      "Starts afresh: all tabs, cookies and storage go, and those saved under the name come back, if one is given.",
    effect: "write",
    input,
    async run({ name }, signal) {
      const state =
        name === undefined ? undefined : await readStorageState(session.context.storageStatePath(name), name);
      const done = name === undefined ? "started with an empty browser" : `loaded storage state "${name}"`;
      const result = await act(
        session,
        { command: "load_storage_state", timeoutMs: 10_000, signal, done: "" },
        () => session.reset(state),
      );
      return { message: done, ...(result.data === undefined ? {} : { data: result.data }) };
    },
  });
}
