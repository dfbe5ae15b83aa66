import { randomUUID } from "node:crypto";
import { z } from "zod";
import { freePort } from "../fixtures/loopback.ts";
import type { Measurement } from "./rows.ts";
import type { Sides } from "./sides.ts";
import type { Reply, StdioServer } from "./stdioServer.ts";
import { down, slowApp, slowMachine } from "./verdictAround.ts";
import { appBugs, moreBugs } from "./verdictBugs.ts";
import { browserProcesses, loadMachine, selfSigned, signalAll, standStill } from "./verdictFaults.ts";
import { frozen, lost, sound, wrongTests } from "./verdictOthers.ts";
import { type Cause, type Fault, html, type Places, type Run, type Runs } from "./verdictRun.ts";
import { shopRuns } from "./verdictShop.ts";
import { openSite, type Site } from "./verdictSite.ts";

/** Longer than any deadline of the corpus: a run that takes so long hangs. */
const runLimitMs = 25_000;
/** A stall of twice the corpus's deadlines, and one that is far below half of one. */
const stallMs = { long: 8_000, short: 400 };

const of = (cause: Cause, runs: Runs): Run[] => runs.map((run) => ({ ...run, cause }));

/** In the order in which they run: causes that disturb the device stand among ones that must not notice. */
const corpus: readonly Run[] = [
  ...interleave([
    of("app bug", [...appBugs, ...moreBugs]),
    of("app down", down),
    of("slow app", slowApp),
    of("wrong test", wrongTests),
    of("slow machine", slowMachine),
    of("none", sound),
    of("lost browser", lost),
  ]),
  ...of("frozen page", frozen),
];

/** Failing runs whose verdict a loaded machine must not change. */
const loadedCorpus: readonly Run[] = of("app bug, loaded machine", appBugs);

function interleave(groups: readonly (readonly Run[])[]): Run[] {
  const most = Math.max(...groups.map(({ length }) => length));
  return Array.from({ length: most }, (_, at) => groups.flatMap((group) => group.slice(at, at + 1))).flat();
}

/** `execution_id` is missing where the test was refused before it ran. */
type Seen = { status: string; code: string; message: string; steps: string; execution_id?: string };
/** Called after each run with its end, while the daemon that ran it is there. */
type Visit = (run: Run, execution_id: string | undefined, server: StdioServer) => Promise<void>;
type Lab = {
  server: StdioServer;
  daemonPid(): Promise<number>;
  control: Site;
  outside: Pick<Places, "closed" | "unknownHost" | "badCertificate">;
};

/** Runs of a known cause, through the real daemon: whether the verdict's class and code are what the cause calls for. */
export const measureVerdicts = (sides: Sides, note: (line: string) => void): Promise<Measurement[]> =>
  withLab(sides, async (lab) => {
    const markers = [await openNoisyPage(lab)];
    const calm = await judgeAll(corpus, { ...lab, markers }, note);
    const unload = loadMachine();
    await openNoisyPage(lab);
    const loaded = await judgeAll(loadedCorpus, { ...lab, markers }, note).finally(unload);
    return [shareOf("verdict.right", [...calm, ...loaded])];
  });

/** The runs of {@link measureVerdicts} on an idle machine and on a loaded one, each given to `visit` when it has ended. */
export const visitVerdicts = (sides: Sides, visit: Visit): Promise<void> =>
  withLab(sides, async (lab) => {
    const quiet = () => {};
    await judgeAll(corpus, { ...lab, markers: [], visit }, quiet);
    const unload = loadMachine();
    await judgeAll(loadedCorpus, { ...lab, markers: [], visit }, quiet).finally(unload);
  });

/** A shop whose six users each see other faults, or none: whether each try of each has the verdict that it calls for. */
export const measureShop = (sides: Sides, note: (line: string) => void): Promise<Measurement[]> =>
  withLab(sides, async (lab) => [
    shareOf("shop.right", await judgeAll(shopRuns, { ...lab, markers: [] }, note)),
  ]);

const shareOf = (id: string, right: readonly boolean[]): Measurement => ({
  id,
  ours: right.filter(Boolean).length / right.length,
  runs: right.length,
});

async function withLab<Result>(sides: Sides, use: (lab: Lab) => Promise<Result>): Promise<Result> {
  const dataDir = await sides.newDataDir();
  const server = sides.ours(dataDir);
  const [control, secure] = [await openSite(), await openSite(selfSigned(sides.scratch))];
  const lab: Lab = {
    server,
    control,
    outside: {
      closed: `http://127.0.0.1:${await freePort()}/`,
      unknownHost: "http://no-such-host.invalid/",
      badCertificate: secure.url("/"),
    },
    async daemonPid() {
      const pid = await sides.daemonPid(dataDir);
      if (pid === undefined) throw new Error("There is no daemon.");
      return pid;
    },
  };
  try {
    await server.initialize();
    return await use(lab);
  } finally {
    await server.end();
    await Promise.all([control.close(), secure.close()]);
  }
}

/** A page of the caller's own that fails again and again next to the runs; what it says is wanted for none of them. */
async function openNoisyPage({ server, control }: Lab): Promise<string> {
  const marker = "marker-of-the-caller";
  const body = `<h1>Mine</h1><script>setInterval(() => { throw new Error("${marker} " + performance.now()) }, 250)</script>`;
  control.answer("/mine", html(body));
  const actions = [{ command: "navigate_to_url", params: { url: control.url("/mine") } }];
  await server.call("execute_device_action", { actions });
  return marker;
}

/**
 * Whether each run has its verdict, and no notice of another run. `markers`: texts that no run may be reported of; each run adds
 * its own for the runs after it.
 */
async function judgeAll(
  runs: readonly Run[],
  { markers, visit, ...lab }: Lab & { markers: string[]; visit?: Visit },
  note: (line: string) => void,
): Promise<boolean[]> {
  const judged: boolean[] = [];
  for (const run of runs) {
    const marker = `marker-${randomUUID().slice(0, 8)}`;
    const started = performance.now();
    const seen = await perform(run, marker, lab);
    const seconds = ((performance.now() - started) / 1_000).toFixed(1);
    const { status, code } = run.expected;
    const hasVerdict = seen.status === status && (code === undefined || seen.code === code);
    const isForeign = markers.some((other) => seen.steps.includes(other));
    const isRight = hasVerdict && !isForeign;
    markers.push(marker);
    judged.push(isRight);
    await visit?.(run, seen.execution_id, lab.server);
    const wanted = [status, code].filter(Boolean).join(" ");
    const got = hasVerdict ? "" : `  SEEN ${seen.status} ${seen.code}: ${seen.message.slice(0, 160)}`;
    const mark = isForeign ? "  A NOTICE OF ANOTHER RUN" : "";
    note(`${isRight ? "ok " : "NO "} ${run.cause}: ${run.name} -> ${wanted} (${seconds} s)${got}${mark}`);
  }
  return judged;
}

/** One run on servers of its own, so that one that is closed is missed by no other client. */
async function perform(run: Run, marker: string, lab: Lab): Promise<Seen> {
  const site = await openSite();
  const gate = `/gate/${marker}`;
  const places: Places = { at: (page) => site.url(`/${page}`), gate: lab.control.url(gate), ...lab.outside };
  for (const [name, answer] of Object.entries(run.pages ?? {})) {
    // An error of the page that only this run may be reported of.
    const body = `${answer.body ?? ""}<script>setTimeout(() => { throw new Error("${marker}") }, 100)</script>`;
    const isPage = answer.body?.includes("<") && !answer.body.startsWith("{");
    site.answer(`/${name}`, isPage ? { ...answer, body } : answer);
  }
  const once = fault(run.fault, site, lab);
  lab.control.on(gate, once);
  // The page need not wait for what becomes of it.
  site.on("/seen", async () => void once().catch(() => undefined));
  try {
    return await execute(run, marker, places, lab.server);
  } finally {
    await site.close();
  }
}

/** What makes the fault happen, once. */
function fault(kind: Fault | undefined, site: Site, { daemonPid }: Lab): () => Promise<void> {
  let happened: Promise<void> | undefined;
  const happen = async (): Promise<void> => {
    if (kind === undefined) return;
    const daemon = await daemonPid();
    const ms = kind.endsWith("shortly") ? stallMs.short : stallMs.long;
    if (kind === "close app") await site.close();
    else if (kind === "kill browser") signalAll(await browserProcesses(daemon), "SIGKILL");
    else await standStill(kind.startsWith("stop browser") ? await browserProcesses(daemon) : [daemon], ms);
  };
  return () => {
    happened ??= happen();
    return happened;
  };
}

const replySchema = z.looseObject({
  status: z.string(),
  execution_id: z.string(),
  reason: z.looseObject({ code: z.string(), message: z.string() }).optional(),
});

async function execute(run: Run, marker: string, places: Places, server: StdioServer): Promise<Seen> {
  const app = run.app?.(places);
  if (app) {
    const { url, nodes, edges } = app;
    const whole = { format_version: 1, name: marker, models: ["web"], app: { url }, tree: { nodes, edges } };
    await server.call("import_userinterface", { yaml: JSON.stringify(whole) });
  }
  const saved = await server.call("save_testcase", { testcase: testcaseOf(run, marker, places) }, mayFail);
  if (saved.isError) return refused(saved);
  const asked = { testcase: marker, wait_ms: runLimitMs + 15_000, timeout_ms: run.timeoutMs ?? runLimitMs };
  const reply = await server.call("execute_testcase", asked, mayFail);
  if (reply.isError) return refused(reply);
  const { status, reason, execution_id } = replySchema.parse(reply.structured);
  const steps = await server.call("get_execution_status", { execution_id, max_tokens: 20_000 }, mayFail);
  return {
    status,
    code: reason?.code ?? "",
    message: reason?.message ?? "",
    execution_id,
    steps: `${reply.text}\n${JSON.stringify(reply.structured)}\n${steps.text}`,
  };
}

const mayFail = { mayFail: true };

/** A test that is refused before it runs could not be judged: an error, with the code of the refusal. */
const refused = ({ text }: Reply): Seen => ({
  status: "error",
  code: /\b[A-Z]+(?:_[A-Z]+)+\b/.exec(text)?.[0] ?? "",
  message: text,
  steps: text,
});

function testcaseOf(run: Run, name: string, places: Places) {
  const blocks = [{ id: "start", type: "start" }, ...run.blocks(places), { id: "done", type: "success" }];
  const ids = blocks.map(({ id }) => id);
  const edges = ids.slice(1).map((to, index) => ({ from: ids[index], to }));
  return { name, blocks, edges, ...(run.app && { userinterface_name: name }) };
}
