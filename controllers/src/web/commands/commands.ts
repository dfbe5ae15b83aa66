import type { Command, CommandResult, DocumentStatus } from "../../contract.ts";
import { DeviceError } from "../../errors.ts";
import type { Actions } from "../acting/action.ts";
import type { Opened } from "../browser/servers.ts";
import type { DrivenSession } from "../browser/session.ts";
import { unreachable, unreachableReason } from "../page/failures.ts";
import { activityCommands } from "./activity.ts";
import { choiceCommands } from "./choices.ts";
import { downloadCommands } from "./downloads.ts";
import { environmentCommands } from "./environment.ts";
import { navigationCommands } from "./navigation.ts";
import { networkCommands } from "./network.ts";
import { permissionCommands } from "./permissions.ts";
import { pointerCommands } from "./pointer.ts";
import { readingCommands } from "./reading.ts";
import { scriptCommands } from "./script.ts";
import { tabCommands } from "./tabs.ts";
import { textCommands } from "./text.ts";
import { viewCommands } from "./view.ts";
import { waitCommands } from "./waiting.ts";

/** Names what follows in a recording, until the returned function is called. */
type NameStep = (title: string) => Promise<() => Promise<void>>;

export function webCommands(actions: Actions, nameStep: NameStep): readonly Command[] {
  const { session } = actions;
  const commands = [
    ...navigationCommands(actions),
    ...pointerCommands(actions),
    ...textCommands(actions),
    ...choiceCommands(actions),
    ...viewCommands(actions),
    ...waitCommands(session),
    ...downloadCommands(session),
    ...readingCommands(actions),
    ...activityCommands(actions),
    ...tabCommands(actions),
    ...environmentCommands(actions),
    ...networkCommands(actions),
    ...permissionCommands(session),
    ...scriptCommands(actions),
  ];
  return commands.map((command) => reported(command, session, nameStep));
}

/**
 * The command with its name in a recording and the status of the main document that it led to. Throws APP_UNREACHABLE if no server
 * gave one, DEVICE_LOST if the browser went away.
 */
function reported(command: Command, session: DrivenSession, nameStep: NameStep): Command {
  const { servers, blank } = session;
  return {
    ...command,
    async run(input, signal) {
      const since = servers.count;
      const opened = () =>
        session.isAlive() && session.pages().length > 0 ? servers.opened(session.page(), since) : undefined;
      const endName = await nameStep(titleOf(command.name, input));
      try {
        return withDocument(await command.run(input, signal), opened(), input.expect_status);
      } catch (error) {
        const answer = answerIn(error, opened());
        if (!answer) throw await blank.causeOf(error);
        return withDocument(answer, opened(), input.expect_status);
      } finally {
        await endName();
      }
    },
  };
}

/** Never what is typed, which may be a secret. */
function titleOf(command: string, input: object): string {
  const target = "selector" in input ? input.selector : "ref" in input ? input.ref : undefined;
  return typeof target === "string" ? `${command} ${target.slice(0, 80)}` : command;
}

/** Chromium shows a page of its own for some answers, such as a 401 or an error without a body, and calls them a failure. */
function answerIn(error: unknown, opened: Opened | undefined): CommandResult | undefined {
  if (!(error instanceof DeviceError) || opened?.status === undefined) return undefined;
  const isAnswer = /^ERR_(INVALID_AUTH_CREDENTIALS|HTTP_RESPONSE_CODE_FAILURE)$/.test(
    String(error.details.reason),
  );
  const { url, status } = opened;
  return isAnswer ? { message: `the server answered ${status}`, data: { url, status } } : undefined;
}

function withDocument(result: CommandResult, opened: Opened | undefined, expected: unknown): CommandResult {
  if (!opened) return result;
  const { url, status, failure = "", challenge } = opened;
  if (status === undefined) {
    const reason = unreachableReason(failure);
    if (reason === undefined) return result;
    throw unreachable(
      `The action was done, but the page that it leads to, ${url}, was not reached`,
      reason,
      failure,
    );
  }
  const document: DocumentStatus = {
    url,
    status,
    ...(typeof expected === "number" && { expected }),
    ...(challenge !== undefined && { challenge }),
  };
  return { ...result, document };
}
