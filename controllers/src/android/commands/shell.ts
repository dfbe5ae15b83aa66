import { z } from "zod";
import { type Command, defineCommand } from "../../contract.ts";
import { DeviceError } from "../../errors.ts";
import type { AndroidSession } from "../session.ts";

const longest = 10_000;
const mostBytes = 1_000_000;

export const shellCommandName = "device_shell";
export const shellIsOff =
  "device_shell is off. Set unsafe.device_shell: true in the configuration, or use the other commands.";

/** A command line of the caller's own; only where the configuration allows it. */
export function shellCommands({ context, device, reader }: AndroidSession): Command[] {
  const input = z.strictObject({
    command: z.string().min(1).max(10_000).describe("A line for the device's own shell."),
    timeout_ms: z.int().min(1).max(120_000).default(30_000),
  });
  return [
    defineCommand<typeof input>({
      name: shellCommandName,
      description: "Runs a command line in the device's shell and gives its output and exit code.",
      effect: "write",
      input,
      async run({ command, timeout_ms }, signal) {
        if (!context.unsafe.deviceShell) throw new DeviceError("UNSAFE_DISABLED", shellIsOff);
        const options = { timeoutMs: timeout_ms, mostBytes };
        const { code, stdout, stderr } = await reader.send(() =>
          device.link().script(command, signal, options),
        );
        return { message: `ended with ${code}`, data: { code, stdout: cut(stdout), stderr: cut(stderr) } };
      },
    }),
  ];
}

const cut = (text: string): string =>
  text.length > longest ? `${text.slice(0, longest)} … ${text.length - longest} more` : text;
