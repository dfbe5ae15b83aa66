import type { DiagnosisContext, DiagnosisFinding } from "../diagnosis.ts";
import { atMost } from "../waiting/deadlines.ts";
import { clientAddon } from "./client.ts";
import { platformOf } from "./facts.ts";
import { originOf } from "./failures.ts";
import { type AppiumSettings, wantedSession } from "./settings.ts";

const answerMs = 3_000;

/** Checks the add-on, the capabilities and the server, each with its fix. Opens no session. */
export async function diagnoseAppium(
  settings: AppiumSettings,
  { addons, signal }: DiagnosisContext,
): Promise<DiagnosisFinding[]> {
  return [diagnoseAddon(addons), diagnoseCapabilities(settings), await diagnoseServer(settings, signal)];
}

function diagnoseAddon(addons: DiagnosisContext["addons"]): DiagnosisFinding {
  const what = `add-on ${clientAddon}`;
  const state = addons.state(clientAddon);
  const why = whyNotOnNode(process.versions.node);
  if (state === "installed" && why !== undefined)
    return { what, status: "warning", detail: why, fix: "Install a newer Node" };
  if (state === "installed") return { what, status: "ok", detail: state };
  const detail = state === "missing" ? "not installed" : "of another build";
  return { what, status: "missing", detail, fix: "Run: labwright setup appium" };
}

function diagnoseCapabilities({ capabilities }: AppiumSettings): DiagnosisFinding {
  const what = "Appium capabilities";
  const platform = platformOf(capabilities);
  if (platform !== undefined) return { what, status: "ok", detail: `for ${platform}` };
  const fix = "Set controllers.appium.capabilities.platformName to Android, iOS or tvOS";
  return { what, status: "missing", detail: "no platform that can be driven", fix };
}

/** By its header: the body may have any size. */
const isJson = (answer: Response): boolean => /\bjson\b/i.test(answer.headers.get("content-type") ?? "");

/** Any answer counts: a cloud may refuse requests without a session. */
async function diagnoseServer(settings: AppiumSettings, signal: AbortSignal): Promise<DiagnosisFinding> {
  const what = "Appium server";
  if (/\{\{/.test(settings.url ?? ""))
    return { what, status: "ok", detail: "its address holds a secret, so it was not checked" };
  const { url, headers } = wantedSession(settings);
  const limit = atMost(signal, answerMs);
  try {
    const answer = await fetch(`${url.replace(/\/$/, "")}/status`, {
      headers,
      signal: limit,
      redirect: "manual",
    });
    await answer.body?.cancel();
    const detail = `${originOf(url)} answers (HTTP ${answer.status})`;
    if (!answer.ok || isJson(answer)) return { what, status: "ok", detail };
    const fix = "Correct controllers.appium.url: an Appium server answers in JSON";
    return { what, status: "warning", detail: `${detail}, and not as an Appium server does`, fix };
  } catch {
    const fix =
      "Start it (for Android, labwright setup android --server installs one), or correct controllers.appium.url";
    return {
      what,
      status: "missing",
      detail: `${originOf(url)} does not answer within ${answerMs / 1_000} s`,
      fix,
    };
  }
}

/** The oldest of each line of Node that WebdriverIO is made for, as its package.json says. */
const oldest: Readonly<Record<number, readonly [minor: number, patch: number]>> = {
  20: [20, 2],
  22: [23, 4],
  24: [22, 1],
  26: [12, 1],
};

/** Why WebdriverIO may not run on this version of Node; undefined where it is made for it. */
export function whyNotOnNode(version: string): string | undefined {
  const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number);
  const [fromMinor, fromPatch] = oldest[major] ?? [Number.POSITIVE_INFINITY, 0];
  if (minor > fromMinor || (minor === fromMinor && patch >= fromPatch)) return undefined;
  return `Node is ${version}, and WebdriverIO is made for 20.20.2, 22.23.4, 24.22.1 and 26.12.1 or newer ones of these lines`;
}
