import { z } from "zod";
import type { Thing } from "./listings.ts";
import { type OfflineAnswer, type Request, stop } from "./request.ts";
import { devicesFor, runToEnd } from "./run.ts";

const maxApps = 5;
const planSchema = z.object({ plan: z.object({ feasible: z.boolean() }) });

/**
 * Does what the server's grammar reads as steps of a test in an app. Undefined when it reads nothing. Throws Settled, with
 * orders to choose from, unless app and device are clear.
 */
export async function perform(request: Request): Promise<OfflineAnswer | undefined> {
  const task = request.withoutPlaces();
  const [named, namedApps] = [request.found(["device"]), request.found(["app"])];
  const orders: { app: Thing; device: Thing }[] = [];
  const apps = namedApps.length > 0 ? namedApps : await request.all("app");
  for (const app of apps.slice(0, maxApps)) {
    const able = await devicesFor(request, [], app.value);
    const devices = able.filter((device) => named.length === 0 || named.includes(device));
    if (devices[0] && (await isPlanned(request, inputOf(task, app, devices[0]))))
      orders.push(...devices.map((device) => ({ app, device })));
  }
  const [order, another] = orders;
  if (!order) return undefined;
  // Apps that were not asked may read it too.
  if (another || apps.length > maxApps) {
    const texts = orders.map(({ app, device }) => `${task} in the app "${app.value}" on "${device.value}"`);
    stop("Where is it to be done?", texts);
  }
  return runToEnd(request, "execute_plan", {
    ...{ title: task, input: inputOf(task, order.app, order.device) },
  });
}

const inputOf = (task: string, app: Thing, device: Thing) => ({
  ...{ task, userinterface_name: app.value, device_id: device.value },
});

async function isPlanned(request: Request, input: object): Promise<boolean> {
  const reply = await request.given.call({ name: "execute_plan", input: { ...input, run: false } });
  return planSchema.safeParse(reply.structured).data?.plan.feasible === true;
}
