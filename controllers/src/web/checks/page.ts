import type { ConsoleMessage } from "playwright-core";
import { z } from "zod";
import { type Check, defineCheck, type Reading } from "../../contract.ts";
import { concealed } from "../../elements/concealed.ts";
import {
  firstMatch,
  matcherFor,
  matches,
  matchSchema,
  matchWords,
  partNote,
  relation,
} from "../../elements/match.ts";
import { nearestOf } from "../../elements/nearest.ts";
import { quoted, shortened } from "../../elements/quoted.ts";
import { absent, missing, ofPresence, ofSubject } from "../../elements/readings.ts";
import { holds } from "../../elements/text.ts";
import { aboutIn, wantedIn } from "../../elements/titles.ts";
import { portable } from "../../portable.ts";
import { placeOf } from "../activity/consoleLines.ts";
import { placeIn } from "../activity/traffic.ts";
import type { CheckSession } from "../browser/session.ts";
import { appUrl, isOfApp } from "../page/address.ts";
import { askAgent, runApart } from "../page/askAgent.ts";
import { askAllFrames, askFrame, type FrameAnswer, isFrameSeen } from "../page/elementsInFrames.ts";
import { readOptions, SilentFrames } from "./lookup.ts";

/** Checks of the page as a whole, and of what has happened in it. */
export function pageChecks(session: CheckSession): Check[] {
  return [
    textVisible(session),
    appShown(session),
    urlMatches(session),
    titleMatches(session),
    dialogSeen(session),
    consoleErrorSeen(session),
    noPageErrors(session),
    selectedText(session),
  ];
}

const text = z.string().min(1).max(10_000);

function textVisible(session: CheckSession): Check {
  return defineCheck({
    ...portable.text_visible,
    description: `${portable.text_visible.description}; frames included`,
    async read({ text, match }, signal) {
      const { answers, silent } = await (match === "pattern"
        ? readPattern(session, text, signal)
        : askAllFrames(session.page(), signal, (frame) => askAgent(frame, "readText", [{ match, text }])));
      const found = (await firstSeen(answers, signal))?.answer.found;
      const lines = answers.flatMap(({ answer }) => answer.lines).map(concealed);
      const expected = `the page shows ${quoted(text)}${match === "words" ? "" : ` (${match})`}`;
      if (found !== undefined && (await isWithoutSecret(found, text, match)))
        return { holds: true, expected, actual: `it shows ${quoted(found)}` };
      if (silent > 0) throw new SilentFrames(silent);
      const nearest = nearestOf(text, lines, { text: String });
      const unread = answers.flatMap(({ answer }) => answer.unread);
      const note = unread.length > 0 ? `; shown, but not read: ${unread.join(", ")}` : "";
      return { ...absent(expected, `the text is not shown${partNote(match, text, lines)}${note}`), nearest };
    },
  });
}

/** Compared here: nothing ends a slow pattern in every browser's pages. */
async function readPattern(session: CheckSession, text: string, signal: AbortSignal) {
  const { answers, silent } = await askAllFrames(session.page(), signal, (frame) =>
    askAgent(frame, "pageTexts", []),
  );
  const read: FrameAnswer<{ found?: string; lines: string[]; unread: string[] }>[] = [];
  for (const { frame, answer } of answers) {
    const { glued, apart, unread } = answer;
    const texts = [...glued, glued.join(" "), ...apart, apart.join(" ")];
    const at = await firstMatch("pattern", text, texts);
    const isJoined = at === glued.length || at === texts.length - 1;
    const found = isJoined ? text : texts[at];
    read.push({
      frame,
      answer: { ...(found !== undefined && { found }), lines: glued.slice(0, 400), unread },
    });
  }
  return { answers: read, silent };
}

/** The page itself does not know what of a text is a secret. */
const isWithoutSecret = async (
  found: string,
  text: string,
  match: z.output<typeof matchSchema>,
): Promise<boolean> => concealed(found) === found || (await matches(match, text, found));

async function firstSeen<Answer extends { found?: string | undefined }>(
  answers: readonly FrameAnswer<Answer>[],
  signal: AbortSignal,
): Promise<FrameAnswer<Answer> | undefined> {
  for (const one of answers)
    if (one.answer.found !== undefined && (await isFrameSeen(one.frame, signal))) return one;
  return undefined;
}

function appShown(session: CheckSession): Check {
  return defineCheck({
    ...portable.app_shown,
    description: `${portable.app_shown.description}: the address of the page is of the origin of the app's url`,
    async read({ app }) {
      const [wanted, found] = [appUrl(app), session.page().url()];
      return {
        holds: isOfApp(found, wanted),
        expected: `the address is one of ${new URL(wanted).origin}`,
        actual: `the address is ${quoted(found)}`,
      };
    },
  });
}

function urlMatches(session: CheckSession): Check {
  return defineCheck({
    name: "url_matches",
    description: `The address of the page; ${matchWords}`,
    input: z.strictObject({ url: text, match: matchSchema.default("words") }),
    judges: ofSubject,
    title: (_, input) => `the address is ${wantedIn(input, "url")}`,
    async read({ url, match }) {
      return compareOne("the address", url, match, session.page().url());
    },
  });
}

function titleMatches(session: CheckSession): Check {
  return defineCheck({
    name: "title_matches",
    description: `The title of the page; ${matchWords}`,
    input: z.strictObject({ title: z.string().max(10_000), match: matchSchema.default("same") }),
    judges: ofSubject,
    title: (_, input) => `the title is ${wantedIn(input, "title")}`,
    async read({ title, match }, signal) {
      const found = await askFrame(session.page().mainFrame(), signal, (frame) => frame.title(), 1_000);
      if (found === undefined) throw new SilentFrames(1);
      return compareOne("the title", title, match, found);
    },
  });
}

async function compareOne(
  what: string,
  wanted: string,
  match: z.output<typeof matchSchema>,
  found: string,
): Promise<Reading> {
  return {
    holds: await matches(match, wanted, found),
    expected: `${what} ${relation(match)} ${quoted(wanted, found)}`,
    actual: `${what} is ${quoted(found, wanted)}${partNote(match, wanted, [found])}`,
  };
}

function dialogSeen(session: CheckSession): Check {
  return defineCheck({
    name: "dialog_seen",
    description: "A dialog (alert, confirm, prompt) was shown in this session",
    input: z.strictObject({ text: text.optional(), match: matchSchema.default("words") }),
    judges: ofPresence,
    title: (_, input) => `a dialog was seen${aboutIn(input, "text")}`,
    async read({ text, match }) {
      return among("a dialog", text, match, session.dialogs.history);
    },
  });
}

function consoleErrorSeen(session: CheckSession): Check {
  return defineCheck({
    name: "console_error_seen",
    description: "The page logged an error or threw one since it was loaded",
    input: z.strictObject({ text: text.optional(), match: matchSchema.default("words") }),
    judges: ofPresence,
    title: (_, input) => `a console error was seen${aboutIn(input, "text")}`,
    async read({ text, match }) {
      const page = session.page();
      const [logged, thrown] = await Promise.all([
        page.consoleMessages({ filter: "since-navigation" }),
        page.pageErrors({ filter: "since-navigation" }),
      ]);
      const errors = logged.filter((message) => message.type() === "error").map((message) => message.text());
      return among("an error", text, match, [...errors, ...thrown.map((error) => error.message)]);
    },
  });
}

async function among(
  what: string,
  wanted: string | undefined,
  match: z.output<typeof matchSchema>,
  seen: readonly string[],
): Promise<Reading> {
  const isHit = wanted === undefined ? () => true : await matcherFor(match, wanted, seen);
  const hit = seen.findLast(isHit);
  return {
    holds: hit !== undefined,
    expected: wanted === undefined ? `${what} was seen` : `${what} with ${quoted(wanted)} was seen`,
    actual:
      hit === undefined
        ? `${seen.length === 0 ? "none was" : `${seen.length} others were`} seen${partNote(match, wanted ?? "", seen)}`
        : `seen: ${quoted(hit)}`,
    ...missing(hit === undefined),
    ...(hit !== undefined || seen.length === 0
      ? {}
      : { nearest: seen.slice(-5).map((line) => quoted(line)) }),
  };
}

const ERRORS_SHOWN = 5;

function noPageErrors(session: CheckSession): Check {
  return defineCheck({
    name: "no_page_errors",
    description:
      "The page logged no error, threw none and missed no resource since it was loaded; otherwise each is named with its address",
    input: z.strictObject({
      ignore: z.array(text).max(50).default([]).describe("Texts or addresses of errors that are known."),
    }),
    judges: ofPresence,
    title: () => "the page has no errors",
    async read({ ignore }) {
      const page = session.page();
      const [logged, thrown] = await Promise.all([
        page.consoleMessages({ filter: "since-navigation" }),
        page.pageErrors({ filter: "since-navigation" }),
      ]);
      const lines = [
        ...logged.filter((message) => message.type() === "error").map(consoleLine),
        ...thrown.map(({ message, stack = "" }) => placed(message, placeIn(stack))),
      ];
      const errors = [...new Set(lines)].filter(
        (line) => !ignore.some((known) => holds({ match: "contains", text: known }, line)),
      );
      const shown = errors.slice(0, ERRORS_SHOWN).join("; ");
      const more = errors.length > ERRORS_SHOWN ? `; … ${errors.length - ERRORS_SHOWN} more` : "";
      return {
        holds: errors.length === 0,
        expected: "the page has no errors",
        actual: errors.length === 0 ? "it has none" : `${errors.length}: ${shown}${more}`,
      };
    },
  });
}

const consoleLine = (message: ConsoleMessage): string => placed(message.text(), placeOf(message));

const placed = (said: string, place: string): string =>
  `${quoted(said)}${place === "" ? "" : ` at ${shortened(place, 500)}`}`;

function selectedText(session: CheckSession): Check {
  return defineCheck({
    name: "selected_text",
    description: `The text that is selected, in the page or in the field with the focus; ${matchWords}`,
    input: z.strictObject({ text: z.string().max(100_000), match: matchSchema.default("same") }),
    judges: ({ text }) => (text === "" ? "presence" : "subject"),
    title: (_, input) => `the selected text is ${wantedIn(input, "text")}`,
    async read({ text, match }, signal) {
      const { answers, silent } = await askAllFrames(session.page(), signal, (frame) =>
        runApart(frame.locator(":root"), z.string(), readSelection, undefined, readOptions(signal)),
      );
      const found = answers.map(({ answer }) => answer).find((one) => one !== "") ?? "";
      if (found === "" && silent > 0) throw new SilentFrames(silent);
      const reading = await compareOne("the selected text", text, match, found);
      return found === "" ? { ...reading, missing: "absent" } : reading;
    },
  });
}

// What follows runs in the page.

function readSelection(): string {
  let active = document.activeElement;
  while (active?.shadowRoot?.activeElement) active = active.shadowRoot.activeElement;
  if (active instanceof HTMLInputElement || active instanceof HTMLTextAreaElement) {
    if (active.type === "password") return "";
    const [from, to] = [active.selectionStart ?? 0, active.selectionEnd ?? 0];
    if (to > from) return active.value.slice(from, to);
  }
  return document.getSelection()?.toString() ?? "";
}
