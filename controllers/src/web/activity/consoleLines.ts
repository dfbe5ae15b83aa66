import type { ConsoleMessage, Page } from "playwright-core";
import type { ConsoleLine } from "../../ports.ts";
import { shownText } from "./bodies.ts";
import type { Traffic } from "./traffic.ts";

/** `exception`: no script caught it. */
export const consoleLevels = ["exception", "error", "warning", "log", "debug"] as const;
type ConsoleLevel = (typeof consoleLevels)[number];

/** A line of a console, or an uncaught exception. `at` is in milliseconds since 1970; `place` is an address, mostly with a line. */
export type ConsoleEntry = { at: number; level: ConsoleLevel; text: string; place: string };

const LONGEST_TEXT = 1_000;
const LONGEST_PLACE = 500;

/** The last 200 lines of each tab and the last 100 exceptions, oldest first. A tab that closes meanwhile has none. */
export async function readConsole(pages: readonly Page[], { errors }: Traffic): Promise<ConsoleEntry[]> {
  const logged = await Promise.all(
    pages.map(async (page) => {
      const messages = await page.consoleMessages({ filter: "all" }).catch(() => []);
      return messages.filter((message) => message.type() !== "clear").map(entryOf);
    }),
  );
  const thrown = errors.map((error) => ({ ...error, level: "exception" as const }));
  return [...logged.flat(), ...thrown]
    .map((entry) => ({
      ...entry,
      text: shownText(entry.text, LONGEST_TEXT),
      place: shownText(entry.place, LONGEST_PLACE),
    }))
    .sort((a, b) => a.at - b.at);
}

const entryOf = (message: ConsoleMessage): ConsoleEntry => ({
  at: message.timestamp(),
  level: levelOf(message.type()),
  text: message.text(),
  place: placeOf(message),
});

/** An entry as replies and reports show it. */
export const consoleLine = ({ at, level, text, place }: ConsoleEntry): ConsoleLine => ({
  at: new Date(at).toISOString(),
  level,
  text,
  ...(place && { place }),
});

function levelOf(type: ReturnType<ConsoleMessage["type"]>): ConsoleLevel {
  if (type === "error" || type === "assert") return "error";
  return type === "warning" || type === "debug" ? type : "log";
}

/** The address of a resource that the browser's own line says did not load; undefined for every other line. */
export const missingResource = (message: ConsoleMessage): string | undefined =>
  /^Failed to load resource/.test(message.text()) ? message.location().url : undefined;

/** Where a line comes from. A missing resource has no line number. */
export function placeOf(message: ConsoleMessage): string {
  const { url, lineNumber } = message.location();
  return missingResource(message) ?? (url === "" ? url : `${url}:${lineNumber + 1}`);
}
