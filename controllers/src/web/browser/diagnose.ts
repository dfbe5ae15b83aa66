import type { DiagnosisContext, DiagnosisFinding } from "../../diagnosis.ts";
import { runProgram } from "../../programs/run.ts";
import { isSandboxOptional } from "./browser.ts";
import { findBrowser, installCommand } from "./findBrowser.ts";
import type { WebSettings } from "./settings.ts";

const versionMs = 15_000;

export async function diagnoseBrowser(
  settings: WebSettings,
  context: DiagnosisContext,
): Promise<DiagnosisFinding[]> {
  return [...(await diagnoseProgram(settings, context)), ...diagnoseSandbox(settings)];
}

/** Only root is known to have none: other users find out when the browser starts. */
function diagnoseSandbox({ browser, sandbox, connect, cdp }: WebSettings): DiagnosisFinding[] {
  const isOurs = browser === "chromium" && (connect ?? cdp) === undefined;
  if (!isOurs || !sandbox || isSandboxOptional() || process.getuid?.() !== 0) return [];
  const detail = "Chromium has no sandbox for root, so it is not started";
  const fix = "Run Labwright as another user, or set controllers: {web: {sandbox: false}}";
  return [{ what: "sandbox of the browser", status: "missing", detail, fix }];
}

async function diagnoseProgram(
  settings: WebSettings,
  { env, signal }: DiagnosisContext,
): Promise<DiagnosisFinding[]> {
  const { browser, channel, executable_path } = settings;
  const what = channel ?? browser;
  const remote = settings.connect ?? settings.cdp;
  if (remote !== undefined) {
    return [{ what, status: "ok", detail: `connects to ${hostOf(remote)}; not tried` }];
  }
  if (channel !== undefined) {
    return [{ what, status: "ok", detail: `Playwright looks for the channel ${channel}; not tried` }];
  }
  const found = findBrowser(settings, env);
  const install = installCommand(browser);
  if (found === undefined) {
    const detail = executable_path === undefined ? "not found" : `there is no program at ${executable_path}`;
    const fix = browser === "chromium" ? `${install}, or as root: apt-get install -y chromium` : install;
    return [{ what, status: "missing", detail, fix }];
  }
  if (found.path === undefined) return [{ what, status: "ok", detail: "Playwright's own" }];
  const version = await versionOf(found.path, signal);
  if (version !== undefined) return [{ what, status: "ok", detail: `${version} (${found.path})` }];
  const fix = `Run ${found.path} --version to see why, or: ${install}`;
  return [{ what, status: "missing", detail: `${found.path} does not run`, fix }];
}

/** Without what may be a token in its path or query. */
const hostOf = (address: string) => (URL.canParse(address) ? new URL(address).host : "another machine");

/** Undefined when the program fails. On Windows asking would open a window, so there it is only named. */
async function versionOf(path: string, signal: AbortSignal): Promise<string | undefined> {
  if (process.platform === "win32") return "found";
  const { code, stdout } = await runProgram(path, ["--version"], { signal, timeoutMs: versionMs }).catch(
    () => ({ code: 1, stdout: "" }),
  );
  return code === 0 ? stdout.slice(0, 200).trim() : undefined;
}
