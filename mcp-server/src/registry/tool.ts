import type { z } from "zod";
import type { Services } from "../services/index.ts";
import type { CallContext, DeviceRef, Grant } from "../services/ports.ts";

/** What a tool can do, in the style of seed 002; the planner and `find` select by it. */
export const capabilities = [
  "ACCELEROMETER",
  "ALERTS",
  "API_TESTING",
  "CODE_EXECUTION",
  "CODE_GENERATION",
  "DEVICE_CONTROL",
  "DEVICE_STATUS",
  "DIAGNOSIS",
  "ELEMENT_INSPECTION",
  "EXECUTION_CONTROL",
  "FILE_DELETE",
  "FILE_READ",
  "FILE_WRITE",
  "GPS_LOCATION",
  "INTERACTION_TESTING",
  "INVESTIGATION",
  "NAVIGATION",
  "NAVIGATION_MODEL",
  "PLANNING",
  "RECORDING",
  "REPORTING",
  "REQUIREMENTS",
  "SCHEDULING",
  "SCREENSHOT",
  "SENSOR_READ",
  "TESTING",
  "TEST_AUTHORING",
  "UI_VALIDATION",
  "VISION_ANALYSIS",
] as const;
export type Capability = (typeof capabilities)[number];

export const domains = [
  "devices",
  "actions",
  "screen",
  "verification",
  "navigation",
  "planning",
  "userinterfaces",
  "tree",
  "testcases",
  "scripts",
  "executions",
  "deployments",
  "alerts",
  "requirements",
  "processes",
  "investigations",
  "workspace",
  "apis",
] as const;
export type Domain = (typeof domains)[number];

/** What hosts show of results, where they can: one page each, in `views/host`. */
export const viewNames = ["report", "device", "tree"] as const;
export type ViewName = (typeof viewNames)[number];

/**
 * What the wire carries besides the typed result. A link names an artifact by URI; `view` is what the tool's view draws, which no
 * model sees.
 */
export type Attachment =
  | { kind: "image"; mimeType: string; bytes: Uint8Array; note: string }
  | { kind: "link"; uri: string; name: string; mimeType: string }
  | { kind: "view"; data: object };

export type Call<Input> = {
  input: Input;
  services: Services;
  context: CallContext;
  /** Adds a picture or a file link to the reply. */
  attach(attachment: Attachment): void;
};

export type Tool<Input extends z.ZodObject = z.ZodObject, Output extends z.ZodObject = z.ZodObject> = {
  name: string;
  title: string;
  /** Static text only: nothing from a user, a page or a device ever lands here. */
  description: string;
  domain: Domain;
  capabilities: readonly Capability[];
  effect: "read" | "write" | "destructive";
  /** A repeat changes nothing more. Reads are. */
  idempotent?: boolean;
  /** Gives back what its author saved, to be saved again: the addresses in it stay whole, secrets do not. */
  authored?: boolean;
  timeoutMs: number;
  /** Shows its results. Only hosts that show views hear of it. */
  view?: ViewName;
  /** Strict: an unknown argument is an error. */
  input: Input;
  /** Arguments that the listing leaves out, such as those of the command line. */
  unlisted?: readonly string[];
  /** What `schema://` says where a service, and not `input`, applies the strict shape. */
  strictInput?: z.ZodObject;
  output: Output;
  handle(call: Call<z.output<Input>>): Promise<z.input<Output>>;
};
export type AnyTool = Tool;

/** Only infers: the returned object is the argument. */
export function defineTool<Input extends z.ZodObject, Output extends z.ZodObject>(
  tool: Tool<Input, Output>,
): AnyTool {
  return tool;
}

export type DeviceCall<Input> = Call<Input> & Pick<Grant, "device" | "lease" | "signal">;

export type DeviceTool<Input extends z.ZodObject, Output extends z.ZodObject> = Omit<
  Tool<Input, Output>,
  "handle"
> & {
  /** Moves the device, so needs its lease; reads need none. */
  drives: boolean;
  handle(call: DeviceCall<z.output<Input>>): Promise<z.input<Output>>;
};

/** A tool on one device: finds and opens it, checks the lease, and gives it back when the handler ends. */
export function defineDeviceTool<
  Input extends z.ZodObject & z.ZodType<DeviceRef>,
  Output extends z.ZodObject,
>(tool: DeviceTool<Input, Output>): AnyTool {
  const { drives, handle, ...rest } = tool;
  return defineTool<Input, Output>({
    ...rest,
    async handle(call) {
      const ref: DeviceRef = call.input;
      const grant = await call.services.devices.acquire(ref, call.context, { drives });
      try {
        const context = { ...call.context, signal: grant.signal };
        return await handle({
          ...call,
          context,
          device: grant.device,
          lease: grant.lease,
          signal: grant.signal,
        });
      } finally {
        grant.done();
      }
    },
  });
}
