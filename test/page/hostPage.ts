import { build } from "esbuild";
import type { Browser, Page } from "playwright-core";

/** A host's page: the extension's own `AppBridge` around a sandboxed frame, whose calls of tools go to `callTool` of the test. */
const script = `
  import { AppBridge, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";
  window.showView = async ({ html, args, result, theme }) => {
    const frame = document.querySelector("iframe");
    const capabilities = { serverTools: {}, openLinks: {} };
    const bridge = new AppBridge(null, { name: "host", version: "1" }, capabilities, { hostContext: { theme } });
    bridge.oncalltool = async ({ name, arguments: given }) => await window.callTool(name, given);
    bridge.onopenlink = async ({ url }) => { window.opened = url; return {}; };
    bridge.onsizechange = ({ height }) => { frame.style.height = height + "px"; };
    const ready = new Promise((resolve) => { bridge.oninitialized = resolve; });
    await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
    frame.srcdoc = html;
    await ready;
    await bridge.sendToolInput({ arguments: args });
    await bridge.sendToolResult(result);
    window.setTheme = (theme) => bridge.setHostContext({ theme });
  };`;

export async function bundleHostPage(): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: script, resolveDir: import.meta.dirname },
    ...{ bundle: true, write: false, format: "esm", platform: "browser", minify: true },
  });
  return `<!doctype html><title>Host</title><style>iframe { width: 100%; border: 0 }</style>
    <iframe title="view" sandbox="allow-scripts"></iframe><script type="module">${outputFiles[0]?.text}</script>`;
}

export type Call = { html: string; args: object; result: object };
export type CallTool = (name: string, args: Record<string, unknown>) => Promise<object>;

/** Shows one call in the host's page. `trouble` is what the page or the view complained of. */
export async function showInHost(
  browser: Browser,
  { url, theme, callTool }: { url: string; theme: "light" | "dark"; callTool: CallTool },
  call: Call,
): Promise<{ page: Page; trouble: string[]; close(): Promise<void> }> {
  // The system's scheme is the other one: a view follows its host.
  const context = await browser.newContext({ colorScheme: theme === "dark" ? "light" : "dark" });
  const page = await context.newPage();
  const trouble: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error") trouble.push(message.text());
  });
  page.on("pageerror", (error) => trouble.push(String(error)));
  page.on("request", (request) => {
    if (!request.url().startsWith(url) && !/^(data|about):/.test(request.url())) trouble.push(request.url());
  });
  await page.clock.install();
  await page.exposeFunction("callTool", callTool);
  await page.goto(url);
  await page.waitForFunction("window.showView");
  await page.evaluate(`window.showView(${JSON.stringify({ ...call, theme })})`);
  return { page, trouble, close: () => context.close() };
}
