import { z } from "zod";
import { DeviceError } from "../errors.ts";
import { runProgram } from "../programs/run.ts";
import { powerFactory } from "./controller.ts";
import { textSchema } from "./http.ts";

const programMs = 30_000;
const argvSchema = z.array(z.string().max(1_000)).min(1).max(50);

export const commandFactory = powerFactory({
  name: "command",
  settings: z.strictObject({
    id: textSchema
      .optional()
      .describe("What it switches, for messages and locks; the arguments of `on` if left out."),
    on: argvSchema.describe(
      "A program with its arguments, such as [ipmitool, -H, host, chassis, power, on].",
    ),
    off: argvSchema,
    state: argvSchema.optional().describe("A program that prints the state."),
    on_text: textSchema
      .default("is on")
      .describe("What `state` prints when it is on; letter case does not count."),
    off_text: textSchema.default("is off"),
  }),
  claim: ({ id, on }) => `command/${id ?? on.join(" ")}`,
  make({ id, on, off, state, on_text, off_text }) {
    const name = id ?? "the outlet";
    return {
      name,
      unreadable: "Set `state` in its settings to a program that prints it.",
      async read(signal) {
        if (state === undefined) return undefined;
        const said = (await run(name, state, signal)).toLowerCase();
        const [isOn, isOff] = [said.includes(on_text.toLowerCase()), said.includes(off_text.toLowerCase())];
        if (isOn !== isOff) return isOn ? "on" : "off";
        const seen = isOn ? `both "${on_text}" and "${off_text}"` : `neither "${on_text}" nor "${off_text}"`;
        throw new DeviceError("DEVICE_ERROR", `${state[0]} printed ${seen}. Correct on_text and off_text.`);
      },
      turn: async (to, signal) => void (await run(name, to === "on" ? on : off, signal)),
    };
  },
});

/** What it prints. Throws DEVICE_ERROR for a code other than 0; arguments may be secrets and are in no message. */
async function run(
  name: string,
  [file = "", ...args]: readonly string[],
  signal: AbortSignal,
): Promise<string> {
  const { code, stdout, stderr } = await runProgram(file, args, { signal, timeoutMs: programMs });
  if (code === 0) return stdout;
  const said = args.reduce(
    (all, arg) => (arg.length < 4 ? all : all.replaceAll(arg, "…")),
    stderr.trim().slice(0, 300),
  );
  const message = `${file} ended with code ${code} while switching ${name}: ${said || "it printed no error"}. Run it by hand to see why.`;
  throw new DeviceError("DEVICE_ERROR", message);
}
