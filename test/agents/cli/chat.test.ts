import { runAgentCommand } from "@labwright/agent-client/cli";
import { describe, expect, it, vi } from "vitest";
import type { Script } from "../../fixtures/fakeConversations.ts";
import { noUsage } from "../../fixtures/fakeConversations.ts";
import { echoes, fakeClient, fakeConversations } from "./fakeClient.ts";
import { fakeTerminal } from "./fakeTerminal.ts";
import { chat, startChat } from "./startChat.ts";

/** A run that goes on until it is interrupted. */
const hangs: Script = async ({ signal, tell }) => {
  tell({ type: "tool_call", tool_use_id: "a", tool: "execute_script", input: { script: "goto" } });
  await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  return undefined;
};

describe("a chat at a terminal", () => {
  it("opens with who is there, and three prompts of which a number sends one", async () => {
    const { terminal, output, sent, code, state } = chat();
    await terminal.types("2");
    await terminal.types("/exit");
    expect(await code).toBe(0);
    expect(output()).toContain("Atlas · http://127.0.0.1:7333 · claude-test\n");
    expect(output()).toContain("  1. List the devices\n  2. Run goto\n  3. List the tests\n");
    expect(sent.map(({ text }) => text)).toEqual(["Run goto"]);
    expect(output()).toContain("You said: Run goto\n");
    expect(state.closed).toBe(1);
  });

  it("opens without prompts when the devices do not answer", async () => {
    const fake = fakeConversations();
    fake.conversations.suggestions = () => Promise.reject(new Error("late"));
    const { terminal, output, code } = startChat([], fakeTerminal(), fake);
    await terminal.types("hello");
    await terminal.endsInput();
    expect(await code).toBe(0);
    expect(output()).toContain("You said: hello\n");
  });

  it("sends a number that stands for nothing as it is", async () => {
    const { terminal, sent, code } = chat();
    await terminal.types("7");
    await terminal.types("2");
    await terminal.endsInput();
    expect(await code).toBe(0);
    expect(sent.map(({ text }) => text)).toEqual(["7", "2"]);
  });

  it("keeps one conversation, and no message that is empty", async () => {
    const { terminal, sent, sessions, code } = chat();
    await terminal.types("one");
    await terminal.types("   ");
    await terminal.types("two");
    await terminal.endsInput();
    await code;
    expect(sessions()).toHaveLength(1);
    expect(sent.map(({ text }) => text)).toEqual(["one", "two"]);
  });

  it("shows an answer once that came in pieces, and the tools as they run", async () => {
    const { terminal, output, code } = chat(async ({ tell }) => {
      tell({
        type: "skill_loaded",
        skill: "run-script",
        version: "1.0.0",
        tools: [],
        chosen_by: "trigger",
        text: "LOAD SKILL run-script",
      });
      tell({ type: "tool_call", tool_use_id: "a", tool: "list_scripts", input: { find: "go to" } });
      tell({
        type: "tool_result",
        tool_use_id: "a",
        tool: "list_scripts",
        is_error: true,
        text: "HOST_GONE: gone\nmore",
        images: 0,
        duration_ms: 34,
      });
      for (const text of ["There ", "is\n", "one."]) tell({ type: "message", text, partial: true });
      tell({ type: "message", text: "There is\none." });
      const usage = { ...noUsage, input_tokens: 70, output_tokens: 9 };
      return { text: "There is\none.", usage, cost_usd: 0.0041, saved_usd: 0.01 };
    });
    await terminal.types("which scripts");
    await terminal.endsInput();
    await code;
    expect(output()).toContain(
      [
        "LOAD SKILL run-script",
        '→ list_scripts(find="go to")',
        "← list_scripts 34 ms error: HOST_GONE: gone",
        "There is",
        "one.",
        "1 turn · 1.2 s · 70 tokens in (0 from the cache), 9 out · $0.0041, saved $0.0100 by the cache",
        "> ",
      ].join("\n"),
    );
  });

  it("gives --skill with every message, and --agent to the conversation", async () => {
    const { terminal, sent, code } = chat(echoes, ["--skill", "run-script", "--agent", "assistant"]);
    await terminal.types("one");
    await terminal.types("two");
    await terminal.endsInput();
    await code;
    expect(sent.map(({ skill }) => skill)).toEqual(["run-script", "run-script"]);
  });

  it.each([
    ["monitor", "AGENT_NOT_SELECTABLE: Nobody talks to monitor.\nIt is started by alerts.\n"],
    ["atlas", "AGENT_NOT_FOUND: There is no atlas.\nList them.\n"],
  ])("ends with 2 for the agent %s, before anything is asked", async (agent, said) => {
    const { terminal, code } = chat(echoes, ["--agent", agent]);
    expect(await code).toBe(2);
    expect(terminal.written.err).toBe(said);
  });

  it("says once that no model is set, what works without, and how to set one", async () => {
    const { terminal, output, code } = chat(echoes, [], { models: [] });
    await terminal.types("one");
    await terminal.types("two");
    await terminal.endsInput();
    await code;
    expect(output()).toContain("· no model\n");
    expect(terminal.written.err.match(/No model is set/g)).toHaveLength(1);
    expect(terminal.written.err).toMatch(/ANTHROPIC_API_KEY[\s\S]*agents\.models in labwright\.yaml/);
  });

  it("says what failed and goes on", async () => {
    const { terminal, output, code, conversations } = chat(hangs);
    await terminal.types("one");
    await vi.waitFor(() => expect(output()).toContain("→ execute_script"));
    await conversations.interrupt("10000000-conversation", "local");
    await terminal.types("/resume nothing");
    await terminal.endsInput();
    expect(await code).toBe(0);
    expect(terminal.written.err).toBe("SESSION_NOT_FOUND: There is no session nothing.\nList them.\n");
  });
});

describe("Ctrl-C", () => {
  it("interrupts what runs, and the conversation goes on", async () => {
    const { terminal, output, code } = chat(hangs);
    await terminal.types("go");
    await vi.waitFor(() => expect(output()).toContain('→ execute_script(script="goto")'));
    terminal.interrupt();
    await terminal.types("/exit");
    expect(await code).toBe(0);
    expect(terminal.written.err).toBe("\nInterrupting; Ctrl-C again leaves at once.\n");
    expect(output()).toContain("Interrupted.\n");
  });

  it("leaves with 130 at an empty prompt", async () => {
    const { terminal, code, state } = chat();
    await vi.waitFor(() => expect(terminal.asked()).toBe("> "));
    terminal.interrupt();
    expect(await code).toBe(130);
    expect(state.closed).toBe(1);
  });

  it("leaves with 130 while the devices are asked what they can run", async () => {
    const fake = fakeConversations();
    fake.conversations.suggestions = () => new Promise(() => {});
    const { terminal, output, code } = startChat([], fakeTerminal(), fake);
    await vi.waitFor(() => expect(output()).toContain("Atlas"));
    terminal.interrupt();
    expect(await code).toBe(130);
  });

  it("leaves with 130 at once when a run does not let itself be interrupted", async () => {
    let finish = () => {};
    const { terminal, code, output, state } = chat(async ({ tell }) => {
      tell({ type: "progress", kind: "note", text: "deaf" });
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      return undefined;
    });
    await terminal.types("go");
    await vi.waitFor(() => expect(output()).toContain("deaf"));
    terminal.interrupt();
    await vi.waitFor(() => expect(terminal.written.err).toContain("Ctrl-C again leaves at once"));
    terminal.interrupt();
    expect(await code).toBe(130);
    expect(state.closed).toBe(1);
    finish();
  });

  it("leaves with 130 while the client is still opening, and closes it when it opens after all", async () => {
    const terminal = fakeTerminal();
    const { client, state } = fakeClient(fakeConversations().conversations);
    let opened = () => {};
    const seen: AbortSignal[] = [];
    const code = runAgentCommand(["chat"], terminal, async ({ signal }) => {
      seen.push(signal);
      await new Promise<void>((resolve) => {
        opened = resolve;
      });
      return client;
    });
    await vi.waitFor(() => expect(seen).toHaveLength(1));
    terminal.interrupt();
    expect(await code).toBe(130);
    expect(seen[0]?.aborted).toBe(true);
    opened();
    await vi.waitFor(() => expect(state.closed).toBe(1));
  });
});

describe("an approval", () => {
  const destroys: Script = async ({ approval, tell }) => {
    const approved = await approval("delete_testcase", { name: "sign in", confirm: true });
    tell({ type: "message", text: approved ? "Deleted." : "Left alone." });
    return undefined;
  };

  it.each([
    ["y", true, "Deleted."],
    ["Yes", true, "Deleted."],
    ["n", false, "Left alone."],
    ["", false, "Left alone."],
    ["yesterday", false, "Left alone."],
  ])("is asked with all that would be done; %j", async (typed, approved, said) => {
    const { terminal, output, decided, code } = chat(destroys);
    await terminal.types("delete it");
    await vi.waitFor(() => expect(terminal.asked()).toBe("Do it? y/N "));
    expect(output()).toContain('Approval needed: delete_testcase(name="sign in", confirm=true)\n');
    expect(output()).toMatch(/ {2}why: It cannot be undone\.\n {2}answer until \d\d:05:00\n/);
    await terminal.types(typed);
    await terminal.types("/exit");
    await code;
    expect(decided).toEqual([approved]);
    expect(output()).toContain(said);
  });

  it("is not a question any more when its time is over", async () => {
    let expire = () => {};
    const { terminal, output, decided, code } = chat(async (run) => {
      expire = run.expire;
      return destroys(run);
    });
    await terminal.types("delete it");
    await vi.waitFor(() => expect(terminal.asked()).toBe("Do it? y/N "));
    expire();
    await vi.waitFor(() => expect(terminal.asked()).toBe("> "));
    await terminal.endsInput();
    expect(await code).toBe(0);
    expect(decided).toEqual([]);
    expect(output()).toContain("delete_testcase: expired\nLeft alone.\n");
  });

  it("is asked for after another one, when a run waits for two at once", async () => {
    const { terminal, output, decided, code } = chat(async ({ approval, tell }) => {
      const approved = await Promise.all([approval("take_screenshot", {}), approval("dump_screen", {})]);
      tell({ type: "message", text: `Approved: ${approved.join()}` });
      return undefined;
    });
    await terminal.types("look at both");
    await terminal.types("y");
    await terminal.types("n");
    await terminal.types("/exit");
    expect(await code).toBe(0);
    expect(decided).toEqual([true, false]);
    expect(output()).toMatch(/: take_screenshot\([^?]*\? y\/N y\n[^?]*: dump_screen\([^?]*\? y\/N /);
    expect(output()).toContain("Approved: true,false\n");
  });

  it("is refused at the end of the input", async () => {
    const { terminal, decided, code } = chat(destroys);
    await terminal.types("delete it");
    await vi.waitFor(() => expect(terminal.asked()).toBe("Do it? y/N "));
    await terminal.endsInput();
    await terminal.endsInput();
    await code;
    expect(decided).toEqual([false]);
  });

  it("ends with the run that Ctrl-C interrupts", async () => {
    const { terminal, output, decided, code } = chat(destroys);
    await terminal.types("delete it");
    await vi.waitFor(() => expect(terminal.asked()).toBe("Do it? y/N "));
    terminal.interrupt();
    await vi.waitFor(() => expect(terminal.asked()).toBe("> "));
    await terminal.endsInput();
    await code;
    expect(decided).toEqual([]);
    expect(output()).toContain("Interrupted.");
  });
});

it("shows a question of the agent's with numbered options, and sends the number for the agent to read", async () => {
  const { terminal, output, sent, code } = chat(async ({ text, tell }) => {
    if (text !== "check it") return undefined;
    tell({ type: "handoff", question: "Which device?", options: ["browser", "phone"] });
    return { outcome: "needs_input" };
  });
  await terminal.types("check it");
  await terminal.types("2");
  await terminal.endsInput();
  await code;
  expect(output()).toContain("Which device?\n  1. browser\n  2. phone\n");
  expect(sent.map(({ text }) => text)).toEqual(["check it", "2"]);
});

describe("a pipe", () => {
  const piped = (text: string, behave: Script = echoes) =>
    startChat([], fakeTerminal(text), fakeConversations(behave));

  it("is a message a line, and stdout is the answers alone", async () => {
    const { terminal, code, sent } = piped("one\n\ntwo\r\nthree");
    expect(await code).toBe(0);
    expect(sent.map(({ text }) => text)).toEqual(["one", "two", "three"]);
    expect(terminal.written.out).toBe("You said: one\nYou said: two\nYou said: three\n");
    expect(terminal.written.err).toContain("1 turn · 1.2 s\n");
  });

  it("takes slash commands, and ends with the worst of its runs", async () => {
    const { code, sent } = piped("bad\ngood\n/exit\nnever\n", async ({ text }) => ({
      outcome: text === "bad" ? "limit" : "done",
    }));
    expect(await code).toBe(1);
    expect(sent.map(({ text }) => text)).toEqual(["bad", "good"]);
  });

  it("cannot approve, and says so", async () => {
    const { terminal, code, decided } = piped("delete it\ny\n", async ({ text, approval }) => {
      if (text === "delete it") await approval("delete_testcase", {});
      return undefined;
    });
    expect(await code).toBe(0);
    expect(decided).toEqual([false]);
    expect(terminal.written.err).toContain(
      "Refused: delete_testcase needs an approval, and a pipe cannot give one.\n",
    );
  });
});
