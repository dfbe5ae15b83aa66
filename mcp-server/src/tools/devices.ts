import { z } from "zod";
import { deviceFields } from "../registry/fields.ts";
import { defineTool } from "../registry/tool.ts";

const shared = { domain: "devices", capabilities: ["DEVICE_STATUS"], timeoutMs: 10_000 } as const;

const stateField = z.string().describe("free, yours until, or held by whom until");

export const listHosts = defineTool({
  ...shared,
  name: "list_hosts",
  title: "List hosts",
  description: "Hosts with their devices and who holds them",
  effect: "read",
  input: z.strictObject({}),
  output: z.object({
    hosts: z.array(
      z.object({
        name: z.string(),
        status: z.string(),
        devices: z.array(
          z.object({
            id: z.string(),
            model: z.string(),
            state: stateField,
            status: z.string().optional(),
            discovered: z.literal(true).optional().describe("Not in the configuration"),
          }),
        ),
      }),
    ),
  }),
  handle: async ({ services, context }) => ({ hosts: await services.inventory.hosts(context) }),
});

export const getDeviceInfo = defineTool({
  ...shared,
  name: "get_device_info",
  title: "Device info",
  description: "One device: model, state, controllers, what cannot be used and why",
  effect: "read",
  view: "device",
  input: z.strictObject(deviceFields),
  output: z.object({
    id: z.string(),
    model: z.string(),
    state: stateField,
    open: z.boolean(),
    status: z.string().optional(),
    make: z.string().optional(),
    version: z.string().optional(),
    screen: z.object({ width: z.number(), height: z.number() }).optional(),
    note: z.string().optional(),
    controllers: z.string(),
    unavailable: z.array(z.object({ driver: z.string(), kind: z.string(), reason: z.string() })),
  }),
  handle: ({ input, services, context }) => services.inventory.info(input, context),
});

export const getCompatibleHosts = defineTool({
  ...shared,
  name: "get_compatible_hosts",
  title: "Compatible devices",
  description: "Devices that can run a userinterface, best first, and why the others cannot",
  capabilities: ["DEVICE_STATUS", "TESTING"],
  effect: "read",
  input: z.strictObject({ userinterface_name: z.string().min(1) }),
  output: z.object({
    devices: z.array(z.object({ id: z.string(), host: z.string(), model: z.string(), state: stateField })),
    others: z.array(z.object({ id: z.string(), reason: z.string() })),
  }),
  handle: ({ input, services, context }) => services.inventory.compatible(input.userinterface_name, context),
});

const displayField = z.string().min(1).max(500).optional();
const isGiven = (entry: [string, string | undefined]): entry is [string, string] => entry[1] !== undefined;

export const takeControl = defineTool({
  ...shared,
  name: "take_control",
  title: "Take control",
  description: "Lease a device for 5 minutes, renewed by every call. Pass the session_id on",
  capabilities: ["DEVICE_CONTROL"],
  effect: "write",
  idempotent: true,
  timeoutMs: 60_000,
  input: z.strictObject({
    device_id: deviceFields.device_id,
    force: z.boolean().default(false).describe("Take it from its holder, who is notified"),
    copy: z
      .strictObject({
        headed: z.boolean().default(false).describe("Shows its window"),
        browser: z.string().max(40).optional().describe("Another browser than that one's"),
        display: z
          .strictObject({
            DISPLAY: displayField,
            WAYLAND_DISPLAY: displayField,
            XAUTHORITY: displayField,
            XDG_RUNTIME_DIR: displayField,
          })
          .transform((given) => Object.fromEntries(Object.entries(given).filter(isGiven)))
          .optional()
          .describe("Where its window opens, from the caller's environment"),
        cdp: z
          .string()
          .regex(
            /^(?:https?|wss?):\/\/(?:127\.0\.0\.1|localhost|\[::1\]):\d+(?:\/\S*)?$/,
            "must be an address of this machine",
          )
          .max(300)
          .optional()
          .describe("A Chromium of this machine with remote debugging, in place of another browser"),
      })
      .optional()
      .describe("Opens a further browser like this one, which is there until its lease ends"),
  }),
  unlisted: ["copy"],
  output: z.object({
    session_id: z.string(),
    device: z.string(),
    model: z.string(),
    expires_at: z.string(),
    unavailable: z.array(z.object({ driver: z.string(), kind: z.string(), reason: z.string() })),
  }),
  async handle({ input, services, context }) {
    const { device_id: id, force, copy } = input;
    const { devices } = services;
    const { lease, device } = await (copy
      ? devices.takeCopy(id, context, copy)
      : devices.takeControl(id, context, force));
    return {
      session_id: lease.session_id,
      device: device.id,
      model: device.model,
      expires_at: lease.expires_at,
      unavailable: [...device.unavailable],
    };
  },
});

export const releaseControl = defineTool({
  ...shared,
  name: "release_control",
  title: "Release control",
  description: "Give a device back",
  capabilities: ["DEVICE_CONTROL"],
  effect: "write",
  timeoutMs: 60_000,
  input: z.strictObject(deviceFields),
  output: z.object({ released: z.string() }),
  async handle({ input, services, context }) {
    return { released: (await services.devices.releaseControl(input, context)).device_id };
  },
});

export const diagnose = defineTool({
  ...shared,
  name: "diagnose",
  title: "Diagnose",
  description: "Why is there no device: what is missing here, each with its fix",
  capabilities: ["DIAGNOSIS"],
  effect: "read",
  timeoutMs: 30_000,
  input: z.strictObject({}),
  output: z.object({
    ok: z.boolean(),
    findings: z.array(
      z.object({
        what: z.string(),
        status: z.enum(["ok", "warning", "missing"]),
        detail: z.string(),
        fix: z.string().optional(),
      }),
    ),
  }),
  handle: ({ services, context }) => services.diagnosis.run(context.signal),
});
