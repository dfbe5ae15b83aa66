import { SkillsClient } from "@modelcontextprotocol/client/ext/skills";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { buildCatalogue } from "#mcp-server/registry/catalogue.ts";
import { cutCatalogue, namesIn, type SubsetAsked } from "#mcp-server/registry/subset.ts";
import { type AnyTool, defineTool } from "#mcp-server/registry/tool.ts";
import { testBuild } from "../fixtures/client.ts";
import { bearer, connectHttp, type HttpFixture, startHttp } from "../fixtures/http.ts";
import { wireServices } from "../fixtures/wire.ts";

const tool = (name: string, effect: AnyTool["effect"] = "read") =>
  defineTool({
    name,
    title: name,
    description: `${name} does it.`,
    domain: "devices",
    capabilities: ["DEVICE_STATUS"],
    effect,
    timeoutMs: 1_000,
    input: z.strictObject({}),
    output: z.object({ did: z.string() }),
    handle: async () => ({ did: name }),
  });
const tools = [tool("see_all"), tool("act_once", "write"), tool("see_one"), tool("burn_down", "destructive")];
const skill = (name: string, names: string[], prompt = `You are ${name}.`) => {
  const description = `${name} is for tests.`;
  const markdown = `---\nname: ${name}\ndescription: ${description}\n---\n\n${prompt}\n`;
  return { name, version: "1.0.0", description, system_prompt: prompt, tools: names, markdown };
};
const skills = [skill("watch", ["see_all", "see_one"]), skill("drive", ["see_one", "act_once"])];
const catalogue = buildCatalogue({ tools, skills, version: "1.2.3", build: testBuild });
const asked = (given: Partial<SubsetAsked>): SubsetAsked => ({
  skills: [],
  tools: [],
  exclude: [],
  readOnly: false,
  ...given,
});
const cut = (given: Partial<SubsetAsked>) => cutCatalogue(catalogue, asked(given));
const namesOf = (given: Partial<SubsetAsked>) => cut(given).catalogue.tools.map(({ name }) => name);

describe("a subset", () => {
  it("is everything, in a fixed order, when nothing is asked", () => {
    expect(namesOf({})).toEqual(["act_once", "burn_down", "see_all", "see_one"]);
    expect(cut({}).refusal("act_once")).toBeUndefined();
  });

  it("is the tools of its skills and those named, in the catalogue's order, each once", () => {
    expect(namesOf({ skills: ["watch"] })).toEqual(["see_all", "see_one"]);
    expect(namesOf({ skills: ["watch", "drive"] })).toEqual(["act_once", "see_all", "see_one"]);
    expect(namesOf({ skills: ["watch"], tools: ["burn_down", "see_all"] })).toEqual([
      "burn_down",
      "see_all",
      "see_one",
    ]);
  });

  it("that starts runs has the tool that waits for their ends", () => {
    const start: AnyTool = { ...tool("start_run", "write"), input: z.strictObject({ wait_ms: z.int() }) };
    const all = [...tools, start, tool("get_execution_status")];
    const running = [...skills, skill("run", ["see_one", "start_run"])];
    const whole = buildCatalogue({ tools: all, skills: running, version: "1.2.3", build: testBuild });
    const cutTo = (given: Partial<SubsetAsked>) =>
      cutCatalogue(whole, asked(given)).catalogue.tools.map((one) => one.name);
    expect(cutTo({ skills: ["run"] })).toEqual(["get_execution_status", "see_one", "start_run"]);
    expect(cutTo({ tools: ["start_run"] })).toEqual(["get_execution_status", "start_run"]);
    expect(cutTo({ tools: ["start_run"], exclude: ["get_execution_status"] })).toEqual(["start_run"]);
    expect(cutTo({ skills: ["watch"] })).toEqual(["see_all", "see_one"]);
  });

  it("leaves out what is excluded, and all that changes something when it is read-only", () => {
    expect(namesOf({ exclude: ["see_all", "burn_down"] })).toEqual(["act_once", "see_one"]);
    expect(namesOf({ readOnly: true })).toEqual(["see_all", "see_one"]);
    expect(namesOf({ skills: ["drive"], readOnly: true })).toEqual(["see_one"]);
  });

  it("names what it does not know, and what there is", () => {
    expect(() => cut({ skills: ["watch", "fly"] })).toThrow(
      "No skill is called fly. The skills are drive, watch.",
    );
    expect(() => cut({ tools: ["see_al"] })).toThrow("No tool is called see_al.");
    expect(() => cut({ exclude: ["nothing"] })).toThrow("No tool is called nothing.");
    expect(() => cut({ tools: ["act_once"], readOnly: true })).toThrow("No tool is left.");
  });

  it("says of a tool outside which skill has it, and leaves unknown names to the server", () => {
    const { refusal } = cut({ skills: ["watch"] });
    expect(refusal("see_one")).toBeUndefined();
    expect(refusal("no_such_tool")).toBeUndefined();
    expect(refusal("act_once")?.hint).toContain("It is in the skill drive;");
    expect(refusal("burn_down")?.hint).toContain("It is in no skill;");
    expect(cut({ readOnly: true }).refusal("act_once")?.message).toContain("read-only");
  });

  it("gives the model the prompts of its skills, unless tools were named as well or they are too long", () => {
    const instructionsOf = (given: Partial<SubsetAsked>) => cut(given).catalogue.instructions;
    expect(instructionsOf({ skills: ["watch"] })).toMatch(/^You are watch\.\n\nErrors carry/);
    expect(instructionsOf({ skills: ["watch"], tools: ["act_once"] })).toBe(catalogue.instructions);
    expect(instructionsOf({ readOnly: true })).toBe(catalogue.instructions);
    const long = skill("long", ["see_all"], "x".repeat(2_000));
    const withLong = buildCatalogue({ tools, skills: [long], version: "1", build: testBuild });
    expect(cutCatalogue(withLong, asked({ skills: ["long"] })).catalogue.instructions).toBe(
      withLong.instructions,
    );
  });

  it("reads names from lists and repeats", () => {
    expect(namesIn(["a, b", "b", "", " c "])).toEqual(["a", "b", "c"]);
  });

  it("is on each tool: the skills that have it", () => {
    const homes = catalogue.tools.map(({ name, _meta }) => [name, _meta["dev.labwright/skills"]]);
    expect(homes).toEqual([
      ["act_once", ["drive"]],
      ["burn_down", []],
      ["see_all", ["watch"]],
      ["see_one", ["drive", "watch"]],
    ]);
  });
});

describe.each(["legacy", { pin: "2026-07-28" }] as const)("over HTTP, %o,", (mode) => {
  let http: HttpFixture;
  beforeAll(async () => {
    http = await startHttp(wireServices(), tools, { skills });
  });
  afterAll(() => http.end());

  async function at<T>(
    path: string,
    use: (client: Awaited<ReturnType<typeof connectHttp>>["client"]) => Promise<T>,
  ) {
    const { client } = await connectHttp(http.url(path), mode);
    try {
      return await use(client);
    } finally {
      await client.close();
    }
  }
  const listAt = (path: string) =>
    at(path, async (client) => (await client.listTools()).tools.map(({ name }) => name));

  it.each([
    ["/mcp", ["act_once", "burn_down", "see_all", "see_one"]],
    ["/mcp?skill=watch", ["see_all", "see_one"]],
    ["/mcp?skill=watch,drive", ["act_once", "see_all", "see_one"]],
    ["/mcp?skill=watch&skill=drive", ["act_once", "see_all", "see_one"]],
    ["/mcp/skills/watch", ["see_all", "see_one"]],
    ["/mcp/skills/watch?tools=burn_down", ["burn_down", "see_all", "see_one"]],
    ["/mcp?tools=see_one", ["see_one"]],
    ["/mcp?exclude_tools=burn_down", ["act_once", "see_all", "see_one"]],
    ["/mcp?read_only=true", ["see_all", "see_one"]],
    ["/mcp?read_only", ["see_all", "see_one"]],
    ["/mcp?read_only=on", ["see_all", "see_one"]],
    ["/mcp?read_only=false", ["act_once", "burn_down", "see_all", "see_one"]],
  ])("%s serves exactly what it asks for", async (path, names) => {
    expect(await listAt(path)).toEqual(names);
  });

  it("two connections at one address see the same, whatever others asked and called before", async () => {
    const first = await listAt("/mcp?skill=watch");
    await at("/mcp?skill=drive", (client) => client.callTool({ name: "act_once", arguments: {} }));
    await listAt("/mcp");
    expect(await listAt("/mcp?skill=watch")).toEqual(first);
  });

  it("a call beyond the subset reaches no tool and says which skill has it", async () => {
    const reply = await at("/mcp?skill=watch", (client) =>
      client.callTool({ name: "act_once", arguments: {} }),
    );
    expect(reply.isError).toBe(true);
    expect(JSON.stringify(reply.content)).toContain("It is in the skill drive");
    const inside = await at("/mcp?skill=drive", (client) =>
      client.callTool({ name: "act_once", arguments: {} }),
    );
    expect(inside.structuredContent).toEqual({ did: "act_once" });
  });

  it("a session is known only at the address where it was opened", async () => {
    if (mode !== "legacy") return;
    const { client, transport } = await connectHttp(http.url("/mcp"), mode);
    const elsewhere = await fetch(http.url("/mcp?skill=watch"), {
      method: "POST",
      headers: {
        ...bearer,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-session-id": transport.sessionId ?? "",
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 9, method: "tools/list", params: {} }),
    });
    expect(elsewhere.status).toBe(404);
    await client.close();
  });

  it("tools and skills are resources, by templates that complete their names", async () => {
    const seen = await at("/mcp?skill=watch", async (client) => {
      const { resourceTemplates } = await client.listResourceTemplates();
      const read = async (uri: string) => {
        const [content] = (await client.readResource({ uri })).contents;
        return JSON.parse(content && "text" in content ? content.text : "");
      };
      const { completion } = await client.complete({
        ref: { type: "ref/resource", uri: "tool://{name}" },
        argument: { name: "name", value: "see_o" },
      });
      await expect(client.readResource({ uri: "skill://fly" })).rejects.toThrow();
      return {
        templates: resourceTemplates.map(({ uriTemplate }) => uriTemplate),
        tool: await read("tool://see_one"),
        skill: await read("skill://drive"),
        completed: completion.values,
      };
    });
    expect(seen.templates).toEqual(
      expect.arrayContaining(["artifact://{sha256}", "tool://{name}", "skill://{name}"]),
    );
    expect(seen.tool).toMatchObject({ name: "see_one", description: "see_one does it." });
    expect(seen.skill).toEqual({
      name: "drive",
      version: "1.0.0",
      description: "drive is for tests.",
      system_prompt: "You are drive.",
      tools: ["see_one", "act_once"],
    });
    expect(seen.completed).toEqual(["see_one"]);
  });

  it("skills are served by the skills extension, with digests that their files have", async () => {
    const seen = await at("/mcp", async (client) => {
      const extension = new SkillsClient(client);
      const listed = await extension.list();
      const [first] = listed.skills;
      const read = first && (await extension.read(first));
      return { uris: listed.skills.map(({ uri }) => uri), read };
    });
    expect(seen.uris).toEqual(["skill://drive/SKILL.md", "skill://watch/SKILL.md"]);
    expect(seen.read).toMatchObject({ verified: true });
  });

  it.each([
    "readonly=true",
    "read-only",
    "skil=watch",
  ])("%s is refused: a typo must not offer more tools", async (query) => {
    const response = await fetch(http.url(`/mcp?${query}`), { method: "POST", headers: bearer, body: "{}" });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("read_only");
  });

  it("a skill that the user changes or removes counts from the next connection on", async () => {
    const own = (prompt: string) => ({ ...skill("own", ["see_one"], prompt), markdown: "" });
    let userSkills = [own("Look once.")];
    const server = await startHttp(wireServices(), tools, { skills, userSkills: () => userSkills });
    const instructions = async () => {
      const { client } = await connectHttp(server.url("/mcp?skill=own"), mode);
      const given = client.getInstructions();
      await client.close();
      return given;
    };
    expect(await instructions()).toContain("Look once.");
    userSkills = [own("Look twice.")];
    expect(await instructions()).toContain("Look twice.");
    userSkills = [];
    await expect(instructions()).rejects.toThrow();
    await server.end();
  });

  it("an unknown skill is refused with the names of those that are there", async () => {
    const response = await fetch(http.url("/mcp?skill=wach"), {
      method: "POST",
      headers: bearer,
      body: "{}",
    });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("The skills are drive, watch.");
  });
});
