import { PassThrough } from "node:stream";
import { AgentError } from "@labwright/agent-client";
import { runAgentCommand } from "@labwright/agent-client/cli";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { pipedInput } from "#agent-client/cli/input.ts";
import type { Outcome } from "#agent-client/events.ts";
import type { OpenAgent } from "#agent-client/openAgent.ts";
import type { Script } from "../../fixtures/fakeConversations.ts";
import { echoes, fakeClient, fakeConversations } from "./fakeClient.ts";
import { fakeTerminal } from "./fakeTerminal.ts";

function ask(args: readonly string[], behave: Script = echoes, changes: Partial<OpenAgent> = {}) {
  const fake = fakeConversations(behave);
  // What is not a terminal: a script has stdout and stderr of its own.
  const terminal = fakeTerminal("from the pipe\nin two lines\n");
  const { client, state } = fakeClient(fake.conversations, changes);
  const code = runAgentCommand(["ask", ...args], terminal, async () => client);
  return { ...fake, code, terminal, state, written: terminal.written };
}

const working: Script = async ({ tell }) => {
  tell({ type: "message", text: "Let me look." });
  tell({ type: "tool_call", tool_use_id: "a", tool: "list_hosts", input: {} });
  tell({
    type: "tool_result",
    tool_use_id: "a",
    tool: "list_hosts",
    is_error: false,
    text: "one",
    images: 1,
    duration_ms: 2_345,
  });
  tell({ type: "message", text: "There is ", partial: true });
  tell({ type: "message", text: "There is one device." });
  tell({ type: "progress", kind: "cache", text: "[CACHE] Read 900 tokens from cache (90% cheaper)" });
  return { text: "There is one device." };
};

describe("labwright ask", () => {
  it("prints the answer alone on stdout, and what led to it on stderr", async () => {
    const { code, written, state, sent } = ask(["List", "the", "devices"], working);
    expect(await code).toBe(0);
    expect(written.out).toBe("There is one device.\n");
    expect(written.err).toBe(
      [
        "Let me look.",
        "→ list_hosts()",
        "← list_hosts 2.3 s ok, 1 picture",
        "[CACHE] Read 900 tokens from cache (90% cheaper)",
        "1 turn · 1.2 s",
        'To continue: labwright ask --resume 10000000-conversation "…"',
        "",
      ].join("\n"),
    );
    expect(sent.map(({ text }) => text)).toEqual(["List the devices"]);
    expect(state.closed).toBe(1);
  });

  it("prints every event as a line of JSON with --json, the end last, and nothing that steers a terminal", async () => {
    const { code, written } = ask(["--json", "x"], async (run) => {
      run.tell({ type: "message", text: "\u009b31m\u001b[31m\u202ered" });
      return working(run);
    });
    expect(await code).toBe(0);
    const events = written.out
      .trimEnd()
      .split("\n")
      .map((line) => z.looseObject({ type: z.string(), seq: z.int() }).parse(JSON.parse(line)));
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(events[0]).toMatchObject({ type: "message", text: "\u009b31m\u001b[31m\u202ered" });
    expect(events.at(-1)).toMatchObject({ type: "session_ended", outcome: "done" });
    expect(written.out).not.toMatch(/[^\n\P{Cc}]|\u202e/u);
    expect(written.err).toBe("");
  });

  it.each<[statuses: string[], number]>([
    [["passed"], 0],
    [["failed"], 1],
    [["running", "timeout"], 1],
    [["failed", "passed"], 0],
  ])("done with a run that came to %j ends with %s", async (statuses, expected) => {
    const { code } = ask(["Run the test"], async ({ tell }) => {
      for (const status of statuses)
        tell({
          ...{ type: "tool_result", tool_use_id: "t1", tool: "execute_testcase", is_error: false, status },
          ...{ text: status, images: 0, duration_ms: 1 },
        });
      return { text: "I ran it." };
    });
    expect(await code).toBe(expected);
  });

  it.each<[Outcome, number]>([
    ["done", 0],
    ["needs_input", 1],
    ["refused", 1],
    ["limit", 1],
    ["failed", 2],
    ["cancelled", 130],
  ])("ends a run that ended %s with %i", async (outcome, expected) => {
    const { code, written } = ask(["x"], async () => ({ outcome, text: "said" }));
    expect(await code).toBe(expected);
    expect(written.out).toBe(outcome === "done" ? "said\n" : "");
  });

  it("says on stderr why it failed, once, and which limit ended it", async () => {
    const error = { code: "MODEL_FAILED", message: "It is gone.", hint: "Try later." };
    const failed = ask(["x"], async ({ tell }) => {
      tell({ type: "error", ...error });
      return { outcome: "failed", error };
    });
    await failed.code;
    expect(failed.written.err).toMatch(/^MODEL_FAILED: It is gone\.\nTry later\.\n1 turn/);
    const limited = ask(["x"], async () => ({ outcome: "limit", limit: "cost" }));
    await limited.code;
    expect(limited.written.err).toContain("Stopped at its limit: cost.\n");
  });

  it("prints on stderr what an agent without a model says of a request that it cannot do", async () => {
    const text = "This takes a model.\nSet ANTHROPIC_API_KEY and ask again.";
    const { code, written } = ask(["x"], async ({ tell }) => {
      tell({ type: "message", text });
      return { outcome: "needs_input", text };
    });
    expect(await code).toBe(1);
    expect(written).toMatchObject({ out: "", err: expect.stringContaining(text) });
  });

  it("prints a question of the agent's on stderr, and ends with 1", async () => {
    const { code, written } = ask(["x"], async ({ tell }) => {
      tell({ type: "handoff", question: "Which?", options: ["a", "b"] });
      return { outcome: "needs_input" };
    });
    expect(await code).toBe(1);
    expect(written).toMatchObject({ out: "", err: expect.stringContaining("Which?\n  1. a\n  2. b\n") });
  });

  it("reads the request from stdin for -", async () => {
    const { code, sent } = ask(["-"]);
    expect(await code).toBe(0);
    expect(sent.map(({ text }) => text)).toEqual(["from the pipe\nin two lines"]);
  });

  it("goes on with a conversation, with a skill", async () => {
    const fake = fakeConversations();
    await fake.conversations.create({ owner: "local" });
    const { client } = fakeClient(fake.conversations);
    const args = ["ask", "--resume", "1", "--skill", "run-script", "more"];
    expect(await runAgentCommand(args, fakeTerminal(""), async () => client)).toBe(0);
    expect(fake.sent).toEqual([{ id: "10000000-conversation", text: "more", skill: "run-script" }]);
  });

  it("gives its options to who opens the client", async () => {
    const { client } = fakeClient(fakeConversations().conversations);
    const open = vi.fn(async () => client);
    const args = ["--model", "m", "--record", "r", "--data-dir", "d", "--config", "c"];
    await runAgentCommand(["ask", ...args, "x"], fakeTerminal(""), open);
    expect(open).toHaveBeenCalledWith(
      expect.objectContaining({ model: "m", record: "r", dataDir: "d", config: "c" }),
    );
  });
});

describe("an approval that labwright ask meets", () => {
  const destroys: Script = async ({ approval }) => ({
    text: (await approval("delete_testcase", {})) ? "Deleted." : "Left alone.",
  });

  it("is refused without --yes, and said so", async () => {
    const { code, decided, written } = ask(["x"], destroys);
    expect(await code).toBe(0);
    expect(decided).toEqual([false]);
    expect(written.out).toBe("Left alone.\n");
    expect(written.err).toContain("Refused: delete_testcase needs an approval. --yes approves everything.\n");
  });

  it("is given with --yes", async () => {
    const { code, decided, written } = ask(["--yes", "x"], destroys);
    expect(await code).toBe(0);
    expect(decided).toEqual([true]);
    expect(written.out).toBe("Deleted.\n");
  });
});

describe("labwright ask that is to end early", () => {
  const hangs: Script = async ({ signal, tell }) => {
    tell({ type: "progress", kind: "note", text: "runs" });
    await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    return undefined;
  };

  it("interrupts the run at Ctrl-C and ends with 130", async () => {
    const { code, terminal, written } = ask(["x"], hangs);
    await vi.waitFor(() => expect(written.err).toContain("runs"));
    terminal.interrupt();
    expect(await code).toBe(130);
    expect(written.err).toMatch(/Interrupting[\s\S]*Interrupted\.\n/);
  });

  it("leaves at the second Ctrl-C when the run does not end", async () => {
    let finish = () => {};
    const { code, terminal, written, state } = ask(["x"], async ({ tell }) => {
      tell({ type: "progress", kind: "note", text: "deaf" });
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      return undefined;
    });
    await vi.waitFor(() => expect(written.err).toContain("deaf"));
    terminal.interrupt();
    await vi.waitFor(() => expect(terminal.written.err).toContain("Ctrl-C again leaves at once"));
    terminal.interrupt();
    expect(await code).toBe(130);
    expect(state.closed).toBe(1);
    finish();
  });

  it("ends with 130 at Ctrl-C while it reads stdin", async () => {
    const stdin = new PassThrough();
    const terminal = { ...fakeTerminal(""), input: (isWhole?: boolean) => pipedInput(stdin, isWhole) };
    const { client, state } = fakeClient(fakeConversations().conversations);
    const code = runAgentCommand(["ask", "-"], terminal, async () => client);
    stdin.write("half of a request");
    await vi.waitFor(() => expect(stdin.readableLength).toBe(0));
    terminal.interrupt();
    expect(await code).toBe(130);
    expect(stdin.destroyed).toBe(true);
    expect(state.closed).toBe(1);
  });

  it("interrupts the run at its --timeout and ends with 1", async () => {
    const { code, written } = ask(["--timeout", "0.05", "x"], hangs);
    expect(await code).toBe(1);
    expect(written.err).toContain("Not done within 0.05 s; interrupting.\n");
  });
});

describe("wrong use", () => {
  it.each([
    [["ask"]],
    [["ask", "--timeout", "0", "x"]],
    [["ask", "--timeout", "soon", "x"]],
    [["ask", "--resume"]],
    [["ask", "--resume", "nothing", "x"]],
    [["ask", "--agent", "monitor", "x"]],
    [["ask", ""]],
    [["ask", "--jsn", "x"]],
    [["chat", "hello"]],
    [["agnet"]],
  ])("ends %j with 2 and nothing on stdout", async (args) => {
    const { client } = fakeClient(fakeConversations().conversations);
    const terminal = fakeTerminal("");
    expect(await runAgentCommand(args, terminal, async () => client)).toBe(2);
    expect(terminal.written.out).toBe("");
    expect(terminal.written.err).not.toBe("");
  });

  it("says what a server that cannot be reached needs, and ends with 2", async () => {
    const terminal = fakeTerminal("");
    const code = await runAgentCommand(["ask", "x"], terminal, async () => {
      throw new AgentError("SERVER_UNREACHABLE", "It cannot be reached.", "labwright doctor");
    });
    expect(code).toBe(2);
    expect(terminal.written.err).toBe("SERVER_UNREACHABLE: It cannot be reached.\nlabwright doctor\n");
  });

  it("shows an example in the help of each command", async () => {
    for (const name of ["chat", "ask"]) {
      const terminal = fakeTerminal("");
      const { client } = fakeClient(fakeConversations().conversations);
      expect(await runAgentCommand([name, "--help"], terminal, async () => client)).toBe(0);
      expect(terminal.written.out, name).toContain("Examples:");
    }
  });
});
