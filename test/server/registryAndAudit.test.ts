import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { z } from "zod";
import { runCommand } from "#mcp-server/cli/main.ts";
import { aliases, seedDomainNames } from "#mcp-server/registry/seedNames.ts";
import { type DaemonFile, daemonHeaders, daemonUrl } from "#mcp-server/server/daemonFile.ts";
import { tools } from "#mcp-server/tools/index.ts";
import { type Bench, productBench } from "../fixtures/daemon.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 });

let bench: Bench;
let daemon: DaemonFile;
beforeAll(async () => {
  bench = productBench();
  writeFileSync(join(bench.dataDir, "labwright.yaml"), "devices: [{ name: box, model: simulated }]\n");
  await bench.startDaemon([], { ANTHROPIC_API_KEY: "" });
  const file = bench.daemon();
  if (!file) throw new Error("no daemon");
  daemon = file;
});
afterAll(() => bench.end());

async function labwright(...args: string[]) {
  let [out, err] = ["", ""];
  const code = await runCommand([...args, "--data-dir", bench.dataDir], {
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    env: { PATH: process.env.PATH },
    cwd: bench.dataDir,
    signal: new AbortController().signal,
  });
  return { code, out, err };
}
const get = (path: string, client = "auditor/1") =>
  fetch(daemonUrl(daemon, path), { headers: daemonHeaders(daemon, client) });
async function call(name: string, args: object, client = "auditor/1") {
  const headers = { ...daemonHeaders(daemon, client), "content-type": "application/json" };
  const url = daemonUrl(daemon, `/api/v1/tools/${name}`);
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(args) });
  return response.json();
}
const callsSchema = z.object({ calls: z.array(z.record(z.string(), z.unknown())) });

it("every call that may change something is read back by tool, client and time, and nothing secret", async () => {
  const before = new Date().toISOString();
  await call("workspace_files", { operation: "write", path: "a.txt", content: "hunter2" });
  await call("workspace_files", { operation: "delete", path: "a.txt" }, "other/1");
  await call("list_hosts", {});
  const all = callsSchema.parse(await (await get(`/api/v1/audit?since=${before}`)).json()).calls;
  expect(all).toEqual([
    expect.objectContaining({ tool: "workspace_files", client: "other/1", outcome: "CONFIRMATION_REQUIRED" }),
    expect.objectContaining({ tool: "workspace_files", client: "auditor/1", outcome: "ok" }),
  ]);
  expect(JSON.stringify(all)).not.toMatch(/hunter2|a\.txt/);
  expect(JSON.stringify(all)).not.toContain(daemon.token);
  const some = callsSchema.parse(await (await get("/api/v1/audit?client=other/&limit=1")).json()).calls;
  expect(some).toHaveLength(1);

  const { code, out } = await labwright("audit", "--since", before, "--client", "auditor", "--json");
  expect(code).toBe(0);
  expect(JSON.parse(out)).toEqual([expect.objectContaining({ tool: "workspace_files", outcome: "ok" })]);
  expect((await labwright("audit", "--since", before)).out).toMatch(
    /other\/1 +workspace_files +.*CONFIRMATION_REQUIRED/,
  );
  expect((await labwright("audit", "--tool", "no_such_tool")).out).toContain("No such calls");
  expect(await labwright("audit", "--since", "yesterday")).toMatchObject({
    code: 2,
    err: expect.stringContaining("2026-11-27"),
  });
});

it("the audit and the tools are behind the token", async () => {
  for (const path of ["/api/v1/audit", "/api/v1/tools", "/api/v1/health"])
    expect((await fetch(daemonUrl(daemon, path))).status, path).toBe(401);
});

it("health names model, tools and database", async () => {
  const reply = await (await get("/api/v1/health")).json();
  expect(reply).toMatchObject({
    status: "healthy",
    services: { llm: "not_configured", tool_registry: "ready", database: "ok" },
  });
  writeFileSync(join(bench.dataDir, "anthropic-key"), "sk-test");
  expect(await (await get("/api/v1/health")).json()).toMatchObject({ services: { llm: "configured" } });
});

it("each domain of the seed has tools, and each alias is one of ours, as a tool and as a resource", async () => {
  const toolSchema = z.object({
    name: z.string(),
    aliases: z.array(z.string()).optional(),
    timeout: z.int().min(1).max(300_000),
    max_retries: z.int(),
  });
  const toolsOf = async (query: string) =>
    z.object({ tools: z.array(toolSchema) }).parse(await (await get(`/api/v1/tools?${query}`)).json()).tools;
  for (const domain of seedDomainNames) expect(await toolsOf(`domain=${domain}`), domain).not.toEqual([]);
  const all = await toolsOf("");
  expect(all).toHaveLength(tools.length);
  const { client } = await bench.host("planner");
  for (const [alias, name] of Object.entries(aliases)) {
    expect(all.find((tool) => tool.aliases?.includes(alias))?.name).toBe(name);
    expect(await call(alias, {})).toMatchObject({
      error: { code: "TOOL_NOT_FOUND", details: { requested_tool: alias, available_tools: [name] } },
    });
    const { contents } = await client.readResource({ uri: `tool://${alias}` });
    expect(JSON.stringify(contents)).toContain(`\\"name\\": \\"${name}\\"`);
  }
});

it("code is written by a prompt, which says what to answer and how it is checked", async () => {
  const { client } = await bench.host("writer");
  const given = { requirement: 'add "two" numbers', language: "python" };
  const { messages } = await client.getPrompt({ name: "generate_code", arguments: given });
  const text = JSON.stringify(messages);
  for (const part of ["python", "two", "workspace_files", "run_tests", "lines_of_code"])
    expect(text).toContain(part);
});

it("a tool that is not there is answered with a few that are", async () => {
  const reply = z
    .object({
      error: z.object({
        http_status: z.literal(400),
        details: z.object({ requested_tool: z.string(), available_tools: z.array(z.string()).max(5) }),
      }),
    })
    .parse(await call("excute_cod", {}));
  expect(reply.error.details.available_tools).toContain("execute_code");
});
