import { randomInt } from "node:crypto";
import type { NewExecution } from "../../../storage/rows/executionRows.ts";
import type { CallContext, OpenDevice, RunSpec } from "../../ports.ts";
import { projectInUse } from "../project.ts";
import { storableText } from "./storable.ts";

type Place = {
  device: OpenDevice;
  /** The run that it is a part of. */
  outer: NewExecution | undefined;
  status: "queued" | "running";
  host: string;
  now: number;
};

/** The record of a run that begins, without its input. */
export function newExecution(
  spec: RunSpec,
  context: CallContext,
  { device, outer, status, host, now }: Place,
): NewExecution {
  const text = (given: string | undefined) => given && storableText(given);
  return {
    id: newExecutionId(),
    kind: spec.kind,
    name: storableText(spec.name),
    status,
    input: {},
    started_at: new Date(now).toISOString(),
    host_name: host,
    ...(device.id !== "" && { device: device.id, device_model: device.model }),
    device_version: versionOf(device),
    environment: text(spec.environment),
    release: text(spec.release),
    build: text(spec.build),
    userinterface: text(spec.userinterface),
    ...(projectInUse() !== "" && { project: projectInUse() }),
    triggered_by: context.principal,
    correlation_id: text(spec.correlation_id) ?? outer?.correlation_id ?? context.trace_id,
    verified_count: 0,
    outputs: {},
  };
}

/** Name and version of what the device's controllers drive, such as `chromium 141.0.7390.37`; undefined where none says. */
export function versionOf({ controllers }: OpenDevice): string | undefined {
  const versions = new Set(controllers.flatMap((controller) => controller.facts?.().version ?? []));
  return versions.size > 0 ? [...versions].join(", ") : undefined;
}

/** Twelve letters and digits, 62 bits: a model reads and repeats it in a third of the tokens of a UUID. */
function newExecutionId(): string {
  const letters = "abcdefghijklmnopqrstuvwxyz0123456789";
  return Array.from({ length: 12 }, () => letters.charAt(randomInt(letters.length))).join("");
}
