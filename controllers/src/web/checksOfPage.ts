import type { Request } from "playwright-core";
import { z } from "zod";
import { type Check, defineCheck, type Reading } from "../contract.ts";
import { quoted } from "../quoted.ts";
import { matches, matchSchema, matchWords, patternParts, relation } from "./checksText.ts";
import { askFrame, askFrames } from "./elementsInFrames.ts";
import { nearest } from "./elementsNearest.ts";
import type { CheckSession } from "./session.ts";

/** What is judged of the page as a whole, and of what it did so far. */
export function pageChecks(session: CheckSession): Check[] {
  return [
    textVisible(session),
    urlMatches(session),
    titleMatches(session),
    dialogSeen(session),
    consoleErrorSeen(session),
    requestSeen(session),
  ];
}

const text = z.string().min(1).max(10_000);

function textVisible(session: CheckSession): Check {
  return defineCheck({
    name: "text_visible",
    description: `A text can be read on the page, frames included; ${matchWords}`,
    input: z.strictObject({ text, match: matchSchema.default("contains") }),
    async read({ text, match }, signal) {
      const wanted = match === "pattern" ? { match, ...patternParts(text) } : { match, text };
      const answers = await askFrames(session.page(), signal, (frame) =>
        frame.evaluate((one) => globalThis.__labwright?.readText(one), wanted),
      );
      const hit = answers.find(({ answer }) => answer.found !== undefined);
      const lines = answers.flatMap(({ answer }) => answer.lines);
      return {
        holds: hit !== undefined,
        expected: `the page shows ${quoted(text)}${match === "contains" ? "" : ` (${match})`}`,
        actual: hit ? `it shows ${quoted(hit.answer.found ?? "")}` : "the text is not shown",
        absent: hit === undefined,
        ...(hit ? {} : { nearest: nearest(text, lines, (line) => line) }),
      };
    },
  });
}

function urlMatches(session: CheckSession): Check {
  return defineCheck({
    name: "url_matches",
    description: `The address of the page; ${matchWords}`,
    input: z.strictObject({ url: text, match: matchSchema.default("contains") }),
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
    async read({ title, match }, signal) {
      const found = await askFrame(session.page().mainFrame(), signal, (frame) => frame.title(), 1_000);
      return compareOne("the title", title, match, found ?? "");
    },
  });
}

function compareOne(
  what: string,
  wanted: string,
  match: z.output<typeof matchSchema>,
  found: string,
): Reading {
  return {
    holds: matches(match, wanted, found),
    expected: `${what} ${relation(match)} ${quoted(wanted, found)}`,
    actual: `${what} is ${quoted(found, wanted)}`,
  };
}

function dialogSeen(session: CheckSession): Check {
  return defineCheck({
    name: "dialog_seen",
    description: "A dialog (alert, confirm, prompt) was shown in this session",
    input: z.strictObject({ text: text.optional(), match: matchSchema.default("contains") }),
    async read({ text, match }) {
      return among(
        "a dialog",
        text,
        match,
        session.dialogs.history.map((dialog) => dialog.message),
      );
    },
  });
}

function consoleErrorSeen(session: CheckSession): Check {
  return defineCheck({
    name: "console_error_seen",
    description: "The page logged an error or threw one since it was loaded",
    input: z.strictObject({ text: text.optional(), match: matchSchema.default("contains") }),
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

function among(
  what: string,
  wanted: string | undefined,
  match: z.output<typeof matchSchema>,
  seen: readonly string[],
): Reading {
  const hit = seen.findLast((line) => wanted === undefined || matches(match, wanted, line));
  return {
    holds: hit !== undefined,
    expected: wanted === undefined ? `${what} was seen` : `${what} with ${quoted(wanted)} was seen`,
    actual:
      hit === undefined
        ? `${seen.length === 0 ? "none was" : `${seen.length} others were`} seen`
        : `seen: ${quoted(hit)}`,
    absent: hit === undefined,
    ...(hit !== undefined || seen.length === 0
      ? {}
      : { nearest: seen.slice(-5).map((line) => quoted(line)) }),
  };
}

function requestSeen(session: CheckSession): Check {
  return defineCheck({
    name: "request_seen",
    description: "The page sent a request; the last hundred or so are known",
    input: z.strictObject({
      url: text,
      match: matchSchema.default("contains"),
      method: z.string().max(20).optional(),
      status: z.int().min(100).max(599).optional(),
    }),
    async read({ url, match, method, status }) {
      const requests = await session.page().requests();
      const wanted = [method?.toUpperCase(), quoted(url), status].filter(Boolean).join(" ");
      const hit = requests.find(
        (request) =>
          matches(match, url, request.url()) &&
          (method === undefined || request.method() === method.toUpperCase()) &&
          (status === undefined || request.existingResponse()?.status() === status),
      );
      return {
        holds: hit !== undefined,
        expected: `a request ${wanted} was sent`,
        actual: hit ? `sent: ${line(hit)}` : `${requests.length} requests were sent, none like it`,
        absent: hit === undefined,
        ...(hit ? {} : { nearest: nearest(url, requests.map(line), (one) => one) }),
      };
    },
  });
}

const LONGEST_URL = 1_000;
const cut = (url: string): string =>
  url.length > LONGEST_URL ? `${url.slice(0, LONGEST_URL)} … ${url.length - LONGEST_URL} more` : url;

function line(request: Request): string {
  const status = request.existingResponse()?.status();
  return `${request.method()} ${cut(request.url())}${status === undefined ? "" : ` ${status}`}`;
}
