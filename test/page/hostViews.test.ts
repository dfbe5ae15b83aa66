import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import type { Catalogue } from "#mcp-server/registry/catalogue.ts";
import { daemonHeaders, daemonUrl } from "#mcp-server/server/daemonFile.ts";
import { productCommand, within } from "../fixtures/daemon.ts";
import { type DaemonProcess, startDaemonProcess } from "../fixtures/daemonProcess.ts";
import { serve } from "../fixtures/loopback.ts";
import { boxYaml } from "../services/apps/navigation/lab.ts";
import { bundleHostPage, type CallTool, showInHost } from "./hostPage.ts";
import { startBrowser } from "./pages.ts";

const folder = mkdtempSync(join(tmpdir(), "labwright-views-"));
const dataDir = join(folder, "data");
const catalogueFile = fileURLToPath(new URL("../../mcp-server/dist/catalogue.json", import.meta.url));
const markup = '<img src=x onerror="document.body.remove()">';
const escaped = markup.replaceAll("<", "&lt;");
const shown = { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } };

let site: Awaited<ReturnType<typeof serve>>;
let host: Awaited<ReturnType<typeof serve>>;
let daemon: DaemonProcess;
let browser: Browser;
const runs: Record<string, string> = {};
beforeAll(async () => {
  const page = await bundleHostPage();
  host = await serve((_, response) => response.setHeader("content-type", "text/html").end(page));
  site = await serve((_, response) => {
    response.setHeader("content-type", "text/html").end(`<title>App</title><h1>${escaped}</h1>`);
  });
  const config = `server: { name: lab }\ndevices:\n  - { name: browser, model: web }\n`;
  [browser, daemon] = await Promise.all([startBrowser(), startDaemonProcess({ dataDir, config })]);
  for (const text of ["onerror=", `no ${markup}`]) {
    const steps = [{ navigate_to_url: { url: site.url } }, { text_visible: { text } }];
    const name = text === "onerror=" ? "shows" : `lacks ${markup}`;
    const saved = await daemon.call("save_testcase", { testcase: { name, fresh: false, steps } });
    expect(saved.error).toBeUndefined();
    const { result } = await daemon.call("execute_testcase", { testcase: name, wait_ms: 60_000 });
    runs[name] = z.object({ execution_id: z.string() }).parse(result).execution_id;
  }
  expect(await daemon.call("import_userinterface", { yaml: boxYaml("box <b>app</b>") })).toMatchObject({
    success: true,
  });
});
afterAll(async () => {
  await browser.close();
  daemon.signal("SIGTERM");
  await daemon.ended;
  await Promise.all([site.close(), host.close()]);
  rmSync(folder, { recursive: true, force: true });
});

const eras = { "2025-11-25": "legacy", "2026-07-28": { pin: "2026-07-28" } } as const;
const wires = ["HTTP", "the bridge"].flatMap((wire) =>
  Object.entries(eras).map(([era, mode]) => ({ wire, era, mode })),
);

async function connect(
  { wire, mode }: Pick<(typeof wires)[number], "wire" | "mode">,
  extensions = {},
): Promise<Client> {
  const capabilities = { extensions };
  const client = new Client(
    { name: "views-test", version: "1" },
    { versionNegotiation: { mode }, capabilities },
  );
  await client.connect(
    wire === "HTTP"
      ? new StreamableHTTPClientTransport(daemonUrl(daemon.file(), "/mcp"), {
          requestInit: { headers: daemonHeaders(daemon.file(), "views-test") },
        })
      : new StdioClientTransport({
          command: process.execPath,
          args: [...productCommand, "--data-dir", dataDir],
          stderr: "inherit",
        }),
  );
  return client;
}

describe.each(wires)("over $wire, $era", (wire) => {
  it("only a host that shows views hears of them; all have the latest reports, newest first", async () => {
    const { tools, views }: Catalogue = JSON.parse(readFileSync(catalogueFile, "utf8"));
    const [plain, showing] = [await connect(wire), await connect(wire, shown)];
    const unchanged = (await plain.listTools()).tools;
    expect(unchanged).toEqual(tools);
    expect(JSON.stringify(unchanged)).toHaveLength(JSON.stringify(tools).length);
    const listed = (await showing.listTools()).tools;
    const iconSchema = z.tuple([z.object({ src: z.url().max(199), mimeType: z.literal("image/svg+xml") })]);
    const icons = listed.map(({ icons, _meta }) => {
      const [{ src }] = iconSchema.parse(icons);
      return `${_meta?.["dev.labwright/domain"]} ${src}`;
    });
    // One for each domain, and no two alike.
    expect(new Set(icons).size).toBe(new Set(icons.map((icon) => icon.split(" ")[0])).size);
    expect(new Set(icons).size).toBe(new Set(icons.map((icon) => icon.split(" ")[1])).size);
    const addresses = listed.flatMap(({ name, _meta }) => {
      const { data } = z.object({ ui: z.object({ resourceUri: z.string() }) }).safeParse(_meta);
      return data ? [[name, data.ui.resourceUri]] : [];
    });
    expect(addresses).toEqual(
      Object.entries(views)
        .map(([name, view]) => [name, `ui://labwright/${view}`])
        .sort(),
    );
    expect(new Set(Object.values(views))).toEqual(new Set(["report", "device", "tree"]));
    const [resources, templates] = [await plain.listResources(), await plain.listResourceTemplates()];
    expect(JSON.stringify([resources, templates])).not.toContain("ui://");
    const reports = resources.resources.filter(({ uri }) => uri.startsWith("report://"));
    expect(reports.map(({ uri, name }) => [uri, name])).toEqual([
      [`report://${runs[`lacks ${markup}`]}`, `lacks ${markup}: failed`],
      [`report://${runs.shows}`, "shows: passed"],
    ]);
    expect((await plain.readResource({ uri: reports[0]?.uri ?? "" })).contents).toMatchObject([
      { mimeType: "text/plain", text: expect.stringContaining("status: failed") },
    ]);

    const report = {
      name: "get_execution_report",
      arguments: { execution_id: runs.shows ?? "", format: "ctrf" },
    };
    const [unseen, seen] = [await plain.callTool(report), await showing.callTool(report)];
    expect(unseen._meta).not.toHaveProperty(["dev.labwright/view"]);
    expect(seen._meta).toMatchObject({
      "dev.labwright/view": { runs: [{ id: runs.shows, status: "passed" }] },
    });
    expect(JSON.stringify(seen.content)).not.toContain("data:");
    const { contents } = await showing.readResource({ uri: "ui://labwright/tree" });
    expect(contents).toMatchObject([
      { mimeType: "text/html;profile=mcp-app", text: expect.stringContaining("<script") },
    ]);
    await expect(showing.readResource({ uri: "ui://labwright/other" })).rejects.toThrow();
    await Promise.all([plain.close(), showing.close()]);
  });
});

const read = (element: object, name: string): unknown => Reflect.get(element, name);
const inView = (page: Page, expression: string) => page.frames().at(-1)?.evaluate(expression);
const ground = "getComputedStyle(document.body).backgroundColor";
const widthOver = "document.documentElement.scrollWidth - document.documentElement.clientWidth";

describe.each(["light", "dark"] as const)("in a host's page, %s", (theme) => {
  let client: Client;
  const called: string[] = [];
  beforeAll(async () => {
    client = await connect({ wire: "HTTP", mode: eras["2026-07-28"] }, shown);
  });
  afterAll(() => client.close());
  const callTool: CallTool = (name, args) => {
    called.push(name);
    return client.callTool({ name, arguments: args });
  };

  async function open(view: string, name: string, args: Record<string, unknown>) {
    called.length = 0;
    const [content] = (await client.readResource({ uri: `ui://labwright/${view}` })).contents;
    const html = content && "text" in content ? content.text : "";
    const result = await client.callTool({ name, arguments: args });
    const { page, ...opened } = await showInHost(
      browser,
      { url: host.url, theme, callTool },
      { html, args, result },
    );
    const frame = page.frameLocator("iframe");
    await frame.locator("main button").first().waitFor();
    expect(await inView(page, ground)).toBe(theme === "dark" ? "rgb(18, 21, 27)" : "rgb(246, 247, 249)");
    return { page, frame, ...opened };
  }

  it("the report shows what a failed run expected and found, with its picture, as text", async () => {
    const name = `lacks ${markup}`;
    const { page, frame, trouble, close } = await open("report", "get_execution_results", {});
    await frame.getByRole("button", { name: "lacks" }).click();
    await frame.getByRole("heading", { name }).waitFor();
    expect(called).toEqual(["get_execution_report"]);
    await frame.getByText("Expected", { exact: true }).waitFor();
    await frame.getByText("Found", { exact: true }).waitFor();
    await expect
      .poll(() => frame.locator(".shot img").first().evaluate(read, "naturalWidth"), within)
      .toBeGreaterThan(0);
    expect(await frame.locator("img[src=x]").count()).toBe(0);
    expect(await inView(page, widthOver)).toBe(0);
    await expect
      .poll(() => page.locator("iframe").evaluate(read, "offsetHeight"), within)
      .toBeGreaterThan(400);
    await frame.getByRole("button", { name: "Open the whole report" }).click();
    const link = await page.waitForFunction("window.opened");
    expect((await fetch(String(await link.jsonValue()))).status).toBe(200);
    expect(trouble).toEqual([]);
    await close();
  });

  if (theme === "light")
    it("the report of a run renews itself until the run ends", async () => {
      const wait = { command: "press_key", params: { key: "Home" }, wait_ms: 8_000 };
      const begun = await daemon.call("execute_device_action", {
        ...{ device_id: "browser", actions: Array(9).fill(wait), wait_ms: 0 },
      });
      const { execution_id } = z.object({ execution_id: z.string() }).parse(begun.result);
      const { page, frame, trouble, close } = await open("report", "get_execution_report", { execution_id });
      await frame.getByText("running", { exact: true }).waitFor();
      expect(await frame.getByRole("button", { name: "Open the whole report" }).count()).toBe(0);
      await daemon.call("cancel_execution", { execution_id });
      await frame.getByText("cancelled", { exact: true }).first().waitFor();
      const { length } = called;
      expect(length).toBeGreaterThan(0);
      await page.clock.fastForward(10_000);
      await frame.getByRole("button", { name: "Renew" }).click();
      await expect.poll(() => called.length, within).toBe(length + 1);
      await frame.getByRole("button", { name: "Open the whole report" }).waitFor();
      await daemon.call("release_control", { device_id: "browser" });
      expect(trouble).toEqual([]);
      await close();
    });

  it("the device shows its picture, another when asked, and the newest while it is followed", async () => {
    await daemon.call("execute_device_action", {
      ...{ device_id: "browser", actions: [{ command: "navigate_to_url", params: { url: site.url } }] },
    });
    await daemon.call("release_control", { device_id: "browser" });
    const { page, frame, trouble, close } = await open("device", "get_device_info", { device_id: "browser" });
    const picture = frame.getByRole("img", { name: "What lab/browser showed" });
    await expect.poll(() => picture.evaluate(read, "naturalWidth"), within).toBe(1280);
    const before = await picture.getAttribute("src");
    await daemon.call("execute_device_action", {
      ...{ device_id: "browser", actions: [{ command: "navigate_to_url", params: { url: "about:blank" } }] },
    });
    await daemon.call("release_control", { device_id: "browser" });
    await frame.getByRole("button", { name: "Renew" }).click();
    await expect.poll(() => picture.getAttribute("src"), within).not.toBe(before);
    expect(called.toSorted()).toEqual(["capture_screenshot", "capture_screenshot", "get_device_info"]);
    const followed = frame.getByRole("button", { name: "Follow", pressed: true });
    await frame.getByRole("button", { name: "Follow" }).press("Enter");
    await followed.waitFor();
    await expect.poll(() => called.length, within).toBe(5);
    await page.clock.fastForward(3_000);
    await expect.poll(() => called.length, within).toBeGreaterThanOrEqual(7);
    await followed.press("Enter");
    await followed.waitFor({ state: "detached" });
    expect(trouble).toEqual([]);
    await close();
  });

  it("the tree shows screens and their ways, and follows the host's change of theme", async () => {
    const { page, frame, trouble, close } = await open("tree", "preview_userinterface", {
      userinterface_name: "box <b>app</b>",
    });
    await frame.getByRole("heading", { name: "box <b>app</b>" }).waitFor();
    await frame.locator("summary", { hasText: "Home" }).click();
    await frame
      .getByText(/^Home . /)
      .first()
      .waitFor();
    await page.evaluate(`window.setTheme("${theme === "dark" ? "light" : "dark"}")`);
    await expect
      .poll(() => inView(page, ground), within)
      .toBe(theme === "dark" ? "rgb(246, 247, 249)" : "rgb(18, 21, 27)");
    expect(called).toEqual(["get_userinterface_complete", "get_node"]);
    expect(trouble).toEqual([]);
    await close();
  });
});

it("a view shows a refusal in the server's words", async () => {
  const client = await connect({ wire: "HTTP", mode: eras["2025-11-25"] }, shown);
  const [content] = (await client.readResource({ uri: "ui://labwright/report" })).contents;
  const result = await client.callTool({ name: "get_execution_report", arguments: { execution_id: "none" } });
  const call = { html: content && "text" in content ? content.text : "", args: {}, result };
  const callTool: CallTool = () => Promise.reject(new Error("nothing is called"));
  const { page, close } = await showInHost(browser, { url: host.url, theme: "light", callTool }, call);
  await page.frameLocator("iframe").getByRole("alert").getByText("EXECUTION_NOT_FOUND").waitFor();
  await Promise.all([close(), client.close()]);
});
