import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { serve } from "../../fixtures/loopback.ts";
import { calls, says } from "../../fixtures/messagesApi/reply.ts";
import { hasPytest, hasSandbox } from "../../fixtures/sandbox.ts";
import { type Site, startSite } from "../../fixtures/site.ts";
import { boxYaml } from "../../services/apps/navigation/lab.ts";
import { chain, sees } from "../../services/apps/testcases/testcaseBench.ts";
import { expectWhole, openSkillLab, picturesIn, readBy, type SkillLab } from "./bench.ts";

const yaml = `
devices: [{ name: google_tv, model: simulated, controllers: { simulated_capture: { width: 1280, height: 720 }, text: {} } }, { name: phone, model: simulated }, { name: browser, model: web }]
limits: { script_memory_mb: 256, script_processes: 32, script_ms: 120000 }`;

let lab: SkillLab;
let site: Site;
beforeAll(async () => {
  site = await startSite();
  lab = await openSkillLab(yaml);
  await lab.client.call("import_userinterface", { yaml: boxYaml("tv_app") });
  for (const name of ["tv_map", "phone_map"]) await create(name, ["simulated"]);
  await create("site_map", ["web"], { url: site.url });
  await lab.client.call("save_testcase", {
    testcase: {
      name: "zapping",
      userinterface_name: "tv_app",
      ...chain([{ id: "home", type: "action", ...home }, sees("look", "Welcome home")]),
    },
  });
});
afterAll(async () => {
  await lab.end();
  await site.close();
});

const create = (name: string, models: string[], app: object = {}) =>
  lab.client.call("create_userinterface", { name, models, app });
const shows = (text: string) => ({ command: "text_visible", params: { text } });
const home = { command: "press_key", params: { key: "HOME" } };
const click = (selector: string) => ({ command: "click_element", params: { selector } });
const structured = async (tool: string, args: Record<string, unknown> = {}) =>
  (await lab.client.call(tool, args)).structured;
const stateOf = async (device_id: string) => (await structured("get_device_info", { device_id })).state;

test.runIf(hasSandbox)("run-script: run goto script on google_tv", async () => {
  const app = { userinterface_name: "tv_app" };
  const run = { script: "goto", args: ["Movies"], device_id: "lab/google_tv", ...app };
  const result = await lab.say("Run script goto on google_tv", [
    calls("get_compatible_hosts", app),
    calls("execute_script", run),
    (_, context) => {
      const status = readBy(context, /status: (\w+)/).toUpperCase();
      const seconds = Number(readBy(context, /duration_ms: (\d+)/)) / 1_000;
      const id = readBy(context, /execution_id: (\w+)/);
      return says(`**goto** on lab/google_tv: ${status} (${seconds} s), run ${id}`);
    },
  ]);
  expectWhole("run-script", result);
  expect(result.requests).toHaveLength(3);
  expect(result.requests[0]?.body.tools?.map(({ name }) => name)).toHaveLength(3);
  const called = result.events.flatMap((event) => (event.type === "tool_call" ? [event.tool] : []));
  expect(called).toEqual(["get_compatible_hosts", "execute_script"]);
  const [, id] =
    /^\*\*goto\*\* on lab\/google_tv: PASSED \([\d.]+ s\), run (\w+)$/.exec(result.ended.text) ?? [];
  expect(await structured("get_execution_status", { execution_id: id })).toMatchObject({
    ...{
      kind: "script",
      name: "goto.py",
      status: "passed",
      device: "lab/google_tv",
      outputs: { at: "Movies" },
    },
  });
  expect(await structured("get_execution_report", { execution_id: id })).toMatchObject({ passed: 1 });
});

test("run-testcase: run testcase zapping on google_tv", async () => {
  const result = await lab.say("Run testcase zapping on google_tv", [
    calls("get_compatible_hosts", { userinterface_name: "tv_app" }),
    calls("execute_testcase", { testcase: "zapping", device_id: "google_tv" }),
    (_, context) => says(`zapping: ${readBy(context, /status: (\w+)/)}`),
  ]);
  expectWhole("run-testcase", result);
  expect(result.ended.text).toBe("zapping: passed");
  expect(await structured("get_execution_results", { name: "zapping" })).toMatchObject({
    counts: { passed: 1 },
    executions: [{ device: "lab/google_tv" }],
  });
});

test("list-resources: list resources", async () => {
  const result = await lab.say("List resources", [
    calls("list_scripts"),
    (_, context) => calls("list_testcases", { tag: readBy(context, /(goto)/) === "goto" ? "smoke" : "none" }),
    calls("list_hosts"),
    calls("list_userinterfaces"),
    (_, context) => says(readBy(context, /(tv_app)/)),
  ]);
  expectWhole("list-resources", result);
});

test("device-status: device status of google_tv", async () => {
  const result = await lab.say("Device status of google_tv", [
    calls("get_device_info", { device_id: "google_tv" }),
    (_, context) =>
      calls("get_compatible_hosts", {
        userinterface_name: readBy(context, /id: lab\/(google)_tv/) === "google" ? "tv_app" : "",
      }),
    (_, context) => says(`lab/google_tv is ${readBy(context, /lab\/google_tv.*state: (\w+)/)}`),
  ]);
  expectWhole("device-status", result);
  expect(result.ended.text).toMatch(/^lab\/google_tv is (free|yours)/);
});

/** Two screens of a device whose elements can be listed, and the way between them, proven. */
async function explore(given: {
  text: string;
  device: string;
  app: string;
  button: string;
  entry: string;
  screen: string;
  first: object;
}) {
  const { device, app, button, entry, screen } = given;
  const on = { userinterface_name: app };
  const held: { session_id?: string } = {};
  let selector = "";
  return lab.say(given.text, [
    calls("take_control", { device_id: device }),
    (_, context) => {
      held.session_id = readBy(context, /session_id: (\S+)/);
      return calls("execute_device_action", { ...held, actions: [given.first] });
    },
    () => calls("dump_ui_elements", held),
    calls("create_node", { ...on, label: "Home", type: "entry", verifications: [shows(entry)] }),
    () => calls("analyze_screen_for_action", { ...held, intent: button }),
    (_, context) => {
      const written = readBy(context, /selector: ("(?:[^"\\]|\\.)*"|[^,\n]+)/);
      selector = written.startsWith('"') ? z.string().parse(JSON.parse(written)) : written;
      return calls("execute_device_action", { ...held, actions: [click(selector)] });
    },
    calls("create_node", { ...on, label: "Next", verifications: [shows(screen)] }),
    () =>
      calls("create_edge", {
        ...on,
        source: "Home",
        target: "Next",
        action_sets: [{ actions: [click(selector)] }],
      }),
    () => calls("execute_device_action", { ...held, actions: [given.first] }),
    () => calls("execute_edge", { ...held, ...on, edge: "Home → Next" }),
    (_, context) => {
      expect(readBy(context, /verified: (\w+)/)).toBe("true");
      return calls("release_control", held);
    },
    says("Home and Next, one edge, proven."),
  ]);
}

test("explore-mobile: maps an app of a phone and proves the way", async () => {
  const result = await explore({
    ...{ text: "Explore the mobile app on phone", device: "phone", app: "phone_map" },
    ...{ button: "Movies", entry: "Welcome home", screen: "All movies" },
    first: home,
  });
  expectWhole("explore-mobile", result);
  expect(await structured("list_edges", { userinterface_name: "phone_map" })).toMatchObject({
    edges: [{ edge: "Home → Next" }],
  });
  expect(await stateOf("phone")).toBe("free");
});

test("explore-web: maps a site in a real browser and proves the way", async () => {
  const result = await explore({
    ...{ text: "Explore the website in the browser", device: "browser", app: "site_map" },
    ...{ button: "Second page", entry: "A part", screen: "Back to start" },
    first: { command: "navigate_to_url", params: { url: `${site.url}/` } },
  });
  expectWhole("explore-web", result);
  expect(site.requests.filter((request) => request === "GET /second").length).toBeGreaterThanOrEqual(2);
  expect(await structured("get_edge", { userinterface_name: "site_map", edge: "Home → Next" })).toMatchObject(
    {
      reliability: [{ runs: 1, success_rate: 1 }],
    },
  );
  expect(await stateOf("browser")).toBe("free");
}, 120_000);

test("explore-stb: maps a TV app by its picture and its remote", async () => {
  const on = { userinterface_name: "tv_map" };
  const press = (...keys: string[]) => keys.map((key) => ({ command: "press_key", params: { key } }));
  const held: { session_id?: string } = {};
  const result = await lab.say("Explore tv app on google_tv", [
    calls("take_control", { device_id: "google_tv" }),
    (_, context) => {
      held.session_id = readBy(context, /session_id: (\S+)/);
      return calls("capture_screenshot", held);
    },
    calls("create_node", { ...on, label: "Home", type: "entry", verifications: [shows("Welcome home")] }),
    () => calls("execute_device_action", { ...held, actions: press("HOME", "DOWN", "OK") }),
    () => calls("execute_device_action", { ...held, actions: [{ command: "get_menu_info", params: {} }] }),
    (_, context) => {
      const title = readBy(context, /(All movies)/);
      return calls("create_node", { ...on, label: "Movies", verifications: [shows(title)] });
    },
    calls("create_edge", {
      ...{ ...on, source: "Home", target: "Movies" },
      action_sets: [{ actions: press("DOWN", "OK") }, { direction: "reverse", actions: press("BACK") }],
    }),
    () => calls("execute_device_action", { ...held, actions: press("HOME") }),
    () => calls("execute_edge", { ...held, ...on, edge: "Home → Movies" }),
    (_, context) => {
      expect(readBy(context, /verified: (\w+)/)).toBe("true");
      return calls("release_control", held);
    },
    says("Home and Movies; the edge is proven."),
  ]);
  expectWhole("explore-stb", result);
  expect(picturesIn(result.requests)).toBe(1);
  expect(await structured("list_navigation_nodes", on)).toMatchObject({
    nodes: [{ label: "Home" }, { label: "Movies" }],
  });
  expect(await stateOf("google_tv")).toBe("free");
});

test("create-testcase: makes a test of words that then runs", async () => {
  const of = { name: "movies", userinterface_name: "tv_app" };
  const whole = {
    name: "movies again",
    userinterface_name: "tv_app",
    ...chain([sees("look", "All movies")]),
  };
  const result = await lab.say(
    "Create a test case for tv_app: go to Movies and check it is shown",
    [
      calls("list_userinterfaces"),
      calls("list_testcases", { userinterface_name: "tv_app" }),
      calls("generate_and_save_testcase", { ...of, description: "go to Movies\ncheck Movies is shown" }),
      (_, context) => {
        expect(readBy(context, /saved: (\w+)/)).toBe("true");
        return calls("save_testcase", { testcase: whole });
      },
      says("movies and movies again are saved; neither has been run."),
    ],
    "create-testcase",
  );
  expectWhole("create-testcase", result);
  const ran = await lab.client.call("execute_testcase", { testcase: "movies", device_id: "google_tv" });
  expect(ran.structured).toMatchObject({ status: "passed" });
});

test("manage-requirements: a requirement is made, linked, and its coverage reported", async () => {
  const result = await lab.say(
    "Create requirement: the user can open Movies, then link the test case",
    [
      calls("list_requirements", { text: "Movies" }),
      calls("create_requirement", { name: "The user can open Movies", priority: "P1" }),
      (_, context) =>
        calls("link_testcase_to_requirement", {
          ...{ requirement: readBy(context, /code: (\S+)/), testcase: "zapping", coverage: "full" },
        }),
      calls("get_coverage_summary"),
      calls("get_uncovered_requirements"),
      says("REQ-001 is linked to zapping."),
    ],
    "manage-requirements",
  );
  expectWhole("manage-requirements", result);
  expect(
    z.looseObject({}).parse(await structured("get_requirement_coverage", { requirement: "REQ-001" })),
  ).toMatchObject({
    testcases: [{ testcase: "zapping", coverage: "full" }],
  });
});

test("test-api: test the API by its document", async () => {
  const paths = { "/pets": { get: { operationId: "listPets", responses: { 200: { description: "ok" } } } } };
  const api = await serve((request, response) => {
    const document = { openapi: "3.0.0", info: { title: "Pets", version: "1" }, paths };
    response
      .writeHead(request.url === "/pets" ? 500 : 200, { "content-type": "application/json" })
      .end(JSON.stringify(request.url === "/pets" ? {} : document));
  });
  const result = await lab.say("Test the API", [
    calls("import_api_spec", { source: `${api.url}/openapi.json` }),
    calls("list_api_operations", { api: "Pets" }),
    (_, context) =>
      calls("execute_api_request", {
        ...{ operation_id: readBy(context, /(listPets): GET/), api: "Pets" },
      }),
    (_, context) =>
      calls("run_api_tests", {
        ...{ api: "Pets", max_cases: readBy(context, /found: status (\d+)/) === "500" ? 5 : 1 },
      }),
    (_, context) => says(`listPets: ${readBy(context, /(F100)/)}`),
  ]);
  await api.close();
  expectWhole("test-api", result);
  expect(result.ended.text).toBe("listPets: F100");
});

test.runIf(hasPytest)("workspace: write and run code", async () => {
  const file = { operation: "write", path: "add.py", content: "print(20 + 22)\n" };
  const result = await lab.say("Write and run code", [
    calls("workspace_files", { operation: "list" }),
    calls("workspace_files", file),
    calls("execute_code", { language: "python", file: "add.py" }),
    calls("workspace_files", {
      ...{ operation: "write", path: "test_add.py" },
      content: "def test_add():\n    assert 20 + 22 == 42\n",
    }),
    calls("run_tests", { runner: "pytest" }),
    (_, context) => says(`add.py and its test: ${readBy(context, /passed: (\d+)/)} passed, exit code 0.`),
  ]);
  expectWhole("workspace", result);
  expect(JSON.stringify(result.events)).toContain("1 passed, exit code 0");
});
