import { simulatedFactory } from "@labwright/controllers/lab";
import { controllerContext } from "../../fixtures/controllerContext.ts";
import { findingSourceContract, focusSourceContract, logSourceContract } from "../ports.ts";

const never = new AbortController().signal;

async function openRemote() {
  const settings = simulatedFactory.settings.parse({});
  const [remote] = simulatedFactory.create(settings, controllerContext("lab/box"));
  if (!remote) throw new Error("The lab made no controller.");
  await remote.open(never);
  const run = async (wanted: string, params: Record<string, unknown>) => {
    const command = remote.commands.find(({ name }) => name === wanted);
    if (!command) throw new Error(`The box has no command ${wanted}.`);
    await command.run(command.input.parse(params), never);
  };
  return { remote, run, dispose: () => remote.close() };
}

function portOf<Port>(port: Port | undefined): Port {
  if (port === undefined) throw new Error("The box has no such port.");
  return port;
}

logSourceContract("The simulated box", async () => {
  const { remote, run, dispose } = await openRemote();
  return { port: portOf(remote.logs), cause: () => run("press_key", { key: "DOWN" }), dispose };
});

focusSourceContract("The simulated box", async () => {
  const { remote, dispose } = await openRemote();
  return { port: portOf(remote.focus), dispose };
});

findingSourceContract("The simulated box", async () => {
  const { remote, run, dispose } = await openRemote();
  return { port: portOf(remote.findings), cause: () => run("simulate_fault", { kind: "freeze" }), dispose };
});
