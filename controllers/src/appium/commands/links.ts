import { z } from "zod";
import { type Command, defineCommand } from "../../contract.ts";
import { waitMs } from "../../elements/target.ts";
import { DeviceError } from "../../errors.ts";
import { packageShape } from "../../screens/appState.ts";
import { sent } from "../../screens/hand.ts";
import { schemeOf } from "../../screens/links.ts";
import { type AppiumSession, input } from "../session.ts";
import { appIdOf } from "./apps.ts";

/** Opens links in apps. `schemes` are those that the configuration allows beside those of the web. */
export function linkCommands(session: AppiumSession, schemes: readonly string[]): Command[] {
  const linkInput = z.strictObject({
    url: z.string().min(1).max(2_000).describe("http, https, or a scheme of the app that is allowed."),
    ...packageShape,
    timeout_ms: waitMs.default(30_000),
  });
  return [
    defineCommand<typeof linkInput>({
      name: "open_deep_link",
      description: "Opens a link in an app.",
      effect: "write",
      input: linkInput,
      async run({ url, timeout_ms, ...app }, signal) {
        mustBeAllowed(session, url, schemes);
        const { device } = session;
        const id = app.package ?? session.context.app()?.package;
        const name = device.facts().platform === "android" ? "package" : "bundleId";
        const given = { url, ...(id !== undefined && { [name]: appIdOf({ package: id }) }) };
        await input(session, () => device.mobile("deepLink", given, signal, { timeoutMs: timeout_ms }));
        return sent("opened the link");
      },
    }),
  ];
}

function mustBeAllowed({ context }: AppiumSession, url: string, schemes: readonly string[]): void {
  const scheme = schemeOf(url);
  if (scheme === "http" || scheme === "https") {
    context.allowUrl(url);
    return;
  }
  const own = context.app()?.deep_link?.toLowerCase();
  if (own?.startsWith(`${scheme}:`) || schemes.includes(scheme)) return;
  throw new DeviceError(
    "URL_DENIED",
    `Links of the scheme ${scheme} are not allowed here. Give the app of the userinterface a deep_link of this scheme, or name it in controllers.appium.link_schemes.`,
  );
}
