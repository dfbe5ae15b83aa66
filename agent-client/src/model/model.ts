/** A picture or a text inside a tool's result, as a model takes them. */
export type ResultPart = { type: "text"; text: string } | { type: "image"; mimeType: string; base64: string };

export type ToolUse = { id: string; name: string; input: Record<string, unknown> };
export type ToolResult = { id: string; parts: readonly ResultPart[]; isError: boolean };

/** A tool as a model is told of it. `input_schema` carries no `$schema`. */
export type ToolSpec = {
  name: string;
  description: string;
  input_schema: Readonly<Record<string, unknown>>;
  readOnly: boolean;
};

export type Message =
  | { role: "user"; text: string }
  | { role: "user"; toolResults: readonly ToolResult[] }
  | { role: "assistant"; text: string; toolUses: readonly ToolUse[] };

export type Turn = {
  text: string;
  toolUses: readonly ToolUse[];
  stop: "end_turn" | "tool_use" | "max_tokens" | "refusal";
};

export type ModelRequest = { system: string; tools: readonly ToolSpec[]; messages: readonly Message[] };

/** Whatever decides what to do next. Throws on failure; ends soon after `signal` aborts. */
export type Model = { complete(request: ModelRequest, signal: AbortSignal): Promise<Turn> };
