import { type DiagnosisFinding, findSandbox, wallsOfScripts } from "@labwright/controllers";
import { z } from "zod";
import type { Config } from "../../../config.ts";

/** What stands between scripts and this machine: sandbox, seccomp and cgroup. Only the first when there is no sandbox. */
export async function checkScriptWalls(
  allowWithout: boolean,
  signal: AbortSignal,
): Promise<DiagnosisFinding[]> {
  const what = "sandbox for scripts";
  const found = await findSandbox(signal);
  if (!found.ok) {
    const { reason, fix } = found;
    const detail = allowWithout
      ? `${reason}; scripts run without one, since unsafe.unsandboxed_scripts allows it`
      : `${reason}; execute_script refuses to run`;
    return [{ what, status: "warning", detail, fix }];
  }
  const { seccomp, cgroup } = await wallsOfScripts(signal);
  return [
    { what, status: "ok", detail: "bubblewrap works" },
    seccomp
      ? { what: "seccomp for scripts", status: "ok", detail: "system calls are filtered" }
      : {
          what: "seccomp for scripts",
          status: "warning",
          detail: `there is no filter of system calls for ${process.arch}`,
          fix: "Run scripts on x64 or arm64, or only scripts that you trust",
        },
    {
      what: "cgroup for scripts",
      status: "ok",
      detail: cgroup
        ? "limits memory and processes of a whole run"
        : "none here: each process has limits, and a run is ended when all its processes exceed them",
    },
  ];
}

const webSettings = z.looseObject({
  browser: z.string().default("chromium"),
  sandbox: z.boolean().default(true),
  cdp: z.unknown().optional(),
  connect: z.unknown().optional(),
});

/** What stands between pages and this machine: the browser's sandbox, and the proxy that judges its traffic. */
export function checkBrowserWalls(devices: Config["devices"]): DiagnosisFinding[] {
  const browsers = devices
    .filter(({ drivers }) => drivers.includes("web"))
    .map(({ name, controllers }) => ({ name, ...webSettings.parse(controllers.web ?? {}) }));
  if (browsers.length === 0) return [];
  const isElsewhere = ({ cdp, connect }: (typeof browsers)[number]) => (cdp ?? connect) !== undefined;
  const namesOf = (chosen: typeof browsers) => chosen.map(({ name }) => name).join(", ");
  // Chromium always refuses its sandbox to root.
  const hasSandbox = process.getuid?.() !== 0;
  const open = browsers.filter(
    (one) => one.browser === "chromium" && !(one.sandbox && hasSandbox) && !isElsewhere(one),
  );
  const elsewhere = browsers.filter(isElsewhere);
  return [
    open.length === 0
      ? { what: "browser sandbox", status: "ok", detail: "on in every Chromium that is started here" }
      : {
          what: "browser sandbox",
          status: "warning",
          detail: `off for ${namesOf(open)}: a page that breaks out of the browser has this user's rights`,
          fix: "Run Labwright as another user than root, and leave out controllers.web.sandbox",
        },
    elsewhere.length === 0
      ? { what: "browser proxy", status: "ok", detail: "judges all traffic of every browser" }
      : {
          what: "browser proxy",
          status: "warning",
          detail: `none for ${namesOf(elsewhere)}, which run elsewhere: only their requests are judged`,
          fix: "Restrict what these machines reach by their own network",
        },
  ];
}
