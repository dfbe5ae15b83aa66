import { z } from "zod";
import type { ToolCall, ToolSpec } from "../ports.ts";
import { type Kind, kindOfArgument } from "./lookups.ts";
import type { Read } from "./plans.ts";
import { type Request, textOf } from "./request.ts";
import { mayName } from "./words.ts";

type Input = ToolCall["input"];

/** Of more devices only the first are asked. */
const maxDevices = 30;
/** Of a skill without a plan, so many readings at most. */
const maxReads = 3;
/** What is shown of one result. */
const maxLetters = 6_000;

/** Looks at what the request asks for or names. Undefined when it names nothing that the skill could look at. */
export async function look(request: Request, plan: readonly Read[] | undefined): Promise<string | undefined> {
  const texts: string[] = [];
  for (const { tool, input } of await chosenCalls(
    request,
    plan ?? readsOf(request.specs),
    plan === undefined,
  ))
    texts.push(await answerOf(request, tool, input));
  return texts.length > 0 ? texts.join("\n\n") : undefined;
}

async function answerOf(request: Request, tool: string, input: Input): Promise<string> {
  const result = await request.call({ name: tool, input });
  const text = textOf(result);
  if (result.isError) return `${tool} failed. ${text}`;
  return text.length > maxLetters ? `${text.slice(0, maxLetters)}\n[cut]` : text;
}

/** Every reading of a skill without a plan: those of what is named, else the first that needs no name. */
function readsOf(specs: readonly ToolSpec[]): Read[] {
  const readings = specs.filter(({ readOnly }) => readOnly);
  const overview = readings.find(
    (spec) => requiredOf(spec).length === 0 && !("device_id" in propertiesOf(spec)),
  );
  return readings.map((spec) => ({ tool: spec.name, ...(spec === overview && { usual: true }) }));
}

async function chosenCalls(
  request: Request,
  reads: readonly Read[],
  isShort: boolean,
): Promise<{ tool: string; input: Input }[]> {
  const wishes = request.wishes();
  const chosen = new Map<Read, readonly Input[]>();
  for (const read of reads) {
    const isAsked = read.always === true || read.asked?.some((wish) => wishes.has(wish)) === true;
    const isOnlyNamed = read.asked === undefined && read.usual !== true;
    if (isAsked || isOnlyNamed) chosen.set(read, await inputsOf(request, read, isAsked));
    if (isShort && chosenOf(chosen).length >= maxReads) break;
  }
  const asked = chosenOf(chosen);
  if (asked.length > 0) return asked;
  for (const read of reads.filter(({ usual }) => usual))
    chosen.set(read, await inputsOf(request, read, true));
  return chosenOf(chosen);
}

const chosenOf = (chosen: ReadonlyMap<Read, readonly Input[]>) =>
  [...chosen].flatMap(([{ tool }, inputs]) => inputs.map((input) => ({ tool, input })));

/** The arguments of each call, none when something is missing. What is asked for and lacks a name is a question. */
async function inputsOf(request: Request, read: Read, isAsked: boolean): Promise<Input[]> {
  const spec = request.specs.find(({ name, readOnly }) => name === read.tool && readOnly);
  if (spec === undefined) return [];
  const named = await namesFor(request, read, spec, isAsked);
  if (named === undefined) return [];
  const wishes = request.wishes();
  const [, asked = {}] = read.options?.find(([wish]) => wishes.has(wish)) ?? [];
  const input = { ...asked, ...named };
  if (!("device_id" in propertiesOf(spec))) return [input];
  const devices = await devicesFor(request, read);
  return devices.map((device) => ({ ...input, device_id: device }));
}

async function devicesFor(request: Request, { devices }: Read): Promise<readonly string[]> {
  if (devices === "one") return [await request.need("device")];
  const named = await request.findAll("device");
  if (named.length > 0 || devices !== "all") return named.slice(0, maxDevices);
  return (await request.all("device")).things.slice(0, maxDevices).map(({ value }) => value);
}

/** Undefined when something is missing that the tool must have. */
async function namesFor(
  request: Request,
  read: Read,
  spec: ToolSpec,
  isAsked: boolean,
): Promise<Input | undefined> {
  const input: Record<string, unknown> = {};
  for (const name of requiredOf(spec)) {
    const kind = kindOfArgument[name];
    const value = kind && (await requiredName(request, read, kind, isAsked));
    if (value === undefined) return undefined;
    input[name] = value;
  }
  const mayBeNamed = request.rest().some(mayName);
  for (const [name, kind] of Object.entries(read.fill ?? {})) {
    const value = mayBeNamed ? await request.find(kind) : undefined;
    if (value !== undefined) input[name] = value;
  }
  return input;
}

async function requiredName(request: Request, { needsRun }: Read, kind: Kind, isAsked: boolean) {
  if (kind === "execution")
    return (await request.executionId()) ?? (needsRun ? request.need("execution") : undefined);
  return isAsked ? request.need(kind) : request.find(kind);
}

const requiredOf = ({ input_schema }: ToolSpec): string[] =>
  z.array(z.string()).catch([]).parse(input_schema.required);
const propertiesOf = ({ input_schema }: ToolSpec): Record<string, unknown> =>
  z.record(z.string(), z.unknown()).catch({}).parse(input_schema.properties);
