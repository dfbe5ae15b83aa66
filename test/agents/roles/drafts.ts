import { systemClock } from "#agent-client/clock.ts";
import { type Envelope, type MessageDraft, newMessage } from "#agent-client/messages/envelope.ts";

/** Of a test case. */
export const steps = ["open http://shop.test/", 'check text "Done"'];

/** A message between roles; a request to run web tests unless `given` says else. */
export const draft = (given: Partial<MessageDraft>): Envelope =>
  newMessage(
    {
      ...{ message_type: "WebTestExecutionRequest", sender: "PlannerAgent", recipient: "WebExecutorAgent" },
      ...{ intent: "Run it", payload: {}, ...given },
    },
    { clock: systemClock, newId: () => crypto.randomUUID() },
  );
