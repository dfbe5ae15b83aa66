import { z } from "zod";
import { type Command, defineCommand } from "../contract.ts";
import { sendInput } from "../dispatch.ts";
import { hasTarget } from "../elements/target.ts";
import { DeviceError } from "../errors.ts";
import { portable } from "../portable.ts";
import type { Moment } from "../ports.ts";
import { runProgram } from "../programs/run.ts";
import { openConsole } from "../wire/console.ts";
import { answerMs, orClose } from "../wire/exchange.ts";
import { offline, refused } from "../wire/failures.ts";
import { keyTables } from "./keyTables.ts";
import { type Access, defineRemote, type RemoteLink, type Use } from "./remote.ts";
import { keyMap, keysSchema } from "./settings.ts";

const settings = z.strictObject({
  display: z
    .string()
    .regex(/^:\d{1,5}(\.\d)?$/, 'a display of this machine, such as ":77"')
    .describe('The X11 display on which the device is shown, such as ":77". Keys go there by xdotool.'),
  keys: keysSchema(/^[A-Za-z0-9_]+(\+[A-Za-z0-9_]+)*$/).describe(
    "Keys by name as xdotool calls them, such as RED: F5 or GUIDE: ctrl+g; added to the usual ones.",
  ),
});

type Keyboard = RemoteLink & { type(text: string, signal: AbortSignal): Promise<Moment> };

async function connect(
  { display }: z.output<typeof settings>,
  _access: Access,
  signal: AbortSignal,
): Promise<Keyboard> {
  const place = {
    name: `the display ${display}`,
    check: "Start what shows the device there, or correct controllers.x11.display.",
  };
  const env = { ...process.env, DISPLAY: display };
  // One xdotool for all keys: starting one for each takes 20 times as long.
  const connection = openConsole("xdotool", ["-"], place, env);
  /** Returns what `find` finds in the answer to the last of the commands, which has them all at the display. */
  const ask = (commands: readonly string[], answer: RegExp, own: AbortSignal) => {
    let said = "";
    const find = (line: string) => {
      const [found] = answer.exec(line) ?? [];
      if (/can't open display|connection to .* broken|fatal IO error/i.test(line)) throw offline(place, line);
      if (found === undefined) said += `${line} `;
      else if (said !== "") throw refused(place, said, "Correct the key in controllers.x11.keys.");
      return found;
    };
    return connection.ask(`${commands.join("\n")}\n`, find, own);
  };
  const send = async (command: string, own: AbortSignal) =>
    (await ask([command, "getmouselocation"], /^x:\d+ y:/, own)).sentAt;
  const { answer } = await orClose(connection, () => ask(["getdisplaygeometry"], /^\d+ \d+$/, signal));
  const [width = 0, height = 0] = answer.split(" ").map(Number);
  return {
    facts: { screen: { width, height } },
    connection,
    ask: (own) => send("", own),
    press: (code, own) => send(`key --delay 0 ${code}`, own),
    hold: {
      down: (code, own) => send(`keydown ${code}`, own),
      up: (code, own) => send(`keyup ${code}`, own),
    },
    /** On the standard input of xdotool, where no list of processes shows it. */
    async type(input, own) {
      const given = { signal: own, timeoutMs: answerMs + input.length * 50, env, input };
      const { code, stderr } = await runProgram("xdotool", ["type", "--delay", "12", "--file", "-"], given);
      if (code === 0) return performance.now();
      throw offline(place, stderr.trim().slice(0, 200) || "xdotool ended");
    },
  };
}

const typeText = (use: Use<Keyboard>): Command =>
  defineCommand({
    ...portable.type_text,
    async run({ text, timeout_ms: _, ...target }, signal) {
      if (hasTarget(target))
        throw new DeviceError(
          "COMMAND_UNSUITABLE",
          "A keyboard types where the focus is and finds no element. Leave out ref and selector.",
        );
      const sentAt = await sendInput(() => use((keyboard) => keyboard.type(text, signal)));
      return { message: "typed where the focus is", sentAt };
    },
  });

/** Keys of a device that is shown on an X11 display: TV software on this machine, or a virtual one. */
export const x11Factory = defineRemote({
  ...{ name: "x11", what: "X11 display", settings, holds: true, connect },
  program: { program: "xdotool", install: "sudo apt-get install -y xdotool" },
  claims: ({ display }) => [`display:${display}`],
  keys: ({ keys }) => keyMap(keyTables.x11, keys),
  commands: (use) => [typeText(use)],
});
