import type { DiagnosisContext, DiagnosisFinding } from "../diagnosis.ts";
import { clientAddon } from "./client.ts";
import { platformOf } from "./facts.ts";
import { originOf } from "./failures.ts";
import type { AppiumSettings } from "./settings.ts";
import { wantedSession } from "./wanted.ts";

const answerMs = 3_000;

/** The add-on, the capabilities and the server: each with what mends it. Opens no session. */
export async function diagnoseAppium(
  settings: AppiumSettings,
  { addons, signal }: DiagnosisContext,
): Promise<DiagnosisFinding[]> {
  return [diagnoseAddon(addons), diagnoseCapabilities(settings), await diagnoseServer(settings, signal)];
}

function diagnoseAddon(addons: DiagnosisContext["addons"]): DiagnosisFinding {
  const what = `add-on ${clientAddon}`;
  const state = addons.state(clientAddon);
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

/** Whether something answers: a cloud may refuse who asks without a session, and is there all the same. */
async function diagnoseServer(settings: AppiumSettings, signal: AbortSignal): Promise<DiagnosisFinding> {
  const what = "Appium server";
  if (/\{\{/.test(settings.url ?? ""))
    return { what, status: "ok", detail: "its address is a secret, so it could not be looked at" };
  const { url, headers } = wantedSession(settings);
  const limit = AbortSignal.any([signal, AbortSignal.timeout(answerMs)]);
  try {
    const { status } = await fetch(`${url.replace(/\/$/, "")}/status`, {
      headers,
      signal: limit,
      redirect: "manual",
    });
    return { what, status: "ok", detail: `${originOf(url)} answers (HTTP ${status})` };
  } catch {
    const fix = "Start it (labwright setup appium-server has one), or correct controllers.appium.url";
    return {
      what,
      status: "missing",
      detail: `${originOf(url)} does not answer within ${answerMs / 1_000} s`,
      fix,
    };
  }
}
