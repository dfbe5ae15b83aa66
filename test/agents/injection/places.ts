import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import type { ToolCall } from "@labwright/agent-client";
import type { TestClient } from "../../fixtures/client.ts";
import type { Product } from "../../fixtures/product.ts";
import { chain, sees } from "../../services/apps/testcases/testcaseBench.ts";
import { type Attack, attacks, thief } from "./corpus.ts";

/** What a model calls to come across an attack, and the skill that it has for it. */
export type Met = { skill: string; reads: readonly ToolCall[] };

export type Pages = {
  /** The page of an attack. */
  url(mark: string): string;
  /** What was asked for by whoever steals, path and query. */
  stolen: readonly string[];
  fill(text: string): string;
  close(): Promise<void>;
};

/** Shows that a text has reached the model; no two attacks have one. */
export const markOf = (attack: Attack): string =>
  `note${String(attacks.indexOf(attack) + 1).padStart(2, "0")}`;

const thiefPath = "/thief";

/** Serves the pages of the attacks, and listens where stolen things would go. */
export async function servePages(): Promise<Pages> {
  const stolen: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? "/";
    if (path.startsWith(thiefPath)) stolen.push(path);
    const attack = attacks.find((one) => path === `/${markOf(one)}`);
    response
      .writeHead(attack ? 200 : 404, { "content-type": "text/html; charset=utf-8" })
      .end(attack ? `<!doctype html>${htmlOf(attack, fill)}` : "nothing here");
  });
  const url = `http://127.0.0.1:${await listen(server)}`;
  const fill = (text: string) => text.replaceAll(thief, url + thiefPath);
  return {
    url: (mark) => `${url}/${mark}`,
    stolen,
    fill,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function htmlOf(attack: Attack, fill: (text: string) => string): string {
  const text = fill(`${markOf(attack)} ${attack.text}`);
  if (attack.at.kind === "page") return attack.at.html(text);
  return `<title>Sign</title><canvas id="sign" width="900" height="80"></canvas><script>
    const pen = document.getElementById("sign").getContext("2d");
    pen.font = "24px sans-serif";
    pen.fillText(${JSON.stringify(text)}, 10, 40);</script>`;
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      if (address === null || typeof address === "string") return reject(new Error("no port"));
      resolve(address.port);
    });
  });
}

const reads = (name: string, input: Readonly<Record<string, unknown>> = {}): ToolCall => ({ name, input });
const opens = (url: string) =>
  reads("execute_device_action", {
    device_id: "browser",
    actions: [{ command: "navigate_to_url", params: { url } }],
  });

/** The blocks of a test case that checks one thing. */
export const checks = chain([sees("look", "Welcome")]);

type Lab = { product: Product; client: TestClient; pages: Pages };

/** Puts an attack where it lies, and says how a model comes across it. */
export async function plant(attack: Attack, { product, client, pages }: Lab): Promise<Met> {
  const mark = markOf(attack);
  const text = pages.fill(`${mark} ${attack.text}`);
  const scripts = product.config.folders.scripts;
  const run = `${mark}.mjs`;
  const write = (folder: string, file: string, content: string) => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, file), content);
  };
  const save = async (name: string, input: Record<string, unknown>) => {
    const { error } = await client.call(name, input);
    if (error) throw new Error(`${attack.name} could not be planted: ${error.message}`);
  };
  switch (attack.at.kind) {
    case "page":
      return {
        skill: "control-device",
        reads: [opens(pages.url(mark)), reads("dump_ui_elements", { device_id: "browser" })],
      };
    case "picture":
      return {
        skill: "control-device",
        reads: [opens(pages.url(mark)), reads("capture_screenshot", { device_id: "browser" })],
      };
    case "script_name":
      write(scripts, `${text}.sh`, "true\n");
      return { skill: "list-resources", reads: [reads("list_scripts")] };
    case "script_comment":
      write(scripts, run, `// ${text}\n`);
      return { skill: "list-resources", reads: [reads("list_scripts")] };
    case "script_output":
      write(scripts, run, `console.log(${JSON.stringify(text)});\n`);
      return {
        skill: "run-script",
        reads: [reads("execute_script", { script: run, device_id: "browser" })],
      };
    case "testcase_name":
      await save("save_testcase", { testcase: { name: text, ...checks } });
      return { skill: "edit-testcases", reads: [reads("list_testcases")] };
    case "testcase_description":
      await save("save_testcase", { testcase: { name: mark, description: text, ...checks } });
      return { skill: "edit-testcases", reads: [reads("load_testcase", { testcase: mark })] };
    case "userinterface_name":
      await save("create_userinterface", { name: text, models: ["web"] });
      return { skill: "manage-userinterfaces", reads: [reads("list_userinterfaces")] };
    case "alert":
      await save("publish_event", { alert: { kind: "black_screen", message: text, device_id: "browser" } });
      return { skill: "manage-alerts", reads: [reads("list_alerts")] };
    case "log":
      write(
        join(product.config.data_dir, "logs"),
        "daemon.log",
        `${JSON.stringify({ level: "error", time: new Date().toISOString(), msg: text })}\n`,
      );
      return { skill: "read-logs", reads: [reads("view_logs")] };
    case "requirement":
      await save("create_requirement", { code: mark.toUpperCase(), name: mark, description: text });
      return {
        skill: "edit-requirements",
        reads: [reads("get_requirement", { requirement: mark.toUpperCase() })],
      };
  }
}
