import { listingOf, named, type Thing, type Topic, textOf, topics } from "./listings.ts";
import { notUnderstood, type OfflineAnswer, type OfflineGiven, Request, Settled, stop } from "./request.ts";
import { results } from "./results.ts";
import { isRunOrder, run } from "./runs.ts";
import { isUnderstood, type Meaning, means } from "./words.ts";

const listed: readonly Meaning[] = ["run", "question", "show", "state", "small", ...topics];
const maxLetters = 6_000;
const argumentOf: Partial<Record<Topic, string>> = { app: "userinterface_name", device: "device" };

/**
 * Does of a request, with no model, what needs no judgement: runs a script or test case that it names and asks to run, shows
 * what there is, tells what ran. Throws what `call` throws, and an AgentError when a tool fails.
 */
export async function runOffline(given: OfflineGiven): Promise<OfflineAnswer> {
  const request = new Request(given);
  try {
    return (await statusOfRun(request)) ?? (await answer(request));
  } catch (error) {
    if (error instanceof Settled) return error.answer;
    throw error;
  }
}

async function answer(request: Request): Promise<OfflineAnswer> {
  const isPast = request.says("past", "pass", "fail");
  const isAsked = means(request.lead, "question", "show");
  const isOrder = isRunOrder(request);
  if (request.says("run") && request.says("not") && !isPast)
    stop("Nothing was run: the request says not to.");
  if (isOrder || (request.says("run") && !isPast && !isAsked)) return run(request, isOrder);
  if (request.tokens.every((token) => isUnderstood(token, ["greeting"]))) return offer(request);
  const said = [...new Set(request.tokens.flatMap((token) => topics.filter((topic) => means(token, topic))))];
  const isOfRuns = said.every((topic) => ["script", "testcase", "device"].includes(topic));
  const period = isOfRuns ? request.time() : undefined;
  if (isOfRuns && (isPast || period)) return results(request, period);
  return answerByNames(request, said, isAsked);
}

/** What neither runs anything nor tells of runs by its words. */
async function answerByNames(
  request: Request,
  said: readonly Topic[],
  isAsked: boolean,
): Promise<OfflineAnswer> {
  const before = request.rest;
  const isOpen = request.unknown(listed).length > 0;
  const found = isOpen ? (await request.find(...named.map((topic) => [topic]))).flat() : [];
  const isWhole = request.unknown(listed).length === 0;
  const runs = found.some(({ topic }) => topic === "script" || topic === "testcase");
  if (runs && said.length === 0 && (isAsked || isWhole)) {
    request.rest = before;
    return isAsked ? results(request, undefined) : run(request, false);
  }
  if (said.length + found.length > 0 && (isAsked || isWhole)) return show(request, said, found);
  return isWhole ? offer(request) : needsModel(request);
}

/** Of a run that is named by its id: twelve lower-case letters and digits. One without a digit may be a word. */
async function statusOfRun({ given }: Request): Promise<OfflineAnswer | undefined> {
  const [id] = given.text.match(/(?<![\w-])(?=[a-z]*\d)[a-z\d]{12}(?![\w-])/) ?? [];
  if (id === undefined) return undefined;
  const result = await given.call({ name: "get_execution_status", input: { execution_id: id } });
  return { text: textOf(result), outcome: result.isError ? "needs_input" : "done" };
}

/** What there is of the topics that are said, or the things that are named; an app or a device narrows a listing. */
async function show(
  request: Request,
  said: readonly Topic[],
  found: readonly Thing[],
): Promise<OfflineAnswer> {
  const shown = found.length === 0 ? said : [said[0] ?? found[0]?.topic ?? "device"];
  const unused = new Set(found);
  const texts: string[] = [];
  for (const topic of shown)
    for (const [tool, input, things] of callsFor(request, topic, found)) {
      texts.push(await textFrom(request, tool, input));
      for (const thing of things) unused.delete(thing);
    }
  const left = request.unknown(listed);
  const values = [...unused].map(({ value }) => value).join(", ");
  const notes = [notUnderstood(left), values && `This is not only of ${values}.`];
  const outcome = left.length + unused.size > 0 ? "needs_input" : "done";
  return { text: [...texts, ...notes].filter(Boolean).join("\n"), outcome };
}

type ListCall = [tool: string, input: Record<string, string>, things: readonly Thing[]];

function callsFor({ given }: Request, topic: Topic, found: readonly Thing[]): ListCall[] {
  const { tool, one } = listingOf(topic);
  const own = found.filter((thing) => thing.topic === topic);
  if (one && own.length > 0) return own.map((thing) => [one[0], { [one[1]]: thing.value }, [thing]]);
  const takes = given.specs.find(({ name }) => name === tool)?.input_schema.properties;
  const filters = found.filter((thing) => Object.hasOwn(Object(takes), argumentOf[thing.topic] ?? ""));
  return [
    [tool, Object.fromEntries(filters.map((thing) => [argumentOf[thing.topic], thing.value])), filters],
  ];
}

async function textFrom(request: Request, tool: string, input: Record<string, string>): Promise<string> {
  const text = textOf(await request.call(tool, input));
  return text.length > maxLetters ? `${text.slice(0, maxLetters)}\n[cut]` : text;
}

async function offer(request: Request): Promise<OfflineAnswer> {
  const requests = (await requestsFor(request)).map((text) => `- ${text}`);
  return { text: ["Three requests that work here:", ...requests].join("\n"), outcome: "done" };
}

async function needsModel(request: Request): Promise<never> {
  const examples = (await requestsFor(request)).map((text) => `“${text}”`).join(", ");
  const can = "runs a script or a test case, shows what there is and tells what ran";
  return stop(
    `This takes a model. Without one, Labwright ${can}.\nSet ANTHROPIC_API_KEY and ask again, or ask for example ${examples}.`,
  );
}

/** Three requests about what is there. */
async function requestsFor(request: Request): Promise<[string, string, string]> {
  const [device] = await request.all("device");
  const [test] = (await request.all("testcase")).filter(({ row }) => !row.inputs && !row.userinterface_name);
  const [runnable] = test ? [test] : await request.all("testcase", "script");
  return [
    test && device ? `Run the test case "${test.value}" on ${device.value}` : "List the scripts",
    runnable ? `Did "${runnable.value}" pass today?` : "What ran today?",
    device ? `Show the device ${device.value}` : "List the test cases",
  ];
}
