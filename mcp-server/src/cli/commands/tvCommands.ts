import type { Command } from "commander";
import { examples, withDaemonOptions } from "../commandOptions.ts";
import type { DaemonOptions } from "../options.ts";
import type { ExitCode, Terminal } from "../terminal.ts";

/** `tv`: what is done once with a TV, without the daemon. */
export function addTvCommands(program: Command, terminal: Terminal, exit: (code: ExitCode) => void): void {
  const tv = program
    .command("tv")
    .description("pairs with a TV on the network")
    .addHelpText("after", examples("labwright tv pair living-room"));
  withDaemonOptions(tv.command("pair"))
    .description(
      "has an LG (webos) or Samsung TV accept this server: someone answers its question with its own remote",
    )
    .argument("<device>", "its name in labwright.yaml")
    .addHelpText("after", examples("labwright tv pair living-room"))
    .action(async (device: string, given: DaemonOptions) => {
      const { runTvPair } = await import("./tv.ts");
      exit(await runTvPair(device, given, terminal));
    });
}
