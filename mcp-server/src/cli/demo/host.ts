import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { z } from "zod";
import { type DaemonFile, daemonHeaders, daemonUrl } from "../../server/daemonFile.ts";

/** Longer than any test case of the demo. */
const callLimitMs = 180_000;

/** An MCP host attached to the daemon, as Claude Desktop is to its servers. */
export type Host = {
  /** The structured result, checked. Throws what the tool answered when it failed. */
  call<Output extends z.ZodType>(
    name: string,
    args: Readonly<Record<string, unknown>>,
    output: Output,
  ): Promise<z.output<Output>>;
  /** The bytes of an artifact. */
  read(uri: string): Promise<Buffer>;
  close(): Promise<void>;
};

export async function attachHost(file: DaemonFile, signal: AbortSignal): Promise<Host> {
  const client = new Client(
    { name: "labwright-demo", version: file.version },
    { versionNegotiation: { mode: "auto" } },
  );
  await client.connect(
    new StreamableHTTPClientTransport(daemonUrl(file, "/mcp"), {
      requestInit: { headers: daemonHeaders(file, `demo/${process.pid}`) },
    }),
  );
  return {
    async call(name, args, output) {
      const result = await client.callTool(
        { name, arguments: { ...args } },
        { timeout: callLimitMs, signal },
      );
      if (result.isError) {
        const text = result.content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
        throw new Error(`${name} failed: ${text}`);
      }
      return output.parse(result.structuredContent);
    },
    async read(uri) {
      const { contents } = await client.readResource({ uri }, { signal });
      return Buffer.concat(
        contents.map((part) =>
          "blob" in part ? Buffer.from(part.blob, "base64") : Buffer.from(part.text, "utf8"),
        ),
      );
    },
    close: () => client.close(),
  };
}
