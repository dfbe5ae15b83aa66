import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { vi } from "vitest";
import type { Attach } from "#agent-client/mcp/daemon.ts";
import { openLabServer, type RemoteLab } from "#agent-client/mcp/labServer.ts";
import { connectDaemon } from "#mcp-server/cli/daemon.ts";
import { type Bench, isAlive, kill, productBench, within } from "../../fixtures/daemon.ts";

export type DaemonLab = {
  bench: Bench;
  /** A client as each process of the agents has one; it starts the daemon when there is none. */
  open(name: string): RemoteLab;
  /** Kills the daemon with -9, and waits until it is dead. Gives its pid. */
  killDaemon(): Promise<number>;
  end(): Promise<void>;
};

/** A data directory with this labwright.yaml. */
export function openDaemonLab(yaml: string): DaemonLab {
  const bench = productBench();
  writeFileSync(join(bench.dataDir, "labwright.yaml"), `server: { name: lab }\n${yaml}\n`);
  const opened: RemoteLab[] = [];
  return {
    bench,
    open(name) {
      const attach = attachTo(bench.dataDir, `agent/${name}`);
      // Longer than a test: what only goes on because the server was silent too long does not go on here.
      const server = openLabServer({ attach, silentMs: () => 600_000 });
      opened.push(server);
      return server;
    },
    async killDaemon() {
      const pid = bench.daemon()?.pid;
      if (pid === undefined) throw new Error("no daemon runs");
      kill(pid, "SIGKILL");
      await vi.waitFor(() => {
        if (isAlive(pid)) throw new Error(`${pid} lives still`);
      }, within);
      return pid;
    },
    async end() {
      await Promise.all(opened.map((server) => server.close()));
      await bench.end();
    },
  };
}

/** As `mcp-server/src/cli/agent.ts` does it, under a name of the test's. */
function attachTo(dataDir: string, client: string): Attach {
  const signal = new AbortController().signal;
  const terminal = { out: () => {}, err: () => {}, env: {}, cwd: dataDir, signal };
  return async () => {
    const attached = await connectDaemon({ dataDir }, terminal, { command: "chat", client });
    const { file, lost } = attached;
    return {
      url: new URL(`http://127.0.0.1:${file.port}`),
      headers: { authorization: `Bearer ${file.token}`, "x-labwright-client": client },
      lost,
      close: () => attached.close(),
    };
  };
}
