import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ToolError } from "../../errors.ts";
import type { Catalogue } from "../../registry/catalogue.ts";
import { nearestTools } from "../../registry/registry.ts";
import type { WireTool } from "../../registry/wire.ts";
import { packageFolder } from "../../storage/engine/packageFolder.ts";
import { type ExitCode, exitCodes, type Terminal, table, wrapText } from "../terminal.ts";
import { argumentsOf, exampleOf } from "./toolArguments.ts";

/** `labwright tools [name]`: the tools of this build by skill, or one with its arguments. Needs no daemon. */
export function runTools(name: string | undefined, terminal: Pick<Terminal, "out" | "columns">): ExitCode {
  const catalogue: Catalogue = JSON.parse(
    readFileSync(join(packageFolder(), "dist", "catalogue.json"), "utf8"),
  );
  const { tools } = catalogue;
  if (name === undefined) terminal.out(bySkill(catalogue, terminal.columns));
  else
    terminal.out(oneTool(tools.find((tool) => tool.name === name) ?? unknown(name, tools), terminal.columns));
  return exitCodes.passed;
}

/** A tool of several skills is listed under each of them. */
function bySkill({ tools, skills }: Catalogue, columns: number | undefined): string {
  const homeless = tools.filter(({ name }) => !skills.some((skill) => skill.tools.includes(name)));
  const groups = [
    ...skills.map((skill) => ({
      title: skill.name,
      own: tools.filter(({ name }) => skill.tools.includes(name)),
    })),
    ...(homeless.length > 0 ? [{ title: "in no skill", own: homeless }] : []),
  ];
  const rows = groups.flatMap(({ title, own }) => [
    [title, ""],
    ...own.map(({ name, description }) => [`  ${name}`, description]),
  ]);
  const listing = table(["skill and its tools", "what a tool does"], rows, columns);
  return `${listing}\nWhat a tool takes: labwright tools execute_testcase\n`;
}

function oneTool(tool: WireTool, columns: number | undefined): string {
  const rows = argumentsOf(tool.inputSchema).map(({ name, type, isRequired, about }) => [
    ...[name, type, isRequired ? "required" : "", about],
  ]);
  const taken =
    rows.length === 0
      ? "It takes no arguments.\n"
      : table(["argument", "type", "", "meaning"], rows, columns);
  const example = exampleOf(tool.inputSchema);
  const json = Object.keys(example).length === 0 ? "" : ` --json '${JSON.stringify(example)}'`;
  const head = wrapText(`${tool.name}: ${tool.description}\n`, columns, 0);
  return `${head}\n${taken}\nExample:\n  labwright call ${tool.name}${json}\n`;
}

const asNamed = ({ name, annotations: { readOnlyHint, destructiveHint } }: WireTool) => ({
  name,
  effect: readOnlyHint ? ("read" as const) : destructiveHint ? ("destructive" as const) : ("write" as const),
});

function unknown(name: string, tools: readonly WireTool[]): never {
  const near = nearestTools(name, tools.map(asNamed), 3);
  const hint = near.length > 0 ? `Did you mean ${near.join(", ")}?` : "labwright tools lists all.";
  throw new ToolError("TOOL_NOT_FOUND", `There is no tool "${name}".`, hint);
}
