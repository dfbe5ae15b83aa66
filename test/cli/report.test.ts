import { access, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { runCommand } from "#mcp-server/cli/main.ts";
import {
  ctrfReport,
  htmlReport,
  junitReport,
  type ReportEntry,
  readReport,
} from "#mcp-server/services/runs/reports/index.ts";
import {
  failedEntry,
  head,
  historyOf,
  hostileEntry,
  passedEntry,
  redPicture,
} from "../services/runs/reports/samples.ts";

let cwd: string;
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "labwright-merge-"));
});
afterAll(() => rm(cwd, { recursive: true, force: true }));

let printed: string;
let complained: string;
beforeEach(() => {
  printed = "";
  complained = "";
});

const merge = (...args: string[]) =>
  runCommand(["report", "merge", ...args], {
    out: (text) => {
      printed += text;
    },
    err: (text) => {
      complained += text;
    },
    env: {},
    cwd,
    signal: new AbortController().signal,
  });

const pictures = new Map(["artifact://aa", "artifact://bb"].map((uri) => [uri, redPicture]));
const requirements = [{ code: "REQ-1", name: "Counts", coverage: "full" as const }];
const passed = passedEntry();
const failed: ReportEntry = { ...failedEntry(pictures), requirements, history: historyOf(2) };

async function shard(name: string, ...entries: ReportEntry[]): Promise<string> {
  await mkdir(join(cwd, name), { recursive: true });
  await writeFile(join(cwd, name, "report.html"), htmlReport(entries, head));
  return name;
}
const read = (folder: string, file: string) => readFile(join(cwd, folder, file), "utf8");
const withoutHead = (ctrf: string) => ({ ...JSON.parse(ctrf), reportId: "", timestamp: "" });

test("the reports of shards become those that one run of all tests would have written", async () => {
  const shards = [await shard("one", passed), await shard("two", failed, hostileEntry())];
  expect(await merge(...shards, "--report", "all")).toBe(2);
  expect(printed).toContain(join(cwd, "all", "report.html"));
  expect(printed).toContain("3 runs: 1 passed, 1 failed, 1 error");
  const entries = [passed, failed, hostileEntry()];
  expect(await read("all", "junit.xml")).toBe(junitReport(entries));
  expect(withoutHead(await read("all", "ctrf.json"))).toEqual(withoutHead(ctrfReport(entries, head)));
  const page = await read("all", "report.html");
  expect(page.split("data:image/png;base64,")).toHaveLength(3);
  expect(page).toContain("<b>REQ-1</b> Counts");
  expect(page).toContain("flaky, 2025-12-30 09:00:00 UTC");
  // What was merged can be merged again.
  expect(readReport(page).entries.map(({ execution, history }) => [execution.name, history])).toEqual(
    entries.map(({ execution, history }) => [execution.name, history]),
  );
  expect(await readdir(join(cwd, "all"))).toEqual(["ctrf.json", "junit.xml", "report.html"]);
});

test("what a stranger's page names as a trace is neither a link that runs code nor a file elsewhere", async () => {
  const files = [
    "traces/kept.zip",
    "videos/kept.webm",
    "videos/page.html",
    "https://evil.test/a.webm",
    "../evil/javascript:alert(1).zip",
    "javascript:alert(1)",
    "/etc/passwd",
    "../../../.ssh/id_rsa",
    "traces/a.zip\n]][[ATTACHMENT|/etc/shadow",
  ];
  const name = await shard("evil", { ...passedEntry(), files });
  expect(await merge(name, "--report", "judged"), complained).toBe(0);
  const page = await read("judged", "report.html");
  const links = [...page.matchAll(/href="([^"#]+)/g)].map(([, link]) => link);
  expect(links).toContain("../evil/traces/kept.zip");
  expect(links.filter((link) => !/kept\.\w+$|^data:/.test(link ?? ""))).toEqual([]);
  expect(page).toMatch(/<video [^>]*src="\.\.\/evil\/videos\/kept\.webm"/);
  for (const file of ["junit.xml", "ctrf.json"])
    expect(await read("judged", file)).not.toMatch(/passwd|id_rsa|shadow|javascript|evil\.test|page\.html/);
});

test("a picture that two shards have stands once in the merged page", async () => {
  const other = { ...failed, execution: { ...failed.execution, id: "another" } };
  const shards = [await shard("same", failed), await shard("picture", other)];
  expect(await merge(...shards, "--report", "once")).toBe(1);
  expect((await read("once", "report.html")).split("data:image/png;base64,")).toHaveLength(3);
});

test("the exit code is that of one run of all tests", async () => {
  const good = await shard("good", passed);
  const bad = await shard("bad", failed);
  const none = await shard("none");
  expect(await merge(good, none, "--report", "out")).toBe(0);
  expect(await merge(good, bad, "--report", "out")).toBe(1);
  expect(await merge(none, "--report", "out")).toBe(2);
  expect(printed).toContain("0 runs: 0 passed");
  expect(await read("out", "report.html")).toContain("No test ran");
});

test.each([
  ["a folder that is not there", ["nowhere"], /no folder .*nowhere/],
  ["a folder without a report", ["empty"], /empty holds no report: it has no report\.html/],
  ["a page of another program", ["foreign"], /foreign.report\.html cannot be merged: it is not a report/],
  ["a page that was cut off", ["cut"], /cut.report\.html cannot be merged: .*cut off/],
  ["a damaged page", ["damaged"], /damaged.report\.html cannot be merged: .*damaged/],
  ["a page of a later version", ["later"], /later.report\.html cannot be merged: another version/],
  ["the same folder twice", ["a", "a"], /The run .* of "Counts what is left" is twice in .*a\./],
  ["the same run in two folders", ["a", "b"], /is in .*a and in .*b\.[\s\S]*Name each folder once/],
  ["the folder of the report itself", ["a", "kept"], /kept is one of the folders to merge/],
])("%s is refused in words, with exit code 2 and nothing written", async (_, folders, words) => {
  await shard("a", failed);
  await shard("b", failed);
  await mkdir(join(cwd, "empty"), { recursive: true });
  const page = htmlReport([failed], head);
  const pages = {
    foreign: "<!doctype html><h1>Hi</h1>",
    cut: page.slice(0, page.indexOf("data-format") + 200),
    damaged: page.replace(/(data-format="3">.{40}).{9}/, "$1AAAAAAAAA"),
    later: page.replace('data-format="3"', 'data-format="4"'),
    kept: htmlReport([passed], head),
  };
  for (const [name, text] of Object.entries(pages)) {
    await mkdir(join(cwd, name), { recursive: true });
    await writeFile(join(cwd, name, "report.html"), text);
  }
  expect(await merge(...folders, "--report", "kept")).toBe(2);
  expect(complained).toMatch(words);
  expect(await read("kept", "report.html")).toBe(pages.kept);
  expect(await readdir(join(cwd, "kept"))).toEqual(["report.html"]);
});

test("a place that cannot be written leaves the older report as it was", async () => {
  const good = await shard("fresh", passed);
  await shard("older", failed);
  await mkdir(join(cwd, "older", "junit.xml"));
  expect(await merge(good, "--report", "older")).toBe(2);
  expect(complained).toContain("junit.xml is a folder");
  expect(await read("older", "report.html")).toBe(htmlReport([failed], head));
  expect((await readdir(join(cwd, "older"))).sort()).toEqual(["junit.xml", "report.html"]);
});

test("without folders or --report it says what is missing", async () => {
  expect(await merge("--report", "x")).toBe(2);
  expect(complained).toContain("folder");
  expect(await merge("somewhere")).toBe(2);
  expect(complained).toContain("--report");
  await expect(access(join(cwd, "x"))).rejects.toThrow();
});
