import { z } from "zod";
import {
  type ControllerContext,
  type DriverController,
  defineFactory,
  type FindingSource,
  findingKinds,
  inputSent,
  type LogSource,
} from "../src/index.ts";
import { ScreenReader } from "../src/screens/reader.ts";
import { Box } from "./box.ts";
import { Capture, type CaptureSettings, captureSettings } from "./capture.ts";
import { boxChecks, boxCommands, keyCommand } from "./commands.ts";
import { Connection, switches } from "./connection.ts";
import { boxApps, boxFacts, boxSensors } from "./facts.ts";
import { takePicture } from "./picture.ts";
import { treeOf } from "./tree.ts";

/** The drivers of one device share its context, and with it the box. */
const boxes = new WeakMap<ControllerContext, Box>();

function boxOf(context: ControllerContext): Box {
  const box = boxes.get(context) ?? new Box();
  boxes.set(context, box);
  return box;
}

const lifeOf = (connection: Connection) => ({
  open: (signal: AbortSignal) => connection.open(signal),
  close: () => connection.close(),
  isAlive: () => connection.isAlive(),
  withheld: () => connection.withheld(),
  status: () => connection.status(),
  onStatus: (listener: Parameters<Connection["onStatus"]>[0]) => connection.onStatus(listener),
  facts: () => (connection.isAlive() ? boxFacts : {}),
  noticesAfter: () => [],
});

function simulatedController(given: z.output<typeof settings>, box: Box): DriverController {
  const connection = new Connection(given);
  const reader = new ScreenReader({
    async read(signal) {
      await connection.use(signal);
      return treeOf(box);
    },
  });
  box.onChange(() => {
    inputSent();
    reader.driven();
  });
  return {
    kind: "remote",
    verification: "verification_text",
    commands: connection.over(boxCommands(box, reader)),
    checks: boxChecks(box, connection, reader),
    screen: {
      capture: async (_options, signal) => {
        await connection.use(signal);
        return takePicture(box);
      },
    },
    elements: reader.elements,
    focus: reader.focus,
    logs: logsOf(box, connection),
    findings: findingsOf(box),
    sensors: boxSensors(connection),
    apps: boxApps(connection),
    ...lifeOf(connection),
  };
}

function logsOf(box: Box, connection: Connection): LogSource {
  return {
    async lines({ after = 0, limit }, signal) {
      await connection.use(signal);
      return box.lines.filter(({ seq }) => seq > after).slice(-limit);
    },
  };
}

/** Findings in their order, each with a picture of its moment. */
function findingsOf(box: Box): FindingSource {
  return {
    kinds: findingKinds,
    onFinding(listener) {
      let reported = Promise.resolve();
      let isListening = true;
      const end = box.onFinding((finding) => {
        const picture = takePicture(box);
        reported = reported.then(async () => {
          const frame = await picture;
          if (isListening) listener({ ...finding, frame });
        });
      });
      return () => {
        isListening = false;
        end();
      };
    },
  };
}

const settings = z.strictObject(switches);
const madeUp = (what: string) => async () => [
  { what, status: "ok" as const, detail: "made up; needs nothing" },
];
const boxSettings = settings.extend({
  serial: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .describe("Makes it one box, which one device uses at a time."),
  nearby: z
    .array(z.string().min(1).max(100))
    .max(50)
    .default([])
    .describe("Serials of further boxes, which are discovered."),
});

/** A made-up set-top box, for trying Labwright out and for its tests. */
export const simulatedFactory = defineFactory({
  name: "simulated",
  kinds: ["remote", "verification_text"],
  settings: boxSettings,
  diagnose: madeUp("simulated device"),
  offers: () => [simulatedController(settings.parse({}), new Box())],
  claims: ({ serial }) => (serial === undefined ? [] : [`serial:${serial}`]),
  discover(configured, listener) {
    const serials = new Set(configured.flatMap(({ nearby }) => nearby));
    listener([...serials].map((serial) => ({ serial, model: "simulated", settings: { serial } })));
    return () => {};
  },
  create: (given, context) => [simulatedController(given, boxOf(context))],
});

const infraredControllers = (given: z.output<typeof settings>, box: Box): DriverController[] => {
  const connection = new Connection(given);
  return [
    { kind: "remote", commands: connection.over([keyCommand(box)]), checks: [], ...lifeOf(connection) },
  ];
};

/** A remote control for the same box, like an infrared sender: keys, and nothing else. */
export const simulatedInfraredFactory = defineFactory({
  name: "simulated_infrared",
  kinds: ["remote"],
  settings,
  diagnose: madeUp("simulated infrared"),
  offers: () => infraredControllers(settings.parse({}), new Box()),
  create: (given, context) => infraredControllers(given, boxOf(context)),
});

function captureController(given: CaptureSettings, box: Box): DriverController {
  const capture = new Capture(given, box);
  const { screen, frames } = capture;
  return {
    kind: "av",
    commands: [],
    checks: [],
    ...{ screen, frames },
    ...lifeOf(capture.connection),
    open: (signal: AbortSignal) => capture.open(signal),
    close: () => capture.close(),
    status: () => capture.status(),
  };
}

/** The picture of the same box, like a capture device gives it: frames, for the checks of other drivers. */
export const simulatedCaptureFactory = defineFactory({
  name: "simulated_capture",
  kinds: ["av"],
  settings: captureSettings,
  diagnose: madeUp("simulated capture"),
  offers: () => [captureController(captureSettings.parse({}), new Box())],
  create: (given, context) => [captureController(given, boxOf(context))],
});
