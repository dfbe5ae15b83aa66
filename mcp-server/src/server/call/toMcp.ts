import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/server";
import type { Attachment } from "../../registry/tool.ts";
import type { CallOutcome } from "./call.ts";
import { renderError } from "./render.ts";

/**
 * A call's end on the wire. A failure has no structuredContent: 1.x clients would check it against the output schema and
 * throw. The error itself is in `_meta["dev.labwright/error"]`, the trace id in `_meta["dev.labwright/trace_id"]`.
 */
export function toMcp(outcome: CallOutcome): CallToolResult {
  const trace = { "dev.labwright/trace_id": outcome.trace_id };
  if (!outcome.ok) {
    return {
      isError: true,
      content: [{ type: "text", text: renderError(outcome.error) }],
      _meta: { ...trace, "dev.labwright/error": outcome.error },
    };
  }
  return {
    structuredContent: outcome.structured,
    content: [{ type: "text", text: outcome.text }, ...outcome.attachments.flatMap(toContent)],
    _meta: trace,
  };
}

function toContent(attachment: Attachment): ContentBlock[] {
  if (attachment.kind === "link") {
    const { uri, name, mimeType } = attachment;
    return [{ type: "resource_link", uri, name, mimeType }];
  }
  const data = Buffer.from(attachment.bytes).toString("base64");
  const image: ContentBlock = { type: "image", data, mimeType: attachment.mimeType };
  return attachment.note === "" ? [image] : [{ type: "text", text: attachment.note }, image];
}
