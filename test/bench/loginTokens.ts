import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { refOf } from "./dumps.ts";
import type { Measurement } from "./rows.ts";
import type { Sides } from "./sides.ts";
import { alternate, median } from "./statistics.ts";
import type { Reply, StdioServer } from "./stdioServer.ts";

type Args = Readonly<Record<string, unknown>>;

/** A host shows its model the text or the structured form; the larger one counts. Requests are name and arguments. */
export function tokensOf(reply: Reply): number {
  const structured = reply.structured === undefined ? 0 : countTokens(JSON.stringify(reply.structured));
  return Math.max(countTokens(reply.text), structured);
}

function metered(server: StdioServer): { call(name: string, args: Args): Promise<string>; total(): number } {
  let total = 0;
  return {
    async call(name, args) {
      const reply = await server.call(name, args);
      total += countTokens(JSON.stringify({ name, arguments: args })) + tokensOf(reply);
      return reply.text;
    },
    total: () => total,
  };
}

const fields = [
  { label: "Email", value: "ada@example.com" },
  { label: "Password", value: "correct horse" },
  { label: "Organisation", value: "Example Ltd" },
  { label: "One-time code", value: "493022" },
];
const remember = "Remember me";
const submit = "Sign in";
const proof = "Welcome, Ada";

/**
 * Signs in and returns the tokens. A check is a command like any other, so it goes into the batch; a check that does not hold
 * fails the call.
 */
async function ourFlow(server: StdioServer, url: string): Promise<number> {
  const { call, total } = metered(server);
  const page = await call("execute_device_action", {
    actions: [{ command: "navigate_to_url", params: { url } }],
  });
  const reply = await call("execute_device_action", {
    actions: [
      ...fields.map(({ label, value }) => ({
        command: "input_text",
        params: { ref: refOf(page, label), text: value },
      })),
      { command: "set_checked", params: { ref: refOf(page, remember), checked: true } },
      { command: "click_element", params: { ref: refOf(page, submit, "button") } },
      { command: "element_visible", params: { selector: `role=heading[name="${proof}"]` } },
    ],
  });
  if (!reply.includes(proof)) throw new Error(`The reply to the sign-in lacks "${proof}":\n${reply}`);
  return total();
}

/** In 0.0.83 the reply to browser_navigate has only a link to a snapshot in a file, in either mode. */
async function theirFlow(server: StdioServer, url: string): Promise<number> {
  const { call, total } = metered(server);
  const opened = await call("browser_navigate", { url });
  const page = opened.includes(`"${remember}"`) ? opened : await call("browser_snapshot", {});
  await call("browser_fill_form", {
    fields: [
      ...fields.map(({ label, value }) => ({
        target: refOf(page, label),
        name: label,
        type: "textbox",
        value,
      })),
      { target: refOf(page, remember), name: remember, type: "checkbox", value: "true" },
    ],
  });
  await call("browser_click", { target: refOf(page, submit, "button") });
  await call("browser_verify_element_visible", { role: "heading", accessibleName: proof });
  return total();
}

async function inServer<Result>(server: StdioServer, run: () => Promise<Result>): Promise<Result> {
  try {
    await server.initialize();
    return await run();
  } finally {
    await server.end();
  }
}

const rounds = 5;

/**
 * o200k tokens of requests and replies, tool definitions apart, each round with a new server. Both look at the page once
 * before they fill it in, and both end with a check that fails on any other page. Theirs is the cheaper of its two
 * snapshot modes.
 */
export async function measureLoginTokens(
  sides: Sides,
  url: (path: string) => string,
  note: (line: string) => void,
): Promise<Measurement[]> {
  const dataDir = await sides.newDataDir();
  const login = url("/login");
  const theirs = (mode: "full" | "none"): Promise<number> => {
    const server = sides.theirs("--caps", "testing", "--snapshot-mode", mode);
    return inServer(server, () => theirFlow(server, login));
  };
  const ours = (): Promise<number> => {
    const server = sides.ours(dataDir);
    return inServer(server, () => ourFlow(server, login));
  };
  try {
    const [full = [], none = [], own = []] = await alternate(
      [() => theirs("full"), () => theirs("none"), ours],
      { rounds, warmUps: 0 },
    );
    const modes = [median(full), median(none)] as const;
    note(
      `tokens.login: theirs ${modes[0]} with snapshot mode full, ${modes[1]} with none; the cheaper counts`,
    );
    return [{ id: "tokens.login", ours: median(own), theirs: Math.min(...modes), runs: rounds }];
  } finally {
    await sides.stopDaemon(dataDir);
  }
}
