import type { InstalledPackage } from "./packages.ts";
import type { System } from "./system.ts";

export function packageDump(found: InstalledPackage, { apiLevel, ui }: System): string {
  const granted = ui.granted(found.name);
  const time = found.installedAt.toISOString().slice(0, 19).replace("T", " ");
  const permissions = found.permissions ?? [];
  const activity =
    found.launcher === undefined
      ? ""
      : `      a1 ${found.name}/${found.launcher} filter b2
        Action: "android.intent.action.MAIN"
        Category: "android.intent.category.LAUNCHER"
`;
  const runtime = permissions
    .map(
      (name) => `        ${name}: granted=${granted.includes(name)}, flags=[ USER_SENSITIVE_WHEN_GRANTED ]\n`,
    )
    .join("");
  const schemes = ui.apps().find(({ packageName }) => packageName === found.name)?.schemes ?? [];
  const links = schemes
    .map(
      (scheme) => `      ${scheme}:
        a1 ${found.name}/${found.launcher} filter b3
          Action: "android.intent.action.VIEW"
          Category: "android.intent.category.DEFAULT"
          Scheme: "${scheme}"
`,
    )
    .join("");
  return `Activity Resolver Table:
${links === "" ? "" : `  Schemes:\n${links}\n`}  Non-Data Actions:
      android.intent.action.MAIN:
${activity}
Packages:
  Package [${found.name}] (c3d4):
    userId=${found.userId}
    codePath=${found.path.slice(0, found.path.lastIndexOf("/"))}
    versionCode=${found.versionCode} minSdk=21 targetSdk=${apiLevel}
    versionName=${found.versionName}
    flags=[ ${found.isSystem ? "SYSTEM " : ""}HAS_CODE ALLOW_CLEAR_USER_DATA ]
    firstInstallTime=${time}
    lastUpdateTime=${time}
    requested permissions:
${permissions.map((name) => `      ${name}\n`).join("")}    User 0: ceDataInode=1 installed=true hidden=false suspended=false stopped=false notLaunched=false enabled=0 instant=false virtual=false
      runtime permissions:
${runtime}`;
}

const kilobytes = { java: 18_432, native: 24_576, total: 96_512 };

/** `dumpsys meminfo`, of one app or of all. */
export function meminfo(name: string | undefined, { processes }: System): string {
  if (name === undefined) {
    const lines = processes.all().map((one) => `    ${kilobytes.total}K: ${one.name} (pid ${one.pid})\n`);
    return `Total PSS by process:\n${lines.join("")}\nTotal RAM: 3,882,384K (status normal)\n Free RAM: 1,204,112K\n`;
  }
  const found = processes.find(name);
  if (!found) return `No process found for: ${name}\n`;
  return `Applications Memory Usage (in Kilobytes):
Uptime: 93784000 Realtime: 93784000

** MEMINFO in pid ${found.pid} [${name}] **
                   Pss  Private  Private  SwapPss      Rss     Heap     Heap     Heap
                 Total    Dirty    Clean    Dirty    Total     Size    Alloc     Free
                ------   ------   ------   ------   ------   ------   ------   ------
  Native Heap    ${kilobytes.native}    ${kilobytes.native}        0        0    ${kilobytes.native}    32768    21000    11768
  Dalvik Heap    ${kilobytes.java}    ${kilobytes.java}        0        0    ${kilobytes.java}    20480    16000     4480
        TOTAL    ${kilobytes.total}    60000     9000        0   180000    53248    37000    16248

 App Summary
                       Pss(KB)                        Rss(KB)
                        ------                         ------
           Java Heap:    ${kilobytes.java}                          ${kilobytes.java}
         Native Heap:    ${kilobytes.native}                          ${kilobytes.native}
           TOTAL PSS:    ${kilobytes.total}            TOTAL RSS:   180000       TOTAL SWAP PSS:        0
`;
}
