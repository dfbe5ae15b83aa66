import { type ComponentType, render } from "preact";
import { Failure, Shown } from "../states.tsx";

/** A tool's result. `data` of its `_meta` is what the server sends for views only. */
export type ToolResult<Result, Data> = {
  isError?: boolean;
  content?: Block[];
  structuredContent?: Result;
  _meta?: {
    "dev.labwright/view"?: Data;
    "dev.labwright/error"?: { code: string; message: string; hint: string };
  };
};
type Block = {
  type: string;
  text?: string;
  data?: string;
  mimeType?: string;
  uri?: string;
  description?: string;
};

/** What a view gets: the call that it shows, and ways to ask more. */
export type ViewProps<Result, Data = unknown> = {
  args: Record<string, unknown>;
  result: ToolResult<Result, Data>;
  /** Calls a tool through the host. Throws {@link Failure}. */
  call: typeof callTool;
  /** Undefined where the host opens no links. */
  openLink: ((url: string) => void) | undefined;
};

/** Of MCP Apps (SEP-1865): JSON-RPC by `postMessage`, with the frame around this page. */
const protocolVersion = "2026-01-26";
type Context = { theme?: "light" | "dark" };
type Initialized = { hostCapabilities?: { openLinks?: object }; hostContext?: Context };

type Heard<Result, Data> =
  | { method: "ui/notifications/tool-input"; params: { arguments?: Record<string, unknown> } }
  | { method: "ui/notifications/tool-result"; params: ToolResult<Result, Data> }
  | { method: "ui/notifications/tool-cancelled"; params: { reason?: string } }
  | { method: "ui/notifications/host-context-changed"; params: Context };

let lastId = 0;
const waiting = new Map<number, { resolve(result: never): void; reject(error: Failure): void }>();

const send = (message: object): void => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
const notify = (method: string, params: object = {}): void => send({ method, params });

function ask(method: string, params: object): Promise<never> {
  const id = ++lastId;
  send({ id, method, params });
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject });
  });
}

async function callTool<Result, Data = unknown>(
  name: string,
  args: Record<string, unknown>,
): Promise<ToolResult<Result, Data>> {
  const result: ToolResult<Result, Data> = await ask("tools/call", { name, arguments: args });
  const failure = failureIn(result);
  if (failure) throw failure;
  return result;
}

function failureIn({ isError, content, _meta }: ToolResult<unknown, unknown>): Failure | undefined {
  if (!isError) return undefined;
  const { code = "FAILED", message = content?.[0]?.text ?? "", hint } = _meta?.["dev.labwright/error"] ?? {};
  return new Failure(code, message, hint);
}

/** Draws `View` for each result that the host sends, in the host's colours and as high as it needs. */
export async function show<Result, Data>(
  name: string,
  View: ComponentType<ViewProps<Result, Data>>,
): Promise<void> {
  const place = document.body;
  let args: Record<string, unknown> = {};
  let openLink: ViewProps<Result, Data>["openLink"];
  let count = 0;
  const draw = (given?: ToolResult<Result, Data>) => {
    const failure = given && failureIn(given);
    render(
      <main class="stack">
        <Shown of={{ failure, value: failure ? undefined : given }} what="the result">
          {(result) => <View key={++count} {...{ args, result, call: callTool, openLink }} />}
        </Shown>
      </main>,
      place,
    );
  };
  listen<Result, Data>(({ method, params }) => {
    if (method === "ui/notifications/tool-input") args = params.arguments ?? {};
    else if (method === "ui/notifications/tool-result") draw(params);
    else if (method === "ui/notifications/host-context-changed") colour(params);
    else if (method === "ui/notifications/tool-cancelled")
      draw({
        isError: true,
        content: [{ type: "text", text: `The call was cancelled. ${params.reason ?? ""}` }],
      });
  });
  draw();
  const { hostCapabilities, hostContext }: Initialized = await ask("ui/initialize", {
    ...{ protocolVersion, appInfo: { name: `labwright-${name}`, version: "1" }, appCapabilities: {} },
  });
  if (hostCapabilities?.openLinks) openLink = (url) => void ask("ui/open-link", { url }).catch(() => {});
  colour(hostContext ?? {});
  notify("ui/notifications/initialized");
  const size = () =>
    notify("ui/notifications/size-changed", { height: Math.ceil(place.getBoundingClientRect().height) });
  new ResizeObserver(size).observe(place);
}

/** Only the frame around this page is heard. */
function listen<Result, Data>(hear: (message: Heard<Result, Data>) => void): void {
  addEventListener("message", ({ source, data }: MessageEvent) => {
    if (source !== parent || data?.jsonrpc !== "2.0") return;
    if (data.method === undefined) settle(data);
    else if (data.id === undefined) hear({ params: {}, ...data });
    else answer(data);
  });
}

function settle({ id, result, error }: { id: number; result?: never; error?: { message: string } }): void {
  if (error) waiting.get(id)?.reject(new Failure("HOST", error.message));
  else if (result !== undefined) waiting.get(id)?.resolve(result);
  waiting.delete(id);
}

function answer({ id, method }: { id: number | string; method: string }): void {
  if (method === "ping" || method === "ui/resource-teardown") send({ id, result: {} });
  else send({ id, error: { code: -32601, message: `This view does not know ${method}.` } });
}

/** The host's scheme in place of the system's: the rules for dark always hold, or never. */
function colour({ theme }: Context): void {
  if (theme === undefined) return;
  document.documentElement.style.colorScheme = theme;
  for (const sheet of document.styleSheets)
    for (const rule of sheet.cssRules)
      if (rule instanceof CSSMediaRule && /prefers-color-scheme|^all$|^not all$/.test(rule.media.mediaText))
        rule.media.mediaText = theme === "dark" ? "all" : "not all";
}
