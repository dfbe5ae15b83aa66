import { z } from "zod";
import { type Command, defineCommand } from "../../contract.ts";
import { secretInput } from "../../dispatch.ts";
import { DeviceError } from "../../errors.ts";
import { portable } from "../../portable.ts";
import type { Actions } from "../acting/action.ts";
import { ask } from "../acting/question.ts";
import { shownText } from "../activity/bodies.ts";
import { shownValue } from "../activity/credentials.ts";
import { readStorageState, writeStorageState } from "../browser/storageState.ts";
import { wholeUrl } from "../page/address.ts";
import { shortCommand } from "./elementCommand.ts";

const stateName = z.string().min(1).max(100);
const STATE_MS = 10_000;

/** Dialogs, and what the browser stores for pages. */
export function environmentCommands(actions: Actions): Command[] {
  return [...stateCommands(actions), ...cookieCommands(actions), ...storageCommands(actions)];
}

function stateCommands(actions: Actions): Command[] {
  const { session } = actions;
  return [
    defineCommand({
      ...portable.handle_dialog,
      description: `${portable.handle_dialog.description} Without it alerts are accepted, other dialogs dismissed.`,
      async run({ accept, prompt_text }) {
        session.page();
        session.dialogs.arm({ accept, promptText: prompt_text });
        return { message: `the next dialog will be ${accept ? "accepted" : "dismissed"}`, isNews: true };
      },
    }),
    defineCommand({
      name: "save_storage_state",
      description: "Saves cookies and local storage (a login, say) under a name.",
      effect: "read",
      input: z.strictObject({ name: stateName }),
      async run({ name }, signal) {
        const path = session.context.storageStatePath(name);
        const done = `saved storage state "${name}"`;
        return actions.run({ command: "save_storage_state", timeoutMs: STATE_MS, signal, done }, async () =>
          writeStorageState(path, await session.storageState()),
        );
      },
    }),
    defineCommand({
      name: "load_storage_state",
      description:
        "Starts afresh: all tabs, cookies and storage go, and those saved under the name come back, if one is given.",
      effect: "write",
      input: z.strictObject({
        name: stateName.optional().describe("Of a saved state; absent: start with nothing."),
      }),
      async run({ name }, signal) {
        const state =
          name === undefined
            ? undefined
            : await readStorageState(session.context.storageStatePath(name), name);
        const message =
          name === undefined ? "started with an empty browser" : `loaded storage state "${name}"`;
        const options = { command: "load_storage_state", timeoutMs: STATE_MS, signal, done: message };
        return { ...(await actions.run(options, () => session.reset(state))), message };
      },
    }),
  ];
}

const MOST_SHOWN = 100;
const LONGEST_VALUE = 1_000;
const READ_MS = 3_000;

const cookieName = z
  .string()
  .max(1_000)
  .regex(/^[^\s;=,]+$/, "is not a name of a cookie");
const siteUrl = z
  .string()
  .min(1)
  .max(10_000)
  .optional()
  .describe("Of the site; that of the page if left out.");

/** The cookies that an address gets. */
function cookieCommands(actions: Actions): Command[] {
  const { session } = actions;
  const cookiesOf = async ({ name, url }: { name?: string | undefined; url?: string | undefined }) => {
    const cookies = await session.browserContext().cookies(siteOf(actions, url).href);
    return cookies.filter((cookie) => name === undefined || cookie.name === name);
  };
  return [
    defineCommand({
      name: "get_cookies",
      description:
        "Gives the cookies of a site, with flags; values of logins and other credentials are masked.",
      effect: "read",
      input: z.strictObject({ name: cookieName.optional(), url: siteUrl }),
      async run(given, signal) {
        await actions.untilUsable(signal);
        const all = await ask(session, { what: "get_cookies", ms: READ_MS, signal }, () => cookiesOf(given));
        return listed("cookie", { cookies: all.slice(0, MOST_SHOWN).map(shownCookie) }, all.length);
      },
    }),
    shortCommand(actions, {
      name: "set_cookie",
      description: "Sets a cookie of one site, for the session or as long as expires_in_s.",
      input: z.strictObject({
        name: cookieName,
        value: z.string().max(4_000).describe("{{secret.NAME}} too."),
        url: siteUrl,
        path: z.string().regex(/^\//, "begins with /").max(1_000).default("/"),
        expires_in_s: z.int().min(1).max(34_560_000).optional(),
        http_only: z.boolean().default(false),
        same_site: z.enum(["Strict", "Lax", "None"]).optional(),
      }),
      done: ({ name }) => `the cookie ${name} is set`,
      async run({ name, value, url, path, expires_in_s, http_only: httpOnly, same_site: sameSite }) {
        const { origin, hostname: domain, protocol } = siteOf(actions, url);
        // A cookie goes to every port of its host.
        for (const to of [origin, `${protocol}//${domain}`]) secretInput()?.allow({ origin: to });
        const expires = expires_in_s === undefined ? -1 : Math.round(Date.now() / 1_000) + expires_in_s;
        const cookie = { name, value, domain, path, expires, httpOnly, secure: protocol === "https:" };
        await session.browserContext().addCookies([{ ...cookie, ...(sameSite && { sameSite }) }]);
      },
    }),
    shortCommand(actions, {
      name: "delete_cookies",
      description: "Deletes a site's cookies, or the one of a name.",
      input: z.strictObject({ name: cookieName.optional(), url: siteUrl }),
      done: ({ name }) => (name === undefined ? "the cookies are deleted" : `the cookie ${name} is deleted`),
      async run(given) {
        for (const { name, domain, path } of await cookiesOf(given))
          await session.browserContext().clearCookies({ name, domain, path });
      },
    }),
  ];
}

/** Throws INVALID_PARAMS where that is not the address of a site. */
function siteOf({ session }: Actions, url: string | undefined): URL {
  const current = session.page().url();
  const site = new URL(url === undefined ? current : wholeUrl(url, current));
  if (/^https?:$/.test(site.protocol)) return site;
  throw new DeviceError(
    "INVALID_PARAMS",
    `${shownText(site.href, 100)} is not a site, so it has no cookies. Open a page of the app first, or give its url.`,
  );
}

type Cookie = Awaited<ReturnType<ReturnType<Actions["session"]["browserContext"]>["cookies"]>>[number];

const shownCookie = ({ name, value, httpOnly, domain, path, expires, secure, sameSite }: Cookie) => ({
  name: shownText(name, LONGEST_VALUE),
  value: shownText(shownValue({ name, value, httpOnly }), LONGEST_VALUE),
  domain,
  path,
  ...(expires > 0 && { expires: new Date(expires * 1_000).toISOString() }),
  ...(httpOnly && { http_only: true }),
  ...(secure && { secure: true }),
  same_site: sameSite,
});

const listed = (what: string, data: Record<string, unknown>, count: number) => ({
  message: `${count} ${what}${count === 1 ? "" : "s"}`,
  data: { ...data, ...(count > MOST_SHOWN && { more: count - MOST_SHOWN }) },
});

const area = z.enum(["local", "session"]).default("local").describe("localStorage or sessionStorage.");

/** The storage of the page's own origin. */
function storageCommands(actions: Actions): Command[] {
  const { session } = actions;
  const storageOf = (given: z.output<typeof area>) => {
    const page = session.page();
    siteOf(actions, undefined);
    return given === "local" ? page.localStorage : page.sessionStorage;
  };
  return [
    defineCommand({
      name: "get_storage",
      description: "Gives the page's stored items by name; credentials are masked, long values cut.",
      effect: "read",
      input: z.strictObject({ area, name: z.string().max(1_000).optional() }),
      async run({ area, name }, signal) {
        await actions.untilUsable(signal);
        const question = { what: "get_storage", ms: READ_MS, signal, isOfApp: true };
        const items = await ask(session, question, () => storageOf(area).items());
        const all = items.filter((item) => name === undefined || item.name === name);
        const shown = all.slice(0, MOST_SHOWN).map((item) => ({
          name: shownText(item.name, LONGEST_VALUE),
          value: shownText(shownValue(item), LONGEST_VALUE),
        }));
        return listed("item", { items: shown }, all.length);
      },
    }),
    shortCommand(actions, {
      name: "set_storage",
      description: "Stores an item for the page, or removes it if no value is given.",
      input: z.strictObject({
        area,
        name: z.string().max(1_000),
        value: z.string().max(1_000_000).optional(),
      }),
      done: ({ name, value }) => `${shownText(name, 100)} is ${value === undefined ? "removed" : "stored"}`,
      awaitsPage: true,
      run: ({ area, name, value }) =>
        value === undefined ? storageOf(area).removeItem(name) : storageOf(area).setItem(name, value),
    }),
  ];
}
