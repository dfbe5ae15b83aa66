import { type Dump, type Element, ranking } from "@labwright/controllers";
import type { Verification } from "../../../domain/index.ts";

/** A screen of the app. Its address identifies it, without the parts that name one record of many. */
export type RecordedScreen = {
  /** What it is called if the person gives no name. */
  name: string;
  /** The pattern of its address, and its heading where several screens share an address. */
  key: string;
  /** Proves the arrival; absent where the screen has neither heading nor title. */
  check?: Verification;
};

const mostProposals = 3;
const longestText = 80;

/** Roles whose texts say what an action led to come first. */
const firstRoles = ["alert", "status", "dialog", "alertdialog", "heading"];

const isSaid = (text: string) =>
  text.length >= 2 && text.length <= longestText && !/["\n{}]|^\W+$/.test(text);
/** Times and dates are others tomorrow. */
const isLasting = (text: string) => !/time|date/.test(ranking.changingPart(text)?.what ?? "");

const all = ({ elements, others = [] }: Dump): readonly Element[] => [...elements, ...others];

/** What can be read on the screen and checked by its words: each text once, by role: alerts first. */
export function textsOf(dump: Dump): string[] {
  const rows = all(dump)
    .filter(({ role }) => !/^(textbox|searchbox|combobox|spinbutton|iframe|option)$/.test(role))
    .map(({ role, name, text }) => ({ rank: rankOf(role), said: (name || text || "").trim() }));
  const said = rows.filter((row) => isSaid(row.said) && isLasting(row.said));
  return [...new Set(said.toSorted((a, b) => a.rank - b.rank).map((row) => row.said))];
}

const rankOf = (role: string) => (firstRoles.includes(role) ? firstRoles.indexOf(role) : firstRoles.length);

const shows = (text: string): Verification => ({ command: "text_visible", params: { text } });

/**
 * Checks of what changed from one screen to the next, the best first: new texts, those first that repeat what was typed; else what
 * is gone, if that is little.
 */
export function proposalsOf(
  before: readonly string[],
  after: readonly string[],
  typed: readonly string[],
): Verification[] {
  const fresh = after.filter((text) => !before.includes(text));
  const isTyped = (text: string) => typed.some((one) => one !== "" && text.includes(one));
  const ranked = [...fresh.filter(isTyped), ...fresh.filter((text) => !isTyped(text))];
  if (ranked.length > 0) return ranked.slice(0, mostProposals).map(shows);
  const gone = before.filter((text) => !after.some((one) => one.includes(text)));
  return gone.length > 2 ? [] : gone.map((text) => ({ ...shows(text), negate: true }));
}

/** The check for an element that was pointed at: its text, else that it can be seen. */
export function checkOfPicked(selector: string, text: string): Verification {
  const said = text.trim();
  if (isSaid(said)) return shows(said);
  return { command: "element_visible", params: { selector } };
}

/**
 * The screen, and the check of this visit: another record has another heading. `known` are the screens so far, `checks` the names of
 * those that the device has.
 */
export function screenOf(
  dump: Dump,
  known: readonly RecordedScreen[],
  checks: ReadonlySet<string>,
): { screen: RecordedScreen; arrival: Verification | undefined } {
  const heading = all(dump)
    .find(({ role, name }) => role === "heading" && isSaid(name.trim()))
    ?.name.trim();
  const title = dump.title.trim();
  const said = heading ?? (isSaid(title) ? title : undefined);
  const ofTitle = { command: "title_matches", params: { title } };
  const hasTitle = said !== undefined && checks.has(ofTitle.command);
  const arrival = heading !== undefined ? shows(heading) : hasTitle ? ofTitle : undefined;
  const place = placeOf(dump.location);
  const parts = partsOf(dump.location);
  const at = parts.findIndex((part) => record.test(part));
  if (at >= 0 && checks.has("url_matches")) {
    const url = `${parts.slice(0, at).join("/")}/`;
    const check = { command: "url_matches", params: { url, match: "contains" } };
    return { screen: { name: lastPart(place), key: place, check }, arrival };
  }
  // One address may have several screens, in an app of one page.
  const key = `${place} ${heading?.replaceAll(/\d+/g, "#") ?? ""}`;
  const before = known.find((one) => one.key === key);
  const screen = before ?? {
    name: (said ?? lastPart(place)).slice(0, 40),
    key,
    ...(arrival && { check: arrival }),
  };
  return { screen, arrival };
}

const record = /^(?:\d+|[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{16,})$/i;
const partsOf = (location: string) => {
  const url = URL.parse(location);
  const route = /^#!?\//.test(url?.hash ?? "") ? `${url?.pathname}${url?.hash}` : (url?.pathname ?? location);
  return route.split("/");
};
const placeOf = (location: string) =>
  partsOf(location)
    .map((part) => (record.test(part) ? "*" : part))
    .join("/");
const lastPart = (place: string) => place.split("/").findLast((part) => /[a-z]/i.test(part)) ?? "Home";
