import { listingOf, runnableTopics, type Thing, type Topic, textOf, topics } from "./listings.ts";
import { notUnderstood, type OfflineAnswer, type OfflineGiven, Request, Settled, stop } from "./request.ts";
import { results } from "./results.ts";
import { orderOf, run } from "./run.ts";
import { perform } from "./steps.ts";
import type { Meaning } from "./words.ts";

export { offlineTools } from "./listings.ts";
export { type OfflineAnswer, requestIn } from "./request.ts";

const understood: readonly Meaning[] = [
  ...(["greeting", "run", "question", "what", "show", "state", "small", "vague"] as const),
  ...topics,
];
const maxLetters = 6_000;

/** Runs or lists what a request names, with no model. Throws what `call` throws; AgentError when a tool fails. */
export async function runOffline(given: OfflineGiven): Promise<OfflineAnswer> {
  const request = new Request(given);
  try {
    await request.read();
    return await answer(request);
  } catch (error) {
    if (error instanceof Settled) return error.answer;
    throw error;
  }
}

function answer(request: Request): Promise<OfflineAnswer> {
  const isPast = request.says("past", "pass", "fail", "result");
  const isAsked = request.leads("question", "what", "why", "show");
  if (request.leads("run") || (request.says("run") && !isPast && !isAsked)) return run(request);
  const said = request.topics();
  const isOfTarget = request.found(runnableTopics).length > 0 && request.says("state", "run");
  const isOfRuns = said.every((topic) => topic === "device" || runnableTopics.includes(topic));
  if (isOfRuns && (isPast || isOfTarget || request.period)) return results(request);
  const found = request.found();
  const isWhole = request.leftOver(understood, found, request.period).length === 0;
  if (said.length + found.length > 0 && (isAsked || isWhole)) return show(request, said, found);
  return offer(request, isWhole && (request.tokens.length === 0 || request.says("greeting", "what")));
}

/** Shows the things that are named of the first topic; else lists every topic that is said. */
async function show(request: Request, said: Topic[], found: Thing[]): Promise<OfflineAnswer> {
  const shown = said.length > 0 ? said : found.slice(0, 1).map(({ topic }) => topic);
  const things = found.filter(({ topic }) => topic === shown[0] && listingOf(topic)[3]);
  const calls = things.map(({ topic, value }) => {
    const [, , , tool = "", argument = ""] = listingOf(topic);
    return { tool, input: { [argument]: value } };
  });
  if (calls.length === 0) calls.push(...shown.map((topic) => ({ tool: listingOf(topic)[0], input: {} })));
  const texts: string[] = [];
  for (const { tool, input } of calls) {
    const text = textOf(await request.call(tool, input));
    texts.push(text.length > maxLetters ? `${text.slice(0, maxLetters)}\n[cut]` : text);
  }
  const left = request.leftOver(understood, things);
  const text = [...texts, notUnderstood(left)].filter(Boolean).join("\n");
  return { text, outcome: left.length > 0 ? "needs_input" : "done" };
}

/** Steps that the server reads; else three requests about what there is, with how to go on. */
async function offer(request: Request, isUnderstood: boolean): Promise<OfflineAnswer> {
  const isOfSteps = request.topics().every((topic) => topic === "app" || topic === "device");
  const done = isUnderstood || !isOfSteps ? undefined : await perform(request);
  if (done) return done;
  const [device] = await request.all("device");
  const [test] = (await request.all("testcase")).filter(({ row }) => !row.inputs && !row.userinterface_name);
  const examples = [
    test && device ? orderOf(test, device) : "List the scripts",
    test ? `Did the test case "${test.value}" pass today?` : "What ran today?",
    device ? `Show the device "${device.value}"` : "List the test cases",
  ];
  const list = examples.map((text) => `- ${text}`).join("\n");
  if (isUnderstood) return { text: `Three requests that work here:\n${list}`, outcome: "done" };
  const can = "runs a script or a test case, lists what there is and reports what ran";
  const { candidates } = request.given;
  const skills = candidates.length > 0 ? `, which would use one of the skills ${candidates.join(", ")}` : "";
  return stop(`This takes a model${skills}. Without one, Labwright ${can}.
Set ANTHROPIC_API_KEY and ask again, or ask for example ${examples.map((text) => `“${text}”`).join(", ")}.`);
}
