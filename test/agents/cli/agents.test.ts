import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { loadAgents } from "../../../agent-client/src/agents/load.ts";
import type { OpenAgent } from "../../../agent-client/src/cli/agentClient.ts";
import { runAgentCommand } from "../../../agent-client/src/cli/program.ts";
import type { StoredTask } from "../../../agent-client/src/ports.ts";
import { fakeClient, fakeConversations } from "./fakeClient.ts";
import { fakeTerminal } from "./fakeTerminal.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "labwright-agents-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function run(args: readonly string[], changes: Partial<OpenAgent> = {}) {
  const terminal = fakeTerminal("");
  const { client, state } = fakeClient(fakeConversations().conversations, changes);
  const code = await runAgentCommand(args, terminal, async () => client);
  return { code, ...terminal.written, closed: state.closed };
}

describe("labwright agents", () => {
  it("says of each who it is, what starts it and what it can do", async () => {
    const { code, out, closed } = await run(["agents"]);
    expect(code).toBe(0);
    expect(out).toMatch(/^Atlas \(assistant\): interactive, default, enabled$/m);
    expect(out).toMatch(/^ {2}started by\n {4}a message of yours\n {2}skills: run-script, .*, and yours$/m);
    expect(out).toMatch(/^ {4}alert\.blackscreen \(critical\): incident-response$/m);
    expect(out).toMatch(/^ {4}schedule\.health_check \(normal, at "0 \* \* \* \*"\): health-check$/m);
    expect(closed).toBe(1);
  });

  it("is JSON in one line with --json", async () => {
    const { out } = await run(["agents", "list", "--json"]);
    const rows = z.array(z.looseObject({ name: z.string(), enabled: z.boolean() })).parse(JSON.parse(out));
    expect(rows.map(({ name }) => name)).toEqual(["analyzer", "assistant", "monitor"]);
    expect(out.trimEnd()).not.toContain("\n");
  });

  it("names the file and line of what is wrong with the user's own, lists the others, and ends with 1", async () => {
    writeFileSync(join(folder, "mine.yaml"), "name: mine\nnickname: Mine\nmode: loud\n");
    const { agents, problems } = loadAgents({ userFolder: folder });
    const { code, out, err } = await run(["agents"], { agents, problems });
    expect(code).toBe(1);
    expect(err).toContain(`${join(folder, "mine.yaml")}:3: mode: `);
    expect(out).toContain("Atlas (assistant)");
    expect(out).not.toContain("Mine");
  });
});

describe("labwright agents tasks", () => {
  const task: StoredTask = {
    ...{ id: 7, agent: "monitor", key: "event:9", priority: "critical", state: "failed", attempts: 3 },
    event: {
      ...{ id: 9, type: "alert.blackscreen", priority: "critical", source: "host" },
      ...{ payload: {}, at: "2026-11-22T12:00:00.000Z" },
    },
    ...{
      session_id: null,
      finding: null,
      error: "The device\n is gone\u001b[2J.",
      created_at: "",
      updated_at: "2026-11-22T12:01:00.000Z",
    },
  };

  it("lists those that are asked for, each in a line", async () => {
    const tasks = vi.fn(async () => [task]);
    const { code, out } = await run(["agents", "tasks", "--agent", "monitor", "--state", "failed"], {
      tasks,
    });
    expect(code).toBe(0);
    expect(tasks).toHaveBeenCalledWith({ agent: "monitor", state: "failed", limit: 100 });
    expect(out).toBe(
      "7  2026-11-22T12:01:00.000Z  monitor  failed  critical  alert.blackscreen  The device is gone.\n",
    );
  });

  it("is JSON with --json, and says when there is none", async () => {
    const { out } = await run(["agents", "tasks", "--json"], { tasks: async () => [task] });
    expect(JSON.parse(out)).toEqual([task]);
    expect(await run(["agents", "tasks"])).toMatchObject({
      code: 0,
      out: "",
      err: "There is no such task.\n",
    });
  });
});

describe("labwright agent", () => {
  /** A process whose parts say in `log` when they start and end. */
  function start(args: readonly string[], changes: Partial<OpenAgent> = {}) {
    const terminal = fakeTerminal("");
    const log: string[] = [];
    const part = (name: string) => ({ close: async () => void log.push(`${name} ended`) });
    const { client, state } = fakeClient(fakeConversations().conversations, {
      async serve(at) {
        log.push(`api ${JSON.stringify(at)}`);
        return { url: "http://127.0.0.1:7334", ...part("api") };
      },
      async startAutonomous(say) {
        say("Guardian is at work");
        log.push("agents");
        return part("agents");
      },
      ...changes,
    });
    const code = runAgentCommand(["agent", ...args], terminal, async () => client);
    return { code, terminal, log, state };
  }

  it("says where it is and who is at work, and ends all in order when it is told to", async () => {
    const { code, terminal, log, state } = start(["--port", "0", "--host", "127.0.0.2"]);
    await vi.waitFor(() => expect(terminal.written.out).toContain("at work: Sherlock, Guardian\n"));
    expect(terminal.written.out).toContain(
      "http://127.0.0.1:7334/server/agent (http://127.0.0.1:7334/server/agent/docs)\nmodel: claude-test\n",
    );
    terminal.interrupts();
    expect(await code).toBe(0);
    expect(log).toEqual(['api {"host":"127.0.0.2","port":0}', "agents", "agents ended", "api ended"]);
    expect(state.closed).toBe(1);
    expect(terminal.written.err).toContain("Guardian is at work\n");
  });

  it("leaves the autonomous agents alone with --no-autonomous", async () => {
    const { code, terminal, log } = start(["--no-autonomous"]);
    await vi.waitFor(() => expect(terminal.written.out).toContain("autonomous agents: off\n"));
    terminal.interrupts();
    expect(await code).toBe(0);
    expect(log).toEqual(["api {}", "api ended"]);
  });

  it("ends what has started when the next does not start, with 2 and why", async () => {
    const { code, terminal, log, state } = start([], {
      startAutonomous: () => Promise.reject(new Error("no agents today")),
    });
    expect(await code).toBe(2);
    expect(terminal.written.err).toContain("no agents today\n");
    expect(log).toEqual(["api {}", "api ended"]);
    expect(state.closed).toBe(1);
  });
});
