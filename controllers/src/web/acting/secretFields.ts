import type { BrowserContext, Frame, Locator, Page } from "playwright-core";
import type { SecretInput } from "../../dispatch.ts";
import type { Target } from "../../elements/target.ts";
import { DeviceError } from "../../errors.ts";
import { poll, untilAborted } from "../../waiting/deadlines.ts";
import { askAgent, askElement } from "../page/askAgent.ts";
import { askFrames } from "../page/elementsInFrames.ts";
import type { Action } from "./action.ts";
import { expectText, noteField } from "./readBack.ts";

/** Texts with a secret that were typed, by the origin of the field. */
const typed = new WeakMap<BrowserContext, Map<string, Set<string>>>();

/** Not as it is, since a trace shows the questions that a page is asked. */
const encoded = (text: string): string => Buffer.from(text).toString("base64url");

/**
 * Fills a field with a text that holds a secret, within the document whose origin was judged. Throws SECRET_NOT_ALLOWED,
 * ELEMENT_NOT_ACTIONABLE, COMMAND_UNSUITABLE.
 */
export async function fillSecret(
  action: Action,
  { locator, target, text }: { locator: Locator; target: Target; text: string },
  secret: SecretInput,
): Promise<void> {
  let state = "moved";
  const fill = async () => {
    const facts = await noteField(action, locator, target);
    if (!facts) return false;
    secret.allow({ origin: facts.origin, isPassword: facts.secret });
    noteTyped(action.page, facts.origin, text);
    const asked = { text: encoded(text), origin: facts.origin, keys: !secret.isBound };
    state = await askElement(locator, "fillSecret", [asked], action.limits);
    return state === "filled" || state === "selected" || (state === "other" && !secret.isBound);
  };
  await poll(fill, { everyMs: 100, ms: action.left(), signal: action.signal });
  if (state === "selected") await untilAborted(action.page.keyboard.insertText(text), action.signal);
  else if (state === "other" && !secret.isBound) await locator.fill(text, action.limits);
  else if (state !== "filled")
    throw new DeviceError(
      "ELEMENT_NOT_ACTIONABLE",
      "The field does not take the secret: it is disabled, read-only, hidden or behind a dialog, or it is not a field for text. Do first what enables it, or name another field.",
    );
  expectText(action, text);
}

/** How often the focus may leave between judging a frame and typing there. */
const MOST_TRIES = 3;

/** Types a text that holds a secret where the focus is, by `keys` if it is not bound. Throws SECRET_NOT_ALLOWED, INPUT_NOT_TAKEN. */
export async function typeSecret(
  action: Action,
  text: string,
  secret: SecretInput,
  keys: () => Promise<void>,
): Promise<void> {
  const characters = secret.isBound ? text.length : 0;
  await judgeFocus(action, text, secret);
  for (let at = 0, tries = 0; at < characters; tries++) {
    const { frame, origin } = await judgeFocus(action, text, secret);
    const isTyped =
      (await pressKey(action, text[at])) ||
      (frame && (await askAgent(frame, "typeCharacter", [encoded(text), at, origin])));
    if (isTyped) [at, tries] = [at + 1, 0];
    else if (tries >= MOST_TRIES)
      throw new DeviceError(
        "INPUT_NOT_TAKEN",
        "The focus does not stay in the field, so the secret was not typed to its end. Name the field, and use input_text.",
      );
  }
  if (!secret.isBound) await keys();
  // Enter may have replaced the document.
  const end = (frame: Frame) => askAgent(frame, "focusedPlace", [false]).catch(() => null);
  await askFrames(action.page, action.signal, end);
}

/** Keys that say nothing of a secret are the browser's own. */
async function pressKey({ page, signal }: Action, character = ""): Promise<boolean> {
  const key = { "\n": "Enter", "\r": "Enter", "\t": "Tab" }[character];
  if (key !== undefined) await untilAborted(page.keyboard.press(key), signal);
  return key !== undefined;
}

/** Judges the frame that has the focus. */
async function judgeFocus({ page, signal }: Action, text: string, secret: SecretInput) {
  const places = await askFrames(page, signal, (frame) => askAgent(frame, "focusedPlace", [true]));
  const [found] = places.flatMap(({ frame, answer }) => (answer ? [{ frame, ...answer }] : []));
  const { frame, origin, isPassword } = found ?? { frame: undefined, origin: "null", isPassword: false };
  secret.allow({ origin, isPassword });
  noteTyped(page, origin, text);
  if (frame) await coverIn(frame, origin);
  return { frame, origin };
}

/** Covers the fields that hold a typed secret, also in documents that came later. */
export async function coverSecrets(page: Page, signal: AbortSignal): Promise<void> {
  if (typed.has(page.context()))
    await askFrames(page, signal, (frame) => coverIn(frame, originOf(frame.url())));
}

async function coverIn(frame: Frame, origin: string): Promise<void> {
  const texts = typed.get(frame.page().context())?.get(origin);
  if (texts) await askAgent(frame, "coverSecrets", [[...texts].map(encoded), origin]);
}

const originOf = (url: string): string => (URL.canParse(url) ? new URL(url).origin : "null");

function noteTyped(page: Page, origin: string, text: string): void {
  const context = page.context();
  const known = typed.get(context) ?? new Map<string, Set<string>>();
  if (!typed.has(context)) {
    typed.set(context, known);
    const follow = (one: Page) =>
      one.on("domcontentloaded", () => {
        for (const frame of one.frames()) coverIn(frame, originOf(frame.url())).catch(() => undefined);
      });
    for (const one of context.pages()) follow(one);
    context.on("page", follow);
  }
  known.set(origin, (known.get(origin) ?? new Set<string>()).add(text));
}
