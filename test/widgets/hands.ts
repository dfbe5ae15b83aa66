import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { parseEntries } from "../bench/dumps.ts";

type Args = Readonly<Record<string, unknown>>;
type Reply = { text: string; structured: Readonly<Record<string, unknown>> | undefined };

/** An MCP client of either server; a reply that is an error is thrown. */
export type Caller = { call(name: string, args: Args): Promise<Reply> };
export type Action = { command: string; params: Args };

/** What a model has been shown, and what it cost. `ref` and `sees` know nothing else of the page. */
type Seen = {
  /**
   * The ref of the first line like `button "Save" …` that the pattern matches, newest reply first; below the first line
   * that `below` matches, where it is given. Throws if there is none.
   */
  ref(pattern: RegExp, below?: RegExp): string;
  sees(pattern: RegExp): boolean;
  /** Tokens of requests and replies so far; a host shows its model the text or the structured form: the larger counts. */
  tokens(): number;
};

/** Our tools, as a model calls them. */
export type OurHand = Seen & {
  open(): Promise<void>;
  act(...actions: readonly Action[]): Promise<void>;
  /** As `act`, without the report of what changed. */
  quietly(...actions: readonly Action[]): Promise<void>;
  find(words: string): Promise<void>;
  dump(args?: Args): Promise<void>;
};

/** The tools of `@playwright/mcp`. */
export type TheirHand = Seen & {
  open(): Promise<void>;
  snapshot(args?: Args): Promise<void>;
  find(text: string): Promise<void>;
  click(ref: string, args?: Args): Promise<void>;
  type(ref: string, text: string, args?: Args): Promise<void>;
  press(key: string): Promise<void>;
  call(tool: string, args: Args): Promise<void>;
};

const mark = /^\s*(?:[+~-]\s+)?/;
const ownRef = /^(?:f\d+)?e\d+ /;

type Line = { ref: string; text: string };

/** Lines of a dump of either side that have a ref, each as `role "name" …`. */
function linesOf(text: string): Line[] {
  return text.split("\n").flatMap((written) => {
    // YAML quotes a line with a colon in its name.
    const line = written.replace(/^(\s*- )'(.*)'/, "$1$2");
    const entries = parseEntries(line).filter(({ ref }) => ref !== "");
    const plain = line
      .replace(/^(?:elements|screen): /, "")
      .replace(mark, "")
      .replace(ownRef, "");
    if (entries.length === 1) return entries.map(({ ref }) => ({ ref, text: plain }));
    return entries.map(({ ref, role, name }) => ({ ref, text: `${role} "${name}"` }));
  });
}

function memory(): Seen & { add(name: string, args: Args, reply: Reply): void } {
  const texts: string[] = [];
  let total = 0;
  const firstLike = (pattern: RegExp, below: RegExp | undefined): Line | undefined => {
    for (const text of texts) {
      const lines = linesOf(text);
      const from = below ? lines.findIndex((line) => below.test(line.text)) + 1 : 0;
      const line = lines.slice(from).find((one) => pattern.test(one.text));
      if (line && (from > 0 || !below)) return line;
    }
    return undefined;
  };
  return {
    ref(pattern, below) {
      const line = firstLike(pattern, below);
      if (line) return line.ref;
      throw new Error(`no ref like ${pattern} in what was shown last:\n${texts[0]?.slice(0, 1_500)}`);
    },
    sees: (pattern) => pattern.test(texts[0] ?? ""),
    tokens: () => total,
    add(name, args, reply) {
      texts.unshift(reply.text);
      const structured = reply.structured === undefined ? 0 : countTokens(JSON.stringify(reply.structured));
      total +=
        countTokens(JSON.stringify({ name, arguments: args })) +
        Math.max(countTokens(reply.text), structured);
    },
  };
}

export function ourHand(server: Caller, url: string): OurHand {
  const { add, ...seen } = memory();
  const call = async (name: string, args: Args): Promise<void> =>
    add(name, args, await server.call(name, args));
  const act = (...actions: readonly Action[]): Promise<void> => call("execute_device_action", { actions });
  return {
    ...seen,
    act,
    quietly: (...actions) => call("execute_device_action", { actions, look: false }),
    open: () => act({ command: "navigate_to_url", params: { url } }),
    find: (words) => call("dump_ui_elements", { find: words }),
    dump: (args = {}) => call("dump_ui_elements", args),
  };
}

export function theirHand(server: Caller, url: string): TheirHand {
  const { add, ...seen } = memory();
  const call = async (name: string, args: Args): Promise<void> =>
    add(name, args, await server.call(name, args));
  return {
    ...seen,
    call,
    open: () => call("browser_navigate", { url }),
    snapshot: (args = {}) => call("browser_snapshot", args),
    find: (text) => call("browser_find", { text }),
    click: (target, args = {}) => call("browser_click", { target, ...args }),
    type: (target, text, args = {}) => call("browser_type", { target, text, ...args }),
    press: (key) => call("browser_press_key", { key }),
  };
}

export const click = (ref: string): Action => ({ command: "click_element", params: { ref } });
export const fill = (ref: string, text: string): Action => ({ command: "input_text", params: { ref, text } });
export const type = (text: string, ref?: string): Action => ({
  command: "type_text",
  params: ref === undefined ? { text } : { ref, text },
});
export const press = (key: string, params: Args = {}): Action => ({
  command: "press_key",
  params: { key, ...params },
});
export const drag = (ref: string, onto: string): Action => ({
  command: "drag_and_drop",
  params: { ref, to_ref: onto },
});
