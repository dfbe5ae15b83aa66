import type { Command } from "commander";
import { examples } from "../commandOptions.ts";
import type { ExitCode, Terminal } from "../terminal.ts";

/** `android`: what is done once with a phone or TV, without the daemon. */
export function addAndroidCommands(
  program: Command,
  terminal: Terminal,
  exit: (code: ExitCode) => void,
): void {
  const android = program
    .command("android")
    .description("pairs with a phone on the network, or records what a phone or TV says of itself")
    .addHelpText(
      "after",
      examples("labwright android pair 192.168.1.20:37123", "labwright android record --out phone.json"),
    );
  android
    .command("pair")
    .description('pairs with a device whose "Wireless debugging" shows an address and a code; needs adb 30')
    .argument("<address>", "host:port, as the device shows it for pairing")
    .option("--code <code>", "six digits; asked for if left out")
    .addHelpText("after", examples("labwright android pair 192.168.1.20:37123"))
    .action(async (address: string, given: { code?: string }) => {
      const { runPair } = await import("./android.ts");
      exit(await runPair(address, given, terminal));
    });
  android
    .command("record")
    .description(
      "writes down what a device says of itself and how long its commands take, for the laboratory's simulated devices",
    )
    .argument("[serial]", "as adb devices lists it; may be left out for the only one")
    .option("--out <file>", "the file to write, a new one", "android.json")
    .addHelpText("after", examples("labwright android record R58M12ABCDE --out phone.json"))
    .action(async (serial: string | undefined, given: { out: string }) => {
      const { runRecord } = await import("./android.ts");
      exit(await runRecord(serial, given, terminal));
    });
}
