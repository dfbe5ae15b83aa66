import { spawn } from "node:child_process";
import { Argument, type Command } from "commander";
import { z } from "zod";
import { ToolError } from "../../errors.ts";
import { daemonUrl, requestDaemon } from "../../server/daemonFile.ts";
import { examples, withDaemonOptions } from "../commandOptions.ts";
import { connectDaemon } from "../daemon.ts";
import type { DaemonOptions } from "../options.ts";
import { type ExitCode, exitCodes, type Terminal } from "../terminal.ts";

const rooms = { device: "devices", app: "apps", run: "runs" } as const;
type Opened = keyof typeof rooms;

type OpenOptions = DaemonOptions & { print?: boolean | undefined };

const soldSchema = z.object({ ticket: z.string(), good_for_ms: z.int() });

/**
 * `labwright open [device|app|run] [id]`: opens the page in this machine's browser, signed in by a ticket in the address's fragment. Where
 * there is no display, and with `print`, writes the address instead. Starts a daemon if there is none.
 */
async function runOpen(
  { what, id }: { what?: Opened | undefined; id?: string | undefined },
  options: OpenOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const client = `open/${process.pid}`;
  const attached = await connectDaemon(options, terminal, { command: "open", client });
  try {
    const { signal } = terminal;
    const response = await requestDaemon(attached, "/page/tickets", { method: "POST", client, signal });
    if (!response.ok)
      throw new ToolError(
        "DAEMON_MISMATCH",
        "The daemon that runs has no page: it is of an older build.",
        "End it with labwright stop, then try again.",
      );
    const { ticket, good_for_ms: goodForMs } = soldSchema.parse(await response.json());
    const to = `/${[rooms[what ?? "device"], ...(id === undefined ? [] : [id])].map(encodeURIComponent).join("/")}`;
    const address = daemonUrl(attached.file, `/#${new URLSearchParams({ ticket, to })}`).href;
    if (options.print || !(await openInBrowser(address, terminal))) terminal.out(`${address}\n`);
    else terminal.out(`Opened ${daemonUrl(attached.file, "/").href} in the browser.\n`);
    terminal.err(`The address is good once, for ${goodForMs / 1_000} s.\n`);
    return exitCodes.passed;
  } finally {
    attached.close();
  }
}

/** False where there is nothing to open it with. The address stays out of a shell. */
async function openInBrowser(address: string, { env }: Pick<Terminal, "env">): Promise<boolean> {
  const isShown = process.platform !== "linux" || Boolean(env.DISPLAY || env.WAYLAND_DISPLAY);
  if (!isShown) return false;
  const [program, ...args] = openers[process.platform] ?? ["xdg-open"];
  if (program === undefined) return false;
  return new Promise((resolve) => {
    const child = spawn(program, [...args, address], { stdio: "ignore", detached: true });
    child.once("error", () => resolve(false));
    child.once("spawn", () => resolve(true));
    child.unref();
  });
}

const openers: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

export function addOpenCommand(program: Command, terminal: Terminal, exit: (code: ExitCode) => void): void {
  withDaemonOptions(program.command("open"))
    .description("shows devices, apps and runs in this machine's browser")
    .addArgument(new Argument("[what]", "what to show first").choices(Object.keys(rooms)))
    .argument("[id]", "the id of the device or run, or the name of the app; without it, all of them")
    .option("--print", "writes the address, which is good once, in place of opening it")
    .addHelpText(
      "after",
      examples("labwright open", "labwright open device browser", "labwright open run --print"),
    )
    .action(async (what: Opened | undefined, id: string | undefined, given: OpenOptions) => {
      exit(await runOpen({ what, id }, given, terminal));
    });
}
