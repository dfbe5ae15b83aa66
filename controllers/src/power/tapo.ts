import { z } from "zod";
import { inTurn } from "../waiting/deadlines.ts";
import { powerFactory } from "./controller.ts";
import { ask, refused, unexpected } from "./http.ts";
import { Klap } from "./klap.ts";
import { text } from "./plugs.ts";

const info = z.object({ error_code: z.literal(0), result: z.object({ device_on: z.boolean() }) });
const done = z.object({ error_code: z.literal(0) });

export const tapoFactory = powerFactory({
  name: "tapo",
  settings: z.strictObject({
    host: text.describe("Of the plug, with a port where it is not 80."),
    user: text.describe("The TP-Link account's email address."),
    password: text.describe("Better as {{secret.NAME}}."),
  }),
  claim: ({ host }) => `${host}/1`,
  make({ host, user, password }, policy) {
    // A session for each request: a plug keeps one, and the owner's own app may have taken it meanwhile.
    const alone = inTurn();
    const send = <T extends z.ZodType>(shape: T, request: object, signal: AbortSignal) =>
      alone(async (): Promise<z.output<T>> => {
        const open = () =>
          Klap.open(
            (path, asked) =>
              ask(new URL(path, `http://${host}`), { ...asked, method: "POST" }, policy, signal),
            host,
            user,
            password,
          );
        const answer = await (await open()).ask(request);
        if (answer === undefined) throw refused(host);
        const parsed = shape.safeParse(answer);
        if (!parsed.success) throw unexpected(host, "an error");
        return parsed.data;
      });
    return {
      name: `the plug ${host}`,
      read: async (signal) =>
        (await send(info, { method: "get_device_info" }, signal)).result.device_on ? "on" : "off",
      turn: async (to, signal) =>
        void (await send(done, { method: "set_device_info", params: { device_on: to === "on" } }, signal)),
    };
  },
});
