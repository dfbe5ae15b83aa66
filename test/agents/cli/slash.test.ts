import { loadAgents } from "@labwright/agent-client";
import { describe, expect, it, vi } from "vitest";
import { echoes, fakeConversations } from "./fakeClient.ts";
import { fakeTerminal } from "./fakeTerminal.ts";
import { chat, startChat } from "./startChat.ts";

describe("slash commands", () => {
  const skill = {
    name: "run-script",
    version: "1.0.0",
    description: "Runs a script. And more.",
    triggers: ["run a script"],
    system_prompt: "Run it.",
    tools: ["a", "b"],
    platform: null,
    requires_device: false,
    timeout_seconds: 60,
  };

  it("name the skills with the loaded one, the agents, and the cost", async () => {
    const { terminal, output, sessions, code } = chat(echoes, [], {
      skills: async () => [skill, { ...skill, name: "our-lab", own: true }],
    });
    await terminal.types("/cost");
    await terminal.types("hello");
    await vi.waitFor(() => expect(output()).toContain("1 turn"));
    for (const session of sessions()) {
      session.skill = "run-script";
      session.usage = {
        input_tokens: 100,
        output_tokens: 1_250,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 900,
      };
    }
    for (const command of ["/skills", "/agents", "/cost"]) await terminal.types(command);
    await terminal.endsInput();
    await code;
    expect(output()).toContain("Nothing was asked yet.\n");
    expect(output()).toContain("run-script (loaded): Runs a script.\nour-lab (yours): Runs a script.\n");
    expect(output()).toMatch(/Guardian \(monitor, off\): .* Started by alert\.blackscreen, /);
    expect(output()).toContain("1 turn · 1,000 tokens in (900 from the cache), 1,250 out · $0.0000\n");
  });

  it("name the nearest for an unknown one, and send nothing", async () => {
    const { terminal, output, sent, code } = chat();
    await terminal.types("/skils");
    await terminal.types("/constructor");
    await terminal.endsInput();
    await code;
    expect(output()).toContain("There is no /skils. Did you mean /skills? /help lists the commands.\n");
    expect(output()).toContain("There is no /constructor.");
    expect(sent).toEqual([]);
  });

  it("are not what only looks like one", async () => {
    const { terminal, sent, code } = chat();
    await terminal.types("/tmp/log says what?");
    await terminal.endsInput();
    await code;
    expect(sent.map(({ text }) => text)).toEqual(["/tmp/log says what?"]);
  });

  it("list what /help lists, and leave", async () => {
    const { terminal, output, code } = chat();
    await terminal.types("/help");
    await terminal.types("/EXIT");
    expect(await code).toBe(0);
    for (const name of ["/skills", "/agents", "/cost", "/resume", "/help", "/exit"])
      expect(output()).toContain(`\n${name} `);
  });

  it("go on with another conversation by the begin of its id, and show what was said last", async () => {
    const fake = fakeConversations();
    await fake.conversations.create({ owner: "local" });
    await fake.conversations.send("10000000-conversation", "local", { text: "the first" });
    await fake.conversations.ended("10000000-conversation", "local");
    const { terminal, output, sent, code } = startChat([], fakeTerminal(), fake);
    await terminal.types("the second");
    await terminal.types("/resume");
    await terminal.types("/resume 1");
    await terminal.types("more");
    await terminal.endsInput();
    await code;
    expect(output()).toMatch(
      /^20000000 {2}2026-11-2\d \d\d:02:00 {2}1 turn {2}the second\n10000000 {2}2026-11-2\d \d\d:01:00 {2}1 turn {2}the first$/m,
    );
    expect(output()).toContain("Resumed 10000000-conversation: the first (1 turn).\nYou said: the first\n");
    expect(sent.map(({ id }) => id[0])).toEqual(["1", "2", "1"]);
  });

  it("refuse an id that is the begin of several", async () => {
    const fake = fakeConversations();
    for (let count = 0; count < 11; count++) await fake.conversations.create({ owner: "local" });
    const { terminal, code } = startChat(["--resume", "1"], fakeTerminal(), fake);
    expect(await code).toBe(2);
    expect(terminal.written.err).toMatch(/^INVALID_INPUT: Several conversations start with 1\./);
  });
});

describe("--resume", () => {
  it("goes on with the newest conversation when no id is given", async () => {
    const fake = fakeConversations();
    await fake.conversations.create({ owner: "local" });
    await fake.conversations.create({ owner: "local" });
    const { terminal, sent, code } = startChat(["--resume"], fakeTerminal(), fake);
    await terminal.types("more");
    await terminal.endsInput();
    await code;
    expect(sent).toEqual([{ id: "20000000-conversation", text: "more", skill: undefined }]);
  });

  it("opens with the agent of the conversation", async () => {
    const fake = fakeConversations();
    const { id } = await fake.conversations.create({ owner: "local" });
    for (const session of fake.sessions()) session.agent = "own";
    const [atlas] = loadAgents().agents.filter((agent) => agent.default);
    if (!atlas) throw new Error("There is no default agent");
    const agents = [atlas, { ...atlas, name: "own", nickname: "Mine", default: false }];
    const { terminal, output, code } = startChat(["--resume", id], fakeTerminal(), fake, { agents });
    await terminal.endsInput();
    await code;
    expect(output()).toContain("Mine · http://127.0.0.1:7333");
  });

  it("ends with 2 when there is none", async () => {
    const { terminal, code } = chat(echoes, ["--resume"]);
    expect(await code).toBe(2);
    expect(terminal.written.err).toBe(
      "SESSION_NOT_FOUND: There is no conversation yet.\nStart one by writing.\n",
    );
  });
});
