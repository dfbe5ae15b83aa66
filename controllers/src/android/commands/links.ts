import { z } from "zod";
import { type Command, defineCommand } from "../../contract.ts";
import { waitMs } from "../../elements/target.ts";
import { DeviceError } from "../../errors.ts";
import { packageShape } from "../../screens/appState.ts";
import { sent } from "../../screens/hand.ts";
import { schemeOf } from "../../screens/links.ts";
import { describePackage, schemesIn } from "../packageDump.ts";
import type { AndroidSession } from "../session.ts";
import { mustBeInstalled, packageOf } from "./apps.ts";

/** Opens links in apps. */
export function linkCommands(session: AndroidSession): Command[] {
  const { device, reader } = session;
  const input = z.strictObject({
    url: z.string().min(1).max(2_000).describe("http, https, or a scheme that the app declares."),
    ...packageShape,
    timeout_ms: waitMs.default(30_000),
  });
  return [
    defineCommand<typeof input>({
      name: "open_deep_link",
      description: "Opens a link in an app.",
      effect: "write",
      input,
      async run({ url, timeout_ms, ...app }, signal) {
        const receiver = await receiverOf(session, url, app.package, signal);
        const start = ["am", "start", "-W", "-a", "android.intent.action.VIEW", "-d", url];
        if (receiver !== undefined) start.push("-p", receiver);
        const options = { timeoutMs: timeout_ms };
        const { code, stdout, stderr } = await device.link().run(start, signal, options);
        reader.driven();
        if (code !== 0 || /^Error|unable to resolve/m.test(`${stdout}\n${stderr}`))
          throw new DeviceError(
            "ACTIVITY_MISSING",
            `${receiver ?? "No app"} ${receiver === undefined ? "opens" : "does not open"} this link. Correct it, or see which links the app declares.`,
          );
        const opened = /^Activity: (\S+)/m.exec(stdout)?.[1];
        return sent(`opened the link${opened === undefined ? "" : ` in ${opened}`}`);
      },
    }),
  ];
}

/**
 * The package that alone may open a link; undefined for an address of the web that names none. Throws URL_DENIED and
 * INVALID_PARAMS for what may not be opened.
 */
async function receiverOf(
  session: AndroidSession,
  url: string,
  given: string | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { context, device } = session;
  const scheme = schemeOf(url);
  const named = given === undefined ? undefined : packageOf({ package: given });
  if (scheme === "http" || scheme === "https") {
    context.allowUrl(url);
    return named;
  }
  const inUse = context.app();
  const id = named ?? inUse?.package;
  if (id === undefined)
    throw new DeviceError(
      "INVALID_PARAMS",
      `A link of the scheme ${scheme} is opened only in an app that declares it. Give its package.`,
    );
  const isOfAppInUse = inUse?.package === undefined || inUse.package === id;
  if (isOfAppInUse && inUse?.deep_link?.toLowerCase().startsWith(`${scheme}:`))
    return packageOf({ package: id });
  const declared = schemesIn(await describePackage(device, packageOf({ package: id }), signal));
  if (declared.includes(scheme)) return id;
  await mustBeInstalled(device, id, signal);
  const known = declared.length === 0 ? "none" : declared.slice(0, 20).join(", ");
  throw new DeviceError(
    "URL_DENIED",
    `${id} does not declare links of the scheme ${scheme}; it declares: ${known}. Give one of these, or http or https.`,
  );
}
