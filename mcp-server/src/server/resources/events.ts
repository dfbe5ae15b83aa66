import { ToolError } from "../../errors.ts";
import type { EventFeed } from "../../services/index.ts";
import type { ResourceRoom } from "./room.ts";

const pageSize = 100;

/** `events://<after>`: events with a higher id, in order, and the `next` address to go on with. */
export function eventRoom(events: EventFeed): ResourceRoom {
  return {
    scheme: "events",
    async read(path) {
      const after = cursorOf(path);
      const page = await events.read({ after, limit: pageSize });
      const next = `events://${page.at(-1)?.id ?? after}`;
      return { mimeType: "application/json", text: JSON.stringify({ events: page, next }) };
    },
    async watch(path, changed) {
      const after = cursorOf(path);
      const notify = onceATurn(changed);
      // Listening first: an event stored between the two is then sent twice rather than never.
      const stop = await events.subscribe(notify);
      if ((await events.latestId()) > after) notify();
      return stop;
    },
  };
}

/** A burst of events is one piece of news. */
function onceATurn(notify: () => void): () => void {
  let isComing = false;
  return () => {
    if (isComing) return;
    isComing = true;
    setImmediate(() => {
      isComing = false;
      notify();
    });
  };
}

function cursorOf([after = "", ...rest]: readonly string[]): number {
  const id = /^\d{1,15}$/.test(after) && rest.length === 0 ? Number(after) : undefined;
  if (id !== undefined) return id;
  throw new ToolError(
    "INVALID_INPUT",
    "Events are read from the id of the last one you have: events://<after>.",
    "Begin with events://0, then follow `next`.",
  );
}
