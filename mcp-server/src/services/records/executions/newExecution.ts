import { randomInt } from "node:crypto";
import type { CloudSession } from "@labwright/controllers";
import type { ExecutionEnd, NewExecution } from "../../../storage/rows/executionRows.ts";
import type { CallContext, Grant, OpenDevice, RunSpec } from "../../ports.ts";
import { projectInUse } from "../inUse.ts";
import { storableText } from "./storable.ts";

type Place = {
  device: OpenDevice;
  outer: NewExecution | undefined;
  status: "queued" | "running";
  host: string;
  now: number;
};

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

/** What a run has in place of a device: nothing to look at and nothing to drive. Its id is empty. */
export function withoutDevice(host: string, signal: AbortSignal): Grant {
  const device: OpenDevice = {
    ...{ id: "", host, name: "", model: "" },
    offers: () => [],
    controllers: [],
    unavailable: [],
    isOpen: () => false,
    untilOpen: async () => undefined,
  };
  return { device, lease: undefined, signal, done: () => undefined };
}

/** The kinds of runs that are tests: of the others a cloud's reports have nothing to say. */
const tests: readonly string[] = ["testcase", "script"] satisfies NewExecution["kind"][];
const cloudMs = 15_000;

function findCloud({ controllers }: OpenDevice): CloudSession | undefined {
  return controllers.find(({ cloud }) => cloud !== undefined)?.cloud;
}

export const sessionOf = (device: OpenDevice): string | undefined => findCloud(device)?.link();

/** Reports to the cloud of a device how a test ended. A run that was cancelled has no verdict. */
export async function reportToCloud(
  device: OpenDevice,
  { kind }: NewExecution,
  { status, reason }: ExecutionEnd,
): Promise<void> {
  if (!tests.includes(kind) || status === "cancelled") return;
  await findCloud(device)?.reportVerdict(
    {
      status: status === "passed" ? "passed" : "failed",
      reason: reason ? `${reason.code}: ${reason.message}` : "",
    },
    AbortSignal.timeout(cloudMs),
  );
}
