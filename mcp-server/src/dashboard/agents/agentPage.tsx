import { addressOf } from "../shell/route.ts";
import { Conversation } from "./conversation.tsx";
import { TaskPage } from "./taskPage.tsx";

/** A conversation, or a task, whose id is its agent, a slash and its key. */
export const AgentPage = ({ id }: { id: string }) => (
  <>
    <p>
      <a href={addressOf({ room: "agents" })}>All conversations and tasks</a>
    </p>
    {id.includes("/") ? <TaskPage id={id} /> : <Conversation id={id} />}
  </>
);
