import { z } from "zod";
import { inTurn } from "../waiting/deadlines.ts";
import { powerFactory } from "./controller.ts";
import { Plug, secretSchema, stateOf, textSchema } from "./http.ts";
import { Klap } from "./klap.ts";

const infoSchema = z.object({ error_code: z.literal(0), result: z.object({ device_on: z.boolean() }) });
const doneSchema = z.object({ error_code: z.literal(0) });

export const tapoFactory = powerFactory({
  name: "tapo",
  settings: z.strictObject({
    host: textSchema.describe("Of the plug, with a port where it is not 80."),
    user: textSchema.describe("The TP-Link account's email address."),
    password: secretSchema,
  }),
  claim: ({ host }) => `${host}/1`,
  make({ host, ...login }, reach) {
    const plug = new Plug(`http://${host}`, reach);
    // A session for each request: a plug keeps one, and the owner's own app may have taken it meanwhile.
    const alone = inTurn();
    const send = <T extends z.ZodType>(shape: T, request: object, signal: AbortSignal) =>
      alone(async (): Promise<z.output<T>> => {
        const session = await Klap.open(plug, login, signal);
        const parsed = shape.safeParse(await session.ask(request, signal));
        if (!parsed.success) throw plug.unexpected("an error");
        return parsed.data;
      });
    return {
      name: `the plug ${host}`,
      read: async (signal) =>
        stateOf((await send(infoSchema, { method: "get_device_info" }, signal)).result.device_on),
      async turn(to, signal) {
        const params = { device_on: to === "on" };
        await send(doneSchema, { method: "set_device_info", params }, signal);
      },
    };
  },
});
