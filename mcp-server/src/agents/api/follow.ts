import type { AgentEvent, Conversations } from "@labwright/agent-client";

const pageSize = 200;

/**
 * Tells the events of a conversation after `after`, first those that are kept, then the live ones, in order, without gap or
 * doubling; without `after` the live ones alone. `ready` is waited for between pages, so that nobody is told faster than
 * they can hear; false when nobody hears any more. Gives the way to stop.
 */
export async function follow(
  conversations: Pick<Conversations, "events" | "subscribe">,
  given: { id: string; owner: string; after?: number | undefined },
  tell: (event: AgentEvent) => void,
  ready: () => Promise<boolean> = async () => true,
): Promise<() => void> {
  const { id, owner, after } = given;
  let last = after ?? 0;
  let held: AgentEvent[] | undefined = after === undefined ? undefined : [];
  const stop = await conversations.subscribe(id, owner, (event) => (held ? held.push(event) : tell(event)));
  if (!held) return stop;
  try {
    for (;;) {
      // What was told before a page is read is on that page or on one after it: only what comes during the last one,
      // which is empty, is told from here.
      held = [];
      const page = await conversations.events(id, owner, { after: last, limit: pageSize });
      for (const event of page) tell(event);
      last = page.at(-1)?.seq ?? last;
      if (page.length === 0 || !(await ready())) break;
    }
  } catch (error) {
    stop();
    throw error;
  }
  const rest: readonly AgentEvent[] = held;
  held = undefined;
  for (const event of rest) tell(event);
  return stop;
}
