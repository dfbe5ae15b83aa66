import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { stringify } from "yaml";
import { z } from "zod";
import { configFile, dataDirectory } from "../../config/places.ts";
import { trustFolder } from "../../config/trust.ts";
import { ToolError } from "../../errors.ts";
import { runStop } from "../commands/control.ts";
import type { DaemonOptions } from "../options.ts";
import { done, unending } from "../run/connection.ts";
import { readSlot, takeSlot } from "../run/slots.ts";
import { type ExitCode, exitCodes, type Terminal } from "../terminal.ts";
import { withDaemon } from "../withDaemon.ts";
import { schemaPath } from "./content.ts";

export type InitOptions = DaemonOptions & { url?: string | undefined; device?: string | undefined };

/**
 * `labwright init [url]`: looks at a page in the browser and writes `labwright/` with the app and a test of it that passes.
 * Asks for the address where a person can type. Throws INVALID_INPUT without an address and when the app has a file already,
 * and what the device says of a page that does not open; then nothing is written.
 */
export async function runInit(options: InitOptions, terminal: Terminal): Promise<ExitCode> {
  const url = readUrl(await givenUrl(options.url, terminal));
  const name = nameOf(url);
  const app = join(terminal.cwd, "labwright", "apps", `${name}.yaml`);
  const test = join(terminal.cwd, "labwright", "tests", `${name}.yaml`);
  refuseExisting([app, test], name, terminal);
  const page = await lookAt(url, options, terminal).catch(async (error: unknown) => {
    await allowWithoutSandbox(error, options, terminal);
    return lookAt(url, options, terminal);
  });
  const files = [
    ["app", app, appText(name, url, page)],
    ["test", test, testText(name, page)],
  ] as const;
  for (const [kind, file, text] of files) {
    mkdirSync(dirname(file), { recursive: true });
    const schema = schemaPath(file, kind, terminal.cwd);
    const line = schema === undefined ? "" : `# yaml-language-server: $schema=${schema}\n`;
    writeFileSync(file, `${line}${text}`, { flag: "wx" });
    terminal.out(`${relative(terminal.cwd, file)}\n`);
  }
  terminal.out("Run the test: labwright run labwright\n");
  return exitCodes.passed;
}

/** The address on the command line, else the one that a person types. */
async function givenUrl(url: string | undefined, { ask }: Terminal): Promise<string> {
  const text = (url ?? (await ask?.("The address of your page, such as http://localhost:3000: ")))?.trim();
  if (text) return text;
  throw new ToolError(
    "INVALID_INPUT",
    "init needs the address of your page.",
    "Give it: labwright init http://localhost:3000",
  );
}

function refuseExisting(files: readonly string[], name: string, { cwd }: Terminal): void {
  const existing = files.filter((file) => existsSync(file)).map((file) => relative(cwd, file));
  if (existing.length === 0) return;
  throw new ToolError(
    "INVALID_INPUT",
    `The app ${name} is here already: ${existing.join(", ")}.`,
    "Nothing was changed. Run its tests: labwright run labwright",
  );
}

export function readUrl(text: string): URL {
  const url = URL.parse(/^[a-z]+:/i.test(text) ? text : `http://${text}`);
  if (url !== null && /^https?:$/.test(url.protocol)) return url;
  throw new ToolError(
    "INVALID_INPUT",
    `"${text}" is not the address of a page.`,
    "For example: labwright init http://localhost:3000",
  );
}

/** `shop.example` or `localhost-3000`, without what an app's file cannot have in its name. */
const nameOf = ({ hostname, port }: URL) => {
  const host = hostname
    .replace(/^www\./, "")
    .replace(/[^a-z0-9.-]+/gi, "-")
    .replace(/^-|[-.]$/g, "");
  return port === "" ? host : `${host}-${port}`;
};

type Page = { title: string; heading: string | undefined };

async function lookAt(url: URL, options: InitOptions, terminal: Terminal): Promise<Page> {
  return withDaemon(options, terminal, { command: "init" }, async (connection) => {
    const call = (name: string, args: Record<string, unknown>) =>
      connection.call(name, args, terminal.signal);
    const named = options.device === undefined ? {} : { device_id: options.device };
    const slot = await takeSlot(named, connection, terminal);
    // The folder's own page stays where it is, if another browser can be opened.
    const copy = { device_id: slot.device, copy: {} };
    const copied = slot.isFolders
      ? await readSlot(call("take_control", copy)).catch(unlessUncopied)
      : undefined;
    const { session_id } = copied ?? slot;
    try {
      const actions = [{ command: "navigate_to_url", params: { url: url.href } }];
      await done(call("execute_device_action", { session_id, actions, look: false }));
      const seen = z
        .looseObject({
          title: z.string(),
          items: z.array(z.looseObject({ role: z.string(), name: z.string() })),
        })
        .parse(
          await done(
            call("dump_ui_elements", {
              session_id,
              interactive_only: false,
              detail: "full",
              max_tokens: 20_000,
            }),
          ),
        );
      return { title: seen.title, heading: seen.items.find(isHeading)?.name };
    } finally {
      if (copied || !slot.isFolders) await connection.call("release_control", { session_id }, unending());
    }
  });
}

const withoutSandbox = `# Chromium has no sandbox here: this user is root, or the system does not allow it. A page that breaks out of
# the browser has the rights of this user, so open only pages that you trust.
devices:
  - name: browser
    controllers:
      web: { sandbox: false }
`;

/**
 * Writes a labwright.yaml that lets Chromium run without its sandbox, where that is why no page opened and nothing is
 * configured yet. Throws `error` otherwise.
 */
async function allowWithoutSandbox(error: unknown, options: InitOptions, terminal: Terminal): Promise<void> {
  const { env, cwd } = terminal;
  const dataDir = dataDirectory(env, options.dataDir).path;
  const place = { option: options.config, env, cwd, dataDir, command: "init" };
  const isRefused = error instanceof ToolError && error.message.includes("sandbox: false");
  if (!isRefused || configFile(place) !== undefined) throw error;
  writeFileSync(join(cwd, "labwright.yaml"), withoutSandbox, { flag: "wx" });
  trustFolder(cwd, dataDir);
  terminal.out("labwright.yaml: Chromium runs without its sandbox, which it does not have here\n");
  // The one that runs was started without this file.
  await runStop({ dataDir, ifIdle: true }, { ...terminal, out: () => undefined });
}

function unlessUncopied(error: unknown): undefined {
  const codes = ["DEVICE_NOT_COPIED", "INSUFFICIENT_RESOURCES"];
  if (!(error instanceof ToolError && codes.includes(error.code))) throw error;
}

const isHeading = ({ role, name }: { role: string; name: string }) =>
  role === "heading" && name.trim() !== "" && name.length <= 80 && !/["\n{}]/.test(name);

const write = (value: unknown) => stringify(value, { lineWidth: 0 });

/** The check that proves the page: its heading, else its title, else its address. */
function proofOf(url: URL, { title, heading }: Page): string {
  if (heading !== undefined) return `check text "${heading}"`;
  return title !== "" && !/["\n{}]/.test(title)
    ? `check the title is "${title}"`
    : `check the url has "${url.host}"`;
}

function appText(name: string, url: URL, page: Page): string {
  const app = { name, app: { url: url.href }, nodes: { Home: proofOf(url, page) } };
  return `# How to reach the screens of ${name}. Add a node for each screen, and an edge with the steps that lead there.\n${write(app)}`;
}

function testText(name: string, { title }: Page): string {
  const check = title !== "" && !/["\n{}]/.test(title) ? [`check the title is "${title}"`] : [];
  const test = { name: `${name} opens`, app: name, tags: ["smoke"], steps: ["go to Home", ...check] };
  return `# What to check. Steps are words, such as click "Sign in", or a command with its values.\n${write(test)}`;
}
