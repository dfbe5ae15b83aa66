import { pairingDrivers, pairTv } from "@labwright/controllers";
import { loadConfig } from "../../config.ts";
import { ToolError } from "../../errors.ts";
import { createPairings } from "../../services/devices/pairings.ts";
import { createUrlPolicy } from "../../services/policy/urlPolicy.ts";
import type { DaemonOptions } from "../options.ts";
import { type ExitCode, exitCodes, type Terminal } from "../terminal.ts";

/**
 * `labwright tv pair`: has the TV of a configured device accept this server, and stores its token in the data directory. A running daemon
 * uses it from the next connection on.
 */
export async function runTvPair(
  device: string,
  options: DaemonOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const config = loadConfig({
    command: "call",
    options: { config: options.config, data_dir: options.dataDir, log_level: options.logLevel },
    env: terminal.env,
    cwd: terminal.cwd,
  });
  const name = device.slice(device.lastIndexOf("/") + 1);
  const found = config.devices.find((one) => one.name === name);
  if (found === undefined) {
    const names = config.devices.map((one) => one.name).join(", ");
    throw new ToolError("DEVICE_NOT_FOUND", `There is no device "${name}".`, `Configured are: ${names}.`);
  }
  const drivers = found.drivers.filter((driver) => pairingDrivers.includes(driver));
  if (drivers.length === 0)
    throw new ToolError(
      "INVALID_INPUT",
      `The device ${name} has no driver that pairs.`,
      `Pairing is for ${pairingDrivers.join(" and ")}, under controllers of the device in labwright.yaml.`,
    );
  const pairings = createPairings(config.data_dir);
  for (const driver of drivers) {
    const pairing = await pairTv(
      driver,
      found.controllers[driver],
      {
        reach: createUrlPolicy(config.url_policy, { port: () => config.server.port }),
        device: name,
        asked: () =>
          terminal.err("[pair] The TV asks whether to allow Labwright: accept it with its own remote.\n"),
      },
      terminal.signal,
    );
    await pairings.keep(name, driver, pairing);
    terminal.out(`Paired ${name} (${driver}). Its token is in the data directory.\n`);
  }
  return exitCodes.passed;
}
