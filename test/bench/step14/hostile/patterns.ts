import type { Hostile, HostileSite } from "./hostile.ts";

const patterns = [
  "^(a+)+$",
  "^(a*)*$",
  "^(a|a)*$",
  "^(a|aa)+$",
  "^(a|a?)+$",
  "^([a-zA-Z]+)*$",
  "^(([a-z])+.)+[A-Z]([a-z])+$",
  "(.*a){25}$",
  "(a+){10,}b",
  `^${"(?:a?)".repeat(30)}${"a".repeat(30)}$`,
  "^(a*)(\\1)*b",
  "(?=(a+)+$)a*b",
  "^(\\w+\\s?)*$",
  "^((a{1,50}){1,50}){1,50}$",
  "a*a*a*a*a*a*a*b",
  "(?<!(a+)+b)c|^(a+)+$",
];

/** Where a pattern of a caller meets a text. */
const places: Readonly<Record<string, (pattern: string, site: HostileSite) => Hostile["calls"][number]>> = {
  element_text: (text) => check("element_text", { selector: "css=#text", text, match: "pattern" }),
  text_visible: (text) => check("text_visible", { text, match: "pattern" }),
  selector: (pattern) => check("element_visible", { selector: `text=/${pattern}/` }),
  json_path: (matches, site) => request(site, { json_path: "$.text", matches }),
  json_schema: (pattern, site) =>
    request(site, { json_schema: { properties: { text: { type: "string", pattern } } } }),
};

const check = (command: string, params: object) => ({
  tool: "verify_device_state",
  input: { checks: [{ command, params }], timeout_ms: 1_000 },
});
export const request = (site: HostileSite, one: object) => ({
  tool: "execute_api_request",
  input: { url: site.url("/json"), checks: [one] },
});

export const hostilePatterns = (site: HostileSite): Hostile[] =>
  Object.entries(places).flatMap(([place, callOf]) =>
    patterns.map((pattern) => ({
      kind: "pattern",
      name: `${place} ${pattern.slice(0, 40)}`,
      calls: [callOf(pattern, site)],
    })),
  );
