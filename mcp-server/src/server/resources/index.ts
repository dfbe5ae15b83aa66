import {
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  ResourceNotFoundError,
} from "@modelcontextprotocol/server";
import { errors, ToolError } from "../../errors.ts";
import type { Backend } from "../mcp/backend.ts";
import type { ResourceRoom } from "./rooms.ts";

export {
  artifactRoom,
  eventRoom,
  namedRooms,
  type ResourceRoom,
  referenceRoom,
  reportRoom,
  treeRoom,
  viewRoom,
} from "./rooms.ts";

export type Resources = Pick<Backend, "readResource" | "complete" | "watch" | "listed">;

/** Finds the room of an address, and says in the protocol's errors what a room says in ours. */
export function createResources(rooms: readonly ResourceRoom[]): Resources {
  function place(uri: string): { room: ResourceRoom; path: string[] } {
    const [, scheme, rest = ""] = /^([a-z]+):\/\/(.*)$/s.exec(uri) ?? [];
    const room = rooms.find((one) => one.scheme === scheme);
    if (!room) throw new ResourceNotFoundError(uri);
    return { room, path: rest.split("/").map(decoded) };
  }
  return {
    readResource: (uri) =>
      inProtocol(uri, async () => {
        const { room, path } = place(uri);
        const content = await room.read(path);
        return { contents: [contentOf(uri, content)] };
      }),
    async complete(asked) {
      const room = rooms.find(({ scheme }) => asked.template.startsWith(`${scheme}://`));
      const typed = asked.typed.toLowerCase();
      const values = (await inProtocol(asked.template, async () => room?.complete?.(asked))) ?? [];
      return values.filter((value) => value.toLowerCase().startsWith(typed));
    },
    listed: async () => (await Promise.all(rooms.map((room) => room.list?.() ?? []))).flat(),
    watch: (uri, changed) =>
      inProtocol(uri, async () => {
        const { room, path } = place(uri);
        if (room.watch) return room.watch(path, changed);
        throw new ResourceNotFoundError(uri, `${uri} never changes: only events:// can be subscribed to.`);
      }),
  };
}

function contentOf(
  uri: string,
  content: Awaited<ReturnType<ResourceRoom["read"]>>,
): ReadResourceResult["contents"][number] {
  const { mimeType } = content;
  if ("text" in content) return { uri, mimeType, text: content.text };
  return { uri, mimeType, blob: Buffer.from(content.bytes).toString("base64") };
}

async function inProtocol<T>(uri: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    const message = `${error.message} ${error.hint}`.trim();
    if (errors[error.code].status < 500) throw new ResourceNotFoundError(uri, message);
    throw new ProtocolError(ProtocolErrorCode.InternalError, message, { uri });
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
