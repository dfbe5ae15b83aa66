import { type ReadResourceResult, ResourceNotFoundError } from "@modelcontextprotocol/server";
import { ToolError } from "../errors.ts";
import type { ArtifactStore } from "../services/index.ts";
import type { CallTool } from "./call.ts";
import type { Backend, ToolCall } from "./createServer.ts";
import { toMcp } from "./toMcp.ts";

/** The backend where the tools run. `identify` says whose call it is. */
export function localBackend(deps: {
  callTool: CallTool;
  artifacts: ArtifactStore;
  identify(call: ToolCall): { principal: string; client: string };
}): Backend {
  return {
    async callTool(call) {
      const outcome = await deps.callTool({
        ...deps.identify(call),
        name: call.name,
        arguments: call.arguments,
        signal: call.signal,
        progress: call.progress,
        traceparent: call.traceparent,
        idempotency_key: call.idempotency_key,
        capabilities: { elicitation: call.elicitation },
      });
      return toMcp(outcome);
    },
    readResource: (uri) => readArtifact(deps.artifacts, uri),
  };
}

async function readArtifact(artifacts: ArtifactStore, uri: string): Promise<ReadResourceResult> {
  const sha256 = /^artifact:\/\/([\da-f]{64})$/.exec(uri)?.[1];
  if (sha256 === undefined) throw new ResourceNotFoundError(uri);
  const { bytes, mimeType } = await artifacts.get(sha256).catch((error: unknown) => {
    throw error instanceof ToolError && error.code === "ARTIFACT_NOT_FOUND"
      ? new ResourceNotFoundError(uri)
      : error;
  });
  const isText = /^text\/|[/+](json|xml|yaml)$/.test(mimeType);
  const content = isText
    ? { uri, mimeType, text: Buffer.from(bytes).toString("utf8") }
    : { uri, mimeType, blob: Buffer.from(bytes).toString("base64") };
  return { contents: [content] };
}
