import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { z } from "zod";
import { reportFiles } from "../../domain/index.ts";
import { packageFolder } from "../../storage/engine/packageFolder.ts";
import type { Terminal } from "../terminal.ts";
import type { Host } from "./host.ts";

/** The folder that was asked for, else a new temporary one. */
export async function reportFolder(wanted: string | undefined, { cwd }: Terminal): Promise<string> {
  return resolve(cwd, wanted ?? (await mkdtemp(join(tmpdir(), "labwright-report-"))));
}

const reportSchema = z.looseObject({ report: z.string() });

/** One report of some runs, for a person and for two kinds of program. */
export async function saveReports(host: Host, dir: string, execution_id: readonly string[]): Promise<void> {
  await mkdir(dir, { recursive: true });
  for (const [format, file] of Object.entries(reportFiles)) {
    const { report } = await host.call("get_execution_report", { execution_id, format }, reportSchema);
    await writeFile(join(dir, file), await host.read(report));
  }
}

/** The command that shows the report of a folder in this system's browser. */
export function openText(dir: string): string {
  const programs: Readonly<Record<string, string>> = { darwin: "open", win32: "start" };
  const program = programs[process.platform] ?? "xdg-open";
  return `Open the report: ${program} ${join(dir, reportFiles.html)}\n`;
}

/** How to attach a host. The program has its absolute path, since hosts start it in any folder. */
export function attachText(): string {
  const program = join(packageFolder(), "bin", "labwright.js");
  const config = { mcpServers: { labwright: { command: process.execPath, args: [program, "mcp"] } } };
  return [
    "",
    "To attach Claude Desktop: Settings > Developer > Edit Config, put this into claude_desktop_config.json and restart it:",
    JSON.stringify(config, null, 2),
    "",
    "Then ask it, for example: take control of the browser, open https://example.com and check its heading.",
    "",
  ].join("\n");
}
