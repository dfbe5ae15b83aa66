import type { Command, Controller, ControllerContext } from "../contract.ts";
import { defineFactory } from "../factory.ts";
import { webChecks } from "./checks.ts";
import { environmentCommands } from "./commands/environment.ts";
import { navigationCommands } from "./commands/navigation.ts";
import { pointerCommands } from "./commands/pointer.ts";
import { scriptCommands } from "./commands/script.ts";
import { tabCommands } from "./commands/tabs.ts";
import { textCommands } from "./commands/text.ts";
import { viewCommands } from "./commands/view.ts";
import { waitCommands } from "./commands/waiting.ts";
import { LiveSession } from "./liveSession.ts";
import { createLook } from "./look.ts";
import { createRecorder } from "./recorder.ts";
import { createScreen } from "./screen.ts";
import { createSensors } from "./sensors.ts";
import type { DrivenSession } from "./session.ts";
import { type WebSettings, webSettingsSchema } from "./settings.ts";

export { type FoundBrowser, findBrowser } from "./findBrowser.ts";
export { type WebSettings, webSettingsSchema } from "./settings.ts";

/**
 * The controllers `web` and `verification_web` of one device, on one browser with one isolated context. The browser
 * opens with the first of them and closes with the last. Notices are given by `web`.
 */
export function createWebControllers(
  settings: WebSettings,
  context: ControllerContext,
): readonly [web: Controller, verification: Controller] {
  const session = new LiveSession(settings, context);
  const users = new Set<string>();
  const sharing = (kind: "web" | "verification_web") => ({
    kind,
    async open(signal: AbortSignal) {
      await session.open(signal);
      users.add(kind);
    },
    async close() {
      users.delete(kind);
      if (users.size === 0) await session.close();
    },
    isAlive: () => users.has(kind) && session.isAlive(),
  });
  const screen = createScreen(session);
  const elements = createLook(session);
  const sensors = createSensors(session);
  const { recorder, named } = createRecorder(session);
  return [
    {
      ...sharing("web"),
      commands: webCommands(session).map(named),
      checks: [],
      screen,
      elements,
      sensors,
      recorder,
      version: () => session.version(),
      noticesAfter: (seq) => session.noticesAfter(seq),
    },
    { ...sharing("verification_web"), commands: [], checks: webChecks(session), noticesAfter: () => [] },
  ];
}

function webCommands(session: DrivenSession): readonly Command[] {
  return [
    ...navigationCommands(session),
    ...pointerCommands(session),
    ...textCommands(session),
    ...viewCommands(session),
    ...waitCommands(session),
    ...tabCommands(session),
    ...environmentCommands(session),
    ...scriptCommands(session),
  ];
}

/** Browsers, through Playwright. */
export const webFactory = defineFactory({
  name: "web",
  kinds: ["web", "verification_web"],
  settings: webSettingsSchema,
  create: createWebControllers,
});
