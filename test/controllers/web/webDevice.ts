import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Check,
  type CommandResult,
  type ControllerContext,
  createWebController,
  DeviceError,
  type DeviceNotice,
  type DriverController,
  type Reading,
  webSettingsSchema,
} from "@labwright/controllers";
import { controllerContext } from "../../fixtures/controllerContext.ts";
import { runRecorded } from "../runRecorded.ts";

/** A real browser under test, with places and a policy of the test's own. */
export type WebDevice = {
  web: DriverController;
  folder: string;
  /** Runs a command as the server does: parameters are parsed first. */
  run(command: string, params?: Record<string, unknown>, signal?: AbortSignal): Promise<CommandResult>;
  /** Opens a document with this body. */
  show(body: string, head?: string): Promise<CommandResult>;
  /** Reads a check once. */
  check(name: string, input: object, options?: CheckOptions): Promise<Reading>;
  /** What a script in the page returns. */
  js(body: string): Promise<unknown>;
  /** Lines that the page noted of itself. */
  log(): Promise<unknown>;
  /** Notices of a kind since the last call, waited for until there is one; others are dropped. */
  noticed(kind: DeviceNotice["kind"]): Promise<readonly string[]>;
  dropNotices(): void;
  close(): Promise<void>;
};

type CheckOptions = Parameters<Check["read"]>[2];

export type DeviceOptions = {
  settings?: Record<string, unknown>;
  javascript?: boolean;
  denyUrl?: (url: string) => boolean;
  denyAddress?: (address: string) => boolean;
  /** In place of the two above. */
  policy?: Pick<ControllerContext, "allowUrl" | "allowAddress" | "allowHost" | "hasPathRules">;
  resolve?: ControllerContext["resolve"];
};

const NEVER = new AbortController().signal;
const NOTICE_DEADLINE_MS = 5_000;

/** A controller on a folder of their own; not opened. */
export async function makeWebDevice(options: DeviceOptions = {}): Promise<WebDevice> {
  const folder = await mkdtemp(join(tmpdir(), "labwright-web-"));
  const settings = webSettingsSchema.parse(options.settings ?? {});
  const web = createWebController(settings, contextOf(folder, options));

  let told = 0;
  async function run(name: string, params: Record<string, unknown> = {}, signal: AbortSignal = NEVER) {
    const command = web.commands.find((one) => one.name === name);
    if (command === undefined) throw new Error(`no command ${name}`);
    return runRecorded(command, params, signal);
  }
  const js = async (script: string) => (await run("execute_javascript", { script })).data?.result;
  return {
    web,
    folder,
    run,
    show: (body, head = "") =>
      run("navigate_to_url", {
        url: `data:text/html,${encodeURIComponent(`<!doctype html>${head}<body>${body}`)}`,
      }),
    async check(name, input, options) {
      const check = web.checks.find((one) => one.name === name);
      if (check === undefined) throw new Error(`no check ${name}`);
      return check.read(check.input.parse(input), NEVER, options);
    },
    js,
    log: () => js("return [...document.querySelectorAll('#log li')].map((li) => li.textContent)"),
    async noticed(kind) {
      const seen: DeviceNotice[] = [];
      const until = Date.now() + NOTICE_DEADLINE_MS;
      for (;;) {
        seen.push(...web.noticesAfter(told));
        told = seen.at(-1)?.seq ?? told;
        const texts = seen.filter((notice) => notice.kind === kind).map((notice) => notice.text);
        if (texts.length > 0 || Date.now() > until) return texts;
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
    dropNotices() {
      told = web.noticesAfter(told).at(-1)?.seq ?? told;
    },
    async close() {
      await web.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export async function openWebDevice(options: DeviceOptions = {}): Promise<WebDevice> {
  const device = await makeWebDevice(options);
  await device.web.open(NEVER);
  return device;
}

/** The DeviceError that `work` ends with; fails the test when it ends well or otherwise. */
export async function failureOf(work: Promise<unknown>): Promise<DeviceError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof DeviceError) return error;
    throw error;
  }
  throw new Error("it did not fail");
}

function contextOf(folder: string, options: DeviceOptions): ControllerContext {
  return {
    ...controllerContext("test/browser"),
    allowUrl(url) {
      if (/^file:/i.test(url) || options.denyUrl?.(url) === true) {
        throw new DeviceError("URL_DENIED", `the policy denies ${url}`);
      }
    },
    allowAddress(address) {
      if (options.denyAddress?.(address) === true) {
        throw new DeviceError("URL_DENIED", `the policy denies the address ${address}`);
      }
    },
    uploadPath: (name) => inside(folder, name),
    storageStatePath: (name) => inside(folder, `${name}.json`),
    unsafe: { javascript: options.javascript ?? true, deviceShell: false },
    ...options.policy,
    ...(options.resolve && { resolve: options.resolve }),
  };
}

function inside(folder: string, name: string): string {
  if (name.includes("/") || name.includes("..")) {
    throw new DeviceError("PATH_DENIED", `${name} is outside of the allowed folder`);
  }
  return join(folder, name);
}
