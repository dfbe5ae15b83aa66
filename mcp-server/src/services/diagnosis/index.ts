import { findBrowser, webSettingsSchema } from "@labwright/controllers";
import type { Config } from "../../config.ts";

/** One thing that was looked at; `fix` is what to do when it is not ok. */
export type Finding = { what: string; status: "ok" | "warning" | "missing"; detail: string; fix?: string };
export type Diagnosis = { run(signal: AbortSignal): Promise<{ ok: boolean; findings: Finding[] }> };

/** Says why there is no device. */
export function createDiagnosis({ config }: { config: Config }): Diagnosis {
  return {
    async run(signal) {
      signal.throwIfAborted();
      const findings = config.devices.map((device): Finding => {
        const what = `device ${device.name}`;
        if (device.model !== "web") return { what, status: "ok", detail: `model ${device.model}` };
        const settings = webSettingsSchema.parse(device.controllers.web ?? {});
        const found = findBrowser(settings);
        if (found) return { what, status: "ok", detail: found.path ?? "Playwright's own browser" };
        return {
          what,
          status: "missing",
          detail: `no ${settings.browser}`,
          fix: `npx playwright-core install ${settings.browser}`,
        };
      });
      return { ok: findings.every(({ status }) => status !== "missing"), findings };
    },
  };
}
