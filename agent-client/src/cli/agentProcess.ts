import type { OpenAgent, OpenAgentClient, Running } from "./agentClient.ts";
import { type ClientOptions, withClient } from "./client.ts";
import { plainLine } from "./plain.ts";
import { type ExitCode, exitCodes, type Terminal } from "./terminal.ts";

export type AgentProcessOptions = ClientOptions & {
  host?: string | undefined;
  port?: number | undefined;
  /** Whether the agents that nobody talks to work here. */
  autonomous: boolean;
};

/** `labwright agent`: the API and the autonomous agents, until it is told to end; that is 0. */
export const runAgentProcess = (
  options: AgentProcessOptions,
  terminal: Terminal,
  open: OpenAgentClient,
): Promise<ExitCode> =>
  withClient(options, terminal, open, async (client) => {
    const stopped = new Promise<void>((resolve) => {
      const stop = terminal.onInterrupt(() => {
        stop();
        resolve();
      });
    });
    const running: Running[] = [];
    try {
      await start(client, options, terminal, running);
      await stopped;
    } finally {
      terminal.err("Ending.\n");
      // The last that started ends first; what cannot end keeps none of the others.
      for (const { close } of running.reverse())
        await close().catch((error: unknown) => terminal.err(`${plainLine(String(error), 400)}\n`));
    }
    return exitCodes.done;
  });

async function start(
  client: OpenAgent,
  { host, port, autonomous }: AgentProcessOptions,
  { out, err }: Terminal,
  running: Running[],
): Promise<void> {
  const api = await client.serve({ host, port });
  running.push(api);
  if (autonomous) running.push(await client.startAutonomous((line) => err(`${plainLine(line, 1_000)}\n`)));
  for (const { file, line, message } of client.problems) err(`${file}:${line}: ${message}\n`);
  const { models, agents } = client;
  const working = agents.filter(({ mode, config }) => mode === "autonomous" && config.enabled);
  out(
    [
      `${api.url}/server/agent (${api.url}/server/agent/docs)`,
      `model: ${models[0]?.model ?? "none; see labwright chat"}`,
      autonomous
        ? `at work: ${working.map(({ nickname }) => plainLine(nickname, 40)).join(", ") || "nobody"}`
        : "autonomous agents: off",
      "",
    ].join("\n"),
  );
}
