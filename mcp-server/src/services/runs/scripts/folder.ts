import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { nearest } from "@labwright/controllers";
import { ToolError } from "../../../errors.ts";
import type { Language, Script } from "../../ports.ts";

/** A file name that is a script's: no path, nothing hidden. */
const scriptName = /^\w[\w .-]{0,195}\.(py|mjs|cjs|js|sh)$/;
const languages: Readonly<Record<string, Language>> = {
  py: "python",
  mjs: "node",
  cjs: "node",
  js: "node",
  sh: "bash",
};
const mostScripts = 1_000;
const headBytes = 2_000;
const descriptionCharacters = 200;

/** The scripts of both folders by name; the user's wins over a shipped one of the same name. */
export async function readScripts(folders: { own: string; shipped: string }): Promise<Script[]> {
  const own = await scriptsIn(folders.own, false);
  const names = new Set(own.map(({ name }) => name));
  const shipped = (await scriptsIn(folders.shipped, true)).filter(({ name }) => !names.has(name));
  return [...own, ...shipped].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Files of the folder itself: links lead elsewhere and are not followed. */
async function scriptsIn(folder: string, shipped: boolean): Promise<Script[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile() && scriptName.test(entry.name));
  return Promise.all(
    files.slice(0, mostScripts).map(async ({ name }): Promise<Script> => {
      const language = languages[name.slice(name.lastIndexOf(".") + 1)] ?? "bash";
      const head = await headOf(join(folder, name));
      const description = descriptionOf(head);
      return { name, language, ...(description && { description }), needs: needsIn(head), shipped, folder };
    }),
  );
}

/** By name, or by its name without the extension where only one has it. */
export function findScript(scripts: readonly Script[], wanted: string): Script {
  const exact = scripts.find(({ name }) => name === wanted);
  if (exact) return exact;
  const alike = scripts.filter(({ name }) => name.slice(0, name.lastIndexOf(".")) === wanted);
  const [only, ...others] = alike;
  if (only && others.length === 0) return only;
  const candidates = alike.length > 0 ? alike.map(({ name }) => name) : nearestOf(scripts, wanted);
  if (alike.length > 0) {
    throw new ToolError("AMBIGUOUS", `Several scripts are called "${wanted}".`, "Give the whole file name.", {
      candidates,
    });
  }
  const offer = candidates.length > 0 ? `Did you mean ${candidates.join(", ")}?` : "list_scripts shows all.";
  throw new ToolError("SCRIPT_NOT_FOUND", `There is no script "${wanted}".`, offer, { nearest: candidates });
}

const nearestOf = (scripts: readonly Script[], wanted: string) =>
  nearest(
    wanted,
    scripts.map(({ name }) => name),
    5,
  );

async function headOf(file: string): Promise<string> {
  try {
    const handle = await open(file);
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(headBytes), 0, headBytes, 0);
      return buffer.toString("utf8", 0, bytesRead);
    } finally {
      await handle.close();
    }
  } catch {
    return "";
  }
}

/** The text of the first comment or, in Python, of the docstring that the file begins with. */
function descriptionOf(head: string): string | undefined {
  const lines = head.split("\n").map((line) => line.trim());
  const first = lines.find((line) => line !== "" && !line.startsWith("#!"));
  const text = /^(?:#+|\/\/+|\/\*+|"""|''')\s*(.*?)\s*(?:\*\/|"""|''')?$/.exec(first ?? "")?.[1];
  return text ? text.slice(0, descriptionCharacters) : undefined;
}

/** The permissions that a comment of the script's head asks for: `labwright needs: save_testcase, force`. */
function needsIn(head: string): string[] {
  const text = /^[ \t]*(?:#|\/\/|\*)+[ \t]*labwright needs:(.*)$/m.exec(head)?.[1] ?? "";
  return text.match(/\w+/g) ?? [];
}
