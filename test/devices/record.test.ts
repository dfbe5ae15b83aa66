import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { parse } from "yaml";
import { run, temporaryFolder } from "../cli/fixtures.ts";
import { listenOnLoopback } from "../fixtures/loopback.ts";
import { startXServer, type XServer } from "../lab/tv/xServer.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/** Where things are on the display: a page knows it as soon as the mouse has moved over it. */
type Place = { x: number; y: number };

const folder = temporaryFolder();
const cwd = join(folder.path, "project");
const data = join(folder.path, "data");
let screen: XServer;
let places: Record<string, Place> = {};
let tasks: string[] = [];

const page = `<!doctype html><title>Tasks</title><h1>Tasks</h1>
<input aria-label="Task" id="task"><button id="add">Add</button> <a id="about" href="/about">About</a><ul></ul>
<script>
document.querySelector("#add").onclick = async () => {
  const text = document.querySelector("#task").value;
  await fetch("/add", { method: "POST", body: text });
  document.querySelector("ul").innerHTML += "<li>" + text + "</li>";
};
let told = false;
onmousemove = ({ screenX, clientX, screenY, clientY }) => {
  if (told) return;
  told = true;
  const places = {};
  for (const { id, x, y, width, height } of [...document.querySelectorAll("[id]")].map((one) => ({ id: one.id, ...one.getBoundingClientRect().toJSON() })))
    places[id] = { x: x + width / 2 + screenX - clientX, y: y + height / 2 + screenY - clientY };
  fetch("/places", { method: "POST", body: JSON.stringify(places) }).finally(() => (told = false));
};
</script>`;

const server = createServer(async (request, response) => {
  let body = "";
  for await (const part of request) body += String(part);
  if (request.url === "/add") tasks.push(body);
  if (request.url === "/places") places = JSON.parse(body);
  const about = "<!doctype html><title>About</title><h1>About us</h1><p>Made by hand</p>";
  response.writeHead(200, { "content-type": "text/html" }).end(request.url === "/about" ? about : page);
});
let url = "";

beforeAll(async () => {
  for (const path of [join(cwd, "labwright"), data]) mkdirSync(path, { recursive: true });
  writeFileSync(join(data, "labwright.yaml"), "devices: [{ name: web, model: web }]\n");
  url = `http://127.0.0.1:${await listenOnLoopback(server)}`;
  screen = await startXServer();
});
afterAll(async () => {
  await labwright(["stop"]);
  await screen.program.end();
  server.close();
  folder.remove();
});

const labwright = (args: string[], more: Partial<Parameters<typeof run>[1]> = {}) =>
  run(args, { cwd, env: { LABWRIGHT_DATA_DIR: data, DISPLAY: screen.display }, ...more });

/** The hands of a person on the display. */
function hands(...args: string[]): void {
  const { status, stderr } = spawnSync("xdotool", args, {
    env: { ...process.env, DISPLAY: screen.display },
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`xdotool ${args.join(" ")}: ${stderr}`);
}
function click(name: string): void {
  const { x, y } = places[name] ?? { x: 0, y: 0 };
  hands("mousemove", String(Math.round(x)), String(Math.round(y)), "click", "1");
}

/** Until the recorder has said something. */
const said = (ran: { err: string }, text: string | RegExp) =>
  vi.waitFor(() => expect(ran.err).toMatch(text), { timeout: 20_000, interval: 100 });

/** Until the page has told where its things are. */
async function untilPlaced(): Promise<void> {
  places = {};
  let at = 300;
  await vi.waitFor(
    () => {
      at = at === 300 ? 310 : 300;
      hands("mousemove", String(at), "400");
      expect(places).toHaveProperty("add");
    },
    { timeout: 10_000, interval: 200 },
  );
}

it("a person's recording on the caller's display replays as a test, and leaves nothing running", async () => {
  const answers: Record<string, (until: AbortSignal | undefined) => Promise<string | undefined> | string> = {
    'Name of the screen "Tasks"': () => "Home",
    "Enter ends": (until) => ended(until),
  };
  const ran = { err: "" };
  const person = new AbortController();
  const recording = labwright(["record", url, "--app", "tasks", "--name", "add a task"], {
    onErr: (text) => {
      ran.err += text;
    },
    signal: person.signal,
    ask: async (question, until) => {
      const [, answer] = Object.entries(answers).find(([start]) => question.startsWith(start)) ?? [];
      return answer?.(until);
    },
  });
  await said(ran, /Act in its window/);
  await untilPlaced();
  click("task");
  hands("type", "--delay", "30", "buy milk");
  click("add");
  await said(ran, /click element button "Add"/);
  await vi.waitFor(() => expect(tasks).toEqual(["buy milk"]));
  await pause(1_500);
  click("about");
  await said(ran, /click element link "About"/);
  await pause(2_500);
  person.abort();
  expect(await recording).toMatchObject({ code: 0, out: expect.stringContaining("add-a-task.yaml") });

  const app = parse(readFileSync(join(cwd, "labwright/apps/tasks.yaml"), "utf8"));
  expect(app.nodes).toEqual({ Home: 'check text "Tasks"', "About us": 'check text "About us"' });
  expect(Object.keys(app.edges)).toEqual(["Home -> About us"]);
  const test = parse(readFileSync(join(cwd, "labwright/tests/add-a-task.yaml"), "utf8"));
  expect(JSON.stringify(test.steps)).toContain("buy milk");
  tasks = [];
  expect(await labwright(["run", "labwright/tests/add-a-task.yaml"])).toMatchObject({ code: 0 });
  expect(tasks).toEqual(["buy milk"]);
  const devices = await labwright(["call", "list_hosts"]);
  expect(devices.out).not.toContain("web-2");
});

/** A question that nobody answers before it is withdrawn. */
const ended = (until: AbortSignal | undefined) =>
  new Promise<undefined>((resolve) =>
    until?.addEventListener("abort", () => resolve(undefined), { once: true }),
  );

it("a window that is closed ends the recording, whose steps are kept", async () => {
  const ran = { err: "" };
  const recording = labwright(["record", url, "--name", "closed early"], {
    onErr: (text) => {
      ran.err += text;
    },
  });
  await said(ran, /Act in its window/);
  await untilPlaced();
  // The check of the first screen is what makes this a test.
  await pause(1_500);
  click("add");
  await said(ran, /click element button "Add"/);
  hands("key", "ctrl+shift+w");
  await said(ran, "The browser was closed.");
  const { code } = await recording;
  expect(code).toBe(0);
  expect(existsSync(join(cwd, "labwright/tests/closed-early.yaml"))).toBe(true);
  expect((await labwright(["call", "list_hosts"])).out).not.toContain("web-2");
});

it("no display, or one that does not answer, is an error that says what to do", async () => {
  const none = await labwright(["record", url], { env: { LABWRIGHT_DATA_DIR: data } });
  expect(none).toMatchObject({ code: 2, err: expect.stringContaining("--remote-debugging-port=9222") });
  const dead = await labwright(["record", url], { env: { LABWRIGHT_DATA_DIR: data, DISPLAY: ":987" } });
  expect(dead).toMatchObject({ code: 2, err: expect.stringContaining("the display :987 does not answer") });
  expect((await labwright(["call", "list_hosts"])).out).not.toContain("web-2");
});
