import { spawn } from "node:child_process";
import { once } from "node:events";
import { access, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

process.env.LABWRIGHT_BROWSER_SANDBOX = "optional";

/**
 * `record.mjs [FOLDER]`: records each conversation with the model of DEFAULT_MODEL, with the product's own tools on a browser
 * of its own.
 */
const folder = dirname(fileURLToPath(import.meta.url));
const bin = join(folder, "..", "..", "mcp-server", "bin", "labwright.js");
const [to = folder] = process.argv.slice(2);
const key = process.env.ANTHROPIC_API_KEY;
const print = (text) => process.stdout.write(`${text}\n`);

/** The messages of each conversation in order, each with its skill. */
const conversations = (url) => ({
  "list-devices": [["list-resources", "List devices of this lab and say in a sentence what there is."]],
  "run-script": [
    ["run-script", "Run script goto on lab/browser to the screen Second of the user interface shop."],
  ],
  "skill-change": [
    ["list-resources", "List devices of this lab."],
    ["health-check", "Health check of all devices in the lab, in one sentence."],
    ["list-resources", "List devices once more."],
  ],
  picture: [
    [
      "control-device",
      `Take control of device lab/browser, open ${url}/ there, take a screenshot, say which colour the heading has, and release control.`,
    ],
  ],
  "long-answer": [
    [
      "list-resources",
      "List scripts that there are, then explain in about 600 words what each could be used for.",
    ],
  ],
});

const page = (title, colour, link, words) =>
  `<!doctype html><title>${title}</title><h1 style="color: ${colour}">${title}</h1><a href="${link}">${words}</a>`;
const pages = {
  "/": page("Start", "crimson", "/second", "Second page"),
  "/second": page("Second page", "teal", "/", "Back to start"),
};

function app(url) {
  const shows = (text) => [{ command: "text_visible", params: { text } }];
  const goes = (command, params) => ({ actions: [{ command, params }] });
  const clicks = (name) => goes("click_element", { selector: `role=link[name="${name}"]` });
  return JSON.stringify({
    format_version: 1,
    name: "shop",
    models: ["web"],
    tree: {
      nodes: [
        { label: "Entry", type: "entry" },
        { label: "Start", verifications: shows("Start") },
        { label: "Second", verifications: shows("Back to start") },
      ],
      edges: [
        { source: "Entry", target: "Start", action_sets: [goes("navigate_to_url", { url: `${url}/` })] },
        {
          source: "Start",
          target: "Second",
          action_sets: [clicks("Second page"), { direction: "reverse", ...clicks("Back to start") }],
        },
      ],
    },
  });
}

/** What a command of the product wrote; throws with its errors when it ended otherwise than `codes` say. */
async function labwright(command, args, codes = [0]) {
  const child = spawn(process.execPath, [bin, command, "--data-dir", dataDir, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const written = { out: "", err: "" };
  child.stdout.setEncoding("utf8").on("data", (text) => (written.out += text));
  child.stderr.setEncoding("utf8").on("data", (text) => (written.err += text));
  const [code] = await once(child, "close");
  if (!codes.includes(code)) throw new Error(`labwright ${command} ended with ${code}: ${written.err}`);
  return written.out;
}

async function record(name, messages) {
  const file = join(to, `${name}.jsonl`);
  await rm(file, { force: true });
  let resume = [];
  for (const [skill, text] of messages) {
    const events = await labwright("ask", [
      "--json",
      "--yes",
      "--skill",
      skill,
      "--record",
      file,
      ...resume,
      text,
    ]);
    resume = ["--resume", JSON.parse(events.split("\n")[0]).session_id];
  }
  const recorded = await readFile(file, "utf8");
  if (recorded.includes(key)) throw new Error(`${file} holds the key: do not commit it.`);
  print(`${name}: ${recorded.trimEnd().split("\n").length} exchanges`);
}

if (!key) {
  print(
    "No key: set ANTHROPIC_API_KEY to one of the Claude API (DEFAULT_MODEL and ANTHROPIC_BASE_URL too, where wanted), then run `npm run record` again. It asks about twenty times and costs some cents.",
  );
  process.exit(2);
}
await access(join(folder, "..", "..", "mcp-server", "dist")).catch(() => {
  print("The product is not built: run `npm run build` first.");
  process.exit(2);
});
const site = createServer(({ url }, response) =>
  response.setHeader("content-type", "text/html").end(pages[url] ?? ""),
);
await once(site.listen(0, "127.0.0.1"), "listening");
const url = `http://127.0.0.1:${site.address().port}`;
const dataDir = await mkdtemp(join(tmpdir(), "labwright-record-"));
try {
  const config = "server: { name: lab }\ndevices: [{ name: browser, model: web }]\n";
  await writeFile(join(dataDir, "labwright.yaml"), config);
  await labwright("call", ["import_userinterface", "--json", JSON.stringify({ yaml: app(url) })]);
  for (const [name, messages] of Object.entries(conversations(url))) await record(name, messages);
} finally {
  await labwright("stop", [], [0, 1, 2]);
  site.close();
  site.closeAllConnections();
  await rm(dataDir, { recursive: true, force: true });
}
