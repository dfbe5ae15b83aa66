// npm run picture: makes docs/failing-test.svg, which moves. A shop whose cart adds up wrongly is served, its test runs by
// the built product in a terminal, and each screen of that terminal becomes a frame. Only the times are changed, to ten seconds.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

process.env.LABWRIGHT_BROWSER_SANDBOX = "optional";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const labwright = join(root, "mcp-server", "bin", "labwright.js");
const columns = 76;
const colors = { "␛31m": "red", "␛32m": "green" };
const test = `name: Two lamps cost 80 €
app: shop
steps:
  - go to Shop
  - click "Lamp", then click "Buy"
  - go to Cart
  - click "More Lamp"
  - check text "Total 80 €"
`;
const appAt = (url) => `name: shop
app: { url: "${url}" }
nodes:
  Shop: check "Search" is shown
  Cart: check text "Your cart"
edges:
  Shop -> Cart: click "Cart"
`;

const folder = await mkdtemp(join(tmpdir(), "labwright-picture-"));
const dataDir = join(folder, "data");
const server = await serveShop();
try {
  await writeProject(`http://127.0.0.1:${server.address().port}/`);
  // The first run starts the daemon, which the recording leaves out.
  await record();
  const svg = draw(play(await record()));
  await writeFile(join(root, "docs", "failing-test.svg"), svg);
} finally {
  server.close();
  server.closeAllConnections();
  await once(spawn(process.execPath, [labwright, "stop", "--data-dir", dataDir]), "exit");
  await rm(folder, { recursive: true, force: true });
}

async function serveShop() {
  const page = await readFile(join(root, "test", "shop", "index.html"), "utf8");
  const broken = page.replace("total + price(name) * count", "total + price(name) + count");
  if (broken === page) throw new Error("The shop has changed: the fault of the picture is not in it.");
  const shop = createServer((_, response) => {
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(broken);
  });
  await once(shop.listen(0, "127.0.0.1"), "listening");
  return shop;
}

async function writeProject(url) {
  const files = { "apps/shop.yaml": appAt(url), "tests/lamps.yaml": test };
  for (const [name, text] of Object.entries(files)) {
    const file = join(folder, "labwright", name);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }
}

/** What the run prints in a terminal, each piece with its milliseconds since the first. */
async function record() {
  const command = `stty cols ${columns}; '${process.execPath}' '${labwright}' run labwright --data-dir '${dataDir}'`;
  const env = { ...process.env, TERM: "xterm" };
  const child = spawn("script", ["-qefc", command, "/dev/null"], { cwd: folder, env });
  const pieces = [];
  child.stdout.on("data", (text) => pieces.push({ at: performance.now(), text: String(text) }));
  await once(child, "close");
  const text = pieces.map((piece) => piece.text).join("");
  if (!text.includes("1 failed") || !text.includes("Total 42 €"))
    throw new Error(`The test did not fail: ${text}`);
  return pieces.map((piece) => ({ ...piece, at: piece.at - pieces[0].at }));
}

/** Screens of the whole scene, each with the seconds that it stays. */
function play(pieces) {
  const frames = [];
  let shown = "";
  const show = (text, seconds) => {
    shown += text;
    const lines = screenOf(shown);
    const last = frames.at(-1);
    if (last && JSON.stringify(last.lines) === JSON.stringify(lines)) last.seconds += seconds;
    else frames.push({ lines, seconds });
  };
  const type = (command) => {
    shown += "$ ";
    for (const word of command.split(/(?= )/)) show(word, 0.15);
    show("\n", 0.3);
  };
  type("cat labwright/tests/lamps.yaml");
  show(test, 2);
  type("npx labwright run labwright");
  const end = pieces.at(-1).at;
  for (const [index, { at, text }] of pieces.entries())
    show(text, (((pieces[index + 1]?.at ?? end) - at) / end) * 3);
  show("$ ", 3.5);
  return frames;
}

/** Lines of coloured parts after this output. Labwright writes colours and erases its last line, nothing else. */
function screenOf(output) {
  const lines = [[]];
  let color = "";
  const text = output.replaceAll("\u001b[", "␛");
  for (const [part] of text.matchAll(/␛\d*[mK]|\r\n|[\r\n]|[^␛\r\n]+/g)) {
    if (part === "\r\n" || part === "\n") lines.push([]);
    else if (part === "␛K") lines[lines.length - 1] = [];
    else if (part.startsWith("␛")) color = colors[part] ?? "";
    else if (part !== "\r") lines.at(-1).push({ text: part, color });
  }
  return lines;
}

function draw(frames) {
  const [width, lineHeight, padding] = [columns * 8.43 + 32, 20, 16];
  const height = Math.max(...frames.map(({ lines }) => lines.length)) * lineHeight + 2 * padding + 8;
  const total = frames.reduce((sum, { seconds }) => sum + seconds, 0);
  let at = 0;
  const steps = frames.map(({ seconds }, index) => {
    const step = `${((at / total) * 100).toFixed(2)}%{transform:translateX(${-index * width}px)}`;
    at += seconds;
    return step;
  });
  const last = `transform:translateX(${-(frames.length - 1) * width}px)`;
  const escaped = (text) => text.replace(/[&<>]/g, (one) => `&#${one.charCodeAt(0)};`);
  const spanOf = ({ text, color }) => `<tspan${color && ` class="${color}"`}>${escaped(text)}</tspan>`;
  const lineOf = (parts, line) =>
    `<text y="${padding + 16 + line * lineHeight}">${parts.map(spanOf).join("")}</text>`;
  const frameOf = ({ lines }, index) =>
    `<g transform="translate(${index * width + padding})">${lines.map(lineOf).join("")}</g>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="A terminal: a test of a shop in words, and its run, which fails and says what was expected and what was found">
<style>
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#e6edf3;white-space:pre}
.red{fill:#ff7b72;font-weight:bold}.green{fill:#7ee787;font-weight:bold}
.film{animation:film ${total.toFixed(1)}s steps(1,end) infinite}
@keyframes film{${steps.join("")}100%{${last}}}
@media(prefers-reduced-motion){.film{animation:none;${last}}}
</style>
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
<g class="film">
${frames.map(frameOf).join("\n")}
</g>
</svg>
`;
}
