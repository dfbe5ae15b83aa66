import { z } from "zod";
import { type Command, defineCommand } from "../../contract.ts";
import { sendInput } from "../../dispatch.ts";
import { DeviceError } from "../../errors.ts";
import { untilAborted } from "../../waiting/deadlines.ts";
import { ask } from "../acting/question.ts";
import type { DrivenSession } from "../browser/session.ts";
import { dispatchedBy } from "../page/failures.ts";
import type { Spec } from "./elementCommand.ts";

const DEADLINE_MS = 5_000;
const LONGEST_TEXT = 100_000;

/** What pages may do, where they are, and the clipboard that they share with the user. */
export function permissionCommands(session: DrivenSession): Command[] {
  return [
    grantPermissions(session),
    setGeolocation(session),
    readClipboard(session),
    writeClipboard(session),
  ];
}

const permission = z.enum([
  "accelerometer",
  "background-sync",
  "camera",
  "clipboard-read",
  "clipboard-write",
  "geolocation",
  "gyroscope",
  "local-fonts",
  "magnetometer",
  "microphone",
  "midi",
  "notifications",
  "payment-handler",
  "storage-access",
]);
/** A command that sets something on the browser's context: it leaves the page, and what was written into it, as they are. */
function contextCommand<Input extends z.ZodObject>(
  session: DrivenSession,
  spec: Spec<Input> & {
    done(input: z.output<Input>): string;
    prepare(input: z.output<Input>, signal: AbortSignal): Promise<void>;
    set(input: z.output<Input>): Promise<void>;
  },
): Command {
  const { name, description, input } = spec;
  return defineCommand<Input>({
    name,
    description,
    effect: "write",
    input,
    async run(given, signal) {
      await spec.prepare(given, signal);
      const question = { what: name, ms: DEADLINE_MS, signal };
      await sendInput(() => ask(session, question, (limited) => untilAborted(spec.set(given), limited)));
      return { message: spec.done(given) };
    },
  });
}

function grantPermissions(session: DrivenSession): Command {
  return contextCommand(session, {
    name: "grant_permissions",
    description: "Sets what all pages may do without asking; what is left out is refused. [] takes all back.",
    input: z.strictObject({ permissions: z.array(permission).max(20) }),
    done: ({ permissions }) =>
      permissions.length > 0 ? `granted ${permissions.join(", ")}` : "took all back",
    async prepare({ permissions }, signal) {
      if (permissions.some((one) => one !== "notifications"))
        await refuseInsecure(session, "Permissions are", signal);
    },
    async set({ permissions }) {
      await session.setOnContext("permissions", {
        async apply(context) {
          await context.clearPermissions();
          if (permissions.length > 0) await context.grantPermissions(permissions);
        },
        undo: (context) => context.clearPermissions(),
      });
    },
  });
}

function setGeolocation(session: DrivenSession): Command {
  return contextCommand(session, {
    name: "set_geolocation",
    description:
      "Sets where the device is, in degrees, and lets pages ask for it; without a place it is unknown again.",
    input: z
      .strictObject({
        latitude: z.number().min(-90).max(90).optional(),
        longitude: z.number().min(-180).max(180).optional(),
        accuracy: z.number().min(0).max(1_000_000).default(0).describe("Metres."),
      })
      .refine((given) => (given.latitude === undefined) === (given.longitude === undefined), {
        message: "give latitude and longitude, or neither",
      }),
    done: ({ latitude, longitude }) =>
      latitude === undefined ? "the place is unknown" : `the device is at ${latitude}, ${longitude}`,
    async prepare({ latitude }, signal) {
      if (latitude !== undefined) await refuseInsecure(session, "The place is", signal);
    },
    async set({ latitude, longitude, accuracy }) {
      if (latitude === undefined || longitude === undefined)
        return session.browserContext().setGeolocation(null);
      await session.setOnContext("geolocation", {
        async apply(context) {
          await context.grantPermissions(["geolocation"]);
          await context.setGeolocation({ latitude, longitude, accuracy });
        },
        async undo(context) {
          await context.setGeolocation(null);
          await context.clearPermissions();
        },
      });
    },
  });
}

function readClipboard(session: DrivenSession): Command {
  return defineCommand({
    name: "read_clipboard",
    description: "Gives the clipboard's text as value; needs the permission clipboard-read.",
    effect: "read",
    input: z.strictObject({}),
    async run(_, signal) {
      const text = await useClipboard(session, "read", null, signal);
      return { message: `the clipboard holds ${text.length} characters`, data: { value: text } };
    },
  });
}

function writeClipboard(session: DrivenSession): Command {
  return defineCommand({
    name: "write_clipboard",
    description: "Puts a text into the clipboard; needs the permission clipboard-write.",
    effect: "write",
    input: z.strictObject({ text: z.string().max(LONGEST_TEXT) }),
    async run({ text }, signal) {
      await sendInput(() => useClipboard(session, "write", text, signal), dispatchedBy);
      return { message: `the clipboard holds ${text.length} characters` };
    },
  });
}

/** As a script of the page would, with no more rights than the page has. */
async function useClipboard(
  session: DrivenSession,
  how: "read" | "write",
  text: string | null,
  signal: AbortSignal,
): Promise<string> {
  await refuseInsecure(session, "The clipboard is", signal);
  if (how === "write") session.clipboard.used();
  const question = { what: `${how}_clipboard`, ms: DEADLINE_MS, signal };
  const answer = await ask(session, question, () => session.page().evaluate(askClipboard, text));
  if ("text" in answer) return answer.text;
  throw new DeviceError(
    "ACTION_REJECTED",
    `The page may not ${how} the clipboard: ${answer.refusal}. Call grant_permissions with clipboard-${how} first.`,
  );
}

/** An empty tab has no origin yet, so nothing is known of the one that comes. */
async function refuseInsecure(session: DrivenSession, what: string, signal: AbortSignal): Promise<void> {
  const page = session.page();
  if (!/^https?:/.test(page.url())) return;
  const question = { what: "the page's origin", ms: DEADLINE_MS, signal };
  if (await ask(session, question, () => page.evaluate(() => isSecureContext))) return;
  throw new DeviceError(
    "ACTION_REJECTED",
    `${what} only given to pages of a secure origin, and ${new URL(page.url()).origin} is none. Open the site by https, or as localhost or 127.0.0.1.`,
  );
}

// What follows runs in the page.

async function askClipboard(text: string | null): Promise<{ text: string } | { refusal: string }> {
  try {
    if (text === null) return { text: await navigator.clipboard.readText() };
    await navigator.clipboard.writeText(text);
    return { text };
  } catch (error) {
    return { refusal: error instanceof Error ? error.message.slice(0, 200) : "it was refused" };
  }
}
