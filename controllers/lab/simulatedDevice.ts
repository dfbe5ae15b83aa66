import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import {
  type AppSource,
  type Check,
  type Command,
  DeviceError,
  type DriverController,
  type Dump,
  defineCheck,
  defineCommand,
  defineFactory,
  type Element,
  type Frame,
  nearest,
  type SensorSource,
} from "../src/index.ts";
import { type SimulatedItem, SimulatedState, simulatedScreens } from "./simulatedScreens.ts";

const settings = z.strictObject({ latency_ms: z.int().min(0).max(60_000).default(0) });
const keys = ["UP", "DOWN", "LEFT", "RIGHT", "OK", "BACK", "HOME"] as const;
const target = { ref: z.string().optional(), selector: z.string().optional() };
type Target = { ref?: string | undefined; selector?: string | undefined };

/** The simulated set-top box as a device: a remote and a judge over one state that lives as long as the controllers. */
class SimulatedBox {
  readonly state = new SimulatedState();
  generation = 0;
  alive = false;
  private readonly latencyMs: number;

  constructor(latencyMs: number) {
    this.latencyMs = latencyMs;
  }

  async busy(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (!this.alive)
      throw new DeviceError("DEVICE_ERROR", "The simulated device is closed; take control again.");
    if (this.latencyMs > 0) await pause(this.latencyMs, undefined, { signal });
  }

  find({ ref, selector }: Target): SimulatedItem | undefined {
    const wanted = selector?.toLowerCase();
    return this.state
      .current()
      .items.find((item) => (ref !== undefined ? item.id === ref : item.name.toLowerCase() === wanted));
  }

  get(wanted: Target): SimulatedItem {
    const found = this.find(wanted);
    if (found) return found;
    const names = this.state.current().items.map((item) => item.name);
    const asked = wanted.ref ?? wanted.selector ?? "";
    throw new DeviceError(
      "ELEMENT_NOT_FOUND",
      `No element "${asked}" on this screen; dump it to see its elements.`,
      {
        nearest: nearest(asked, names),
      },
    );
  }

  elements(interactiveOnly: boolean): Element[] {
    const { state } = this;
    const focused = state.focusable()[state.focus];
    const states = (item: SimulatedItem) => [
      ...(item === focused ? ["focused"] : []),
      ...(state.checked.has(item.id) ? ["checked"] : []),
    ];
    return state
      .current()
      .items.filter((item) => !interactiveOnly || item.role !== "heading")
      .map((item, index) => ({
        ref: item.id,
        role: item.role,
        name: item.name,
        ...(state.values.has(item.id) && { value: state.values.get(item.id) ?? "" }),
        states: states(item),
        rect: { x: 40, y: 80 + index * 60, width: 400, height: 50 },
        depth: 0,
        interactive: item.role !== "heading",
      }));
  }

  dump(interactiveOnly: boolean): Dump {
    this.generation += 1;
    const { title } = this.state.current();
    return {
      generation: this.generation,
      location: this.state.screen,
      title,
      elements: this.elements(interactiveOnly),
      notices: [],
    };
  }

  async picture(): Promise<Frame> {
    const lines = this.elements(false).map(
      ({ name, states, rect }) =>
        `<text x="${rect?.x ?? 0}" y="${(rect?.y ?? 0) + 32}" font-size="28" fill="${states.includes("focused") ? "yellow" : "white"}">${name}</text>`,
    );
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="640" height="360"><rect width="640" height="360" fill="#123"/>${lines.join("")}</svg>`;
    const { default: sharp } = await import("sharp");
    const bytes = await sharp(Buffer.from(svg)).png().toBuffer();
    return { mimeType: "image/png", bytes, width: 640, height: 360, takenAt: new Date().toISOString() };
  }
}

function commandsOf(box: SimulatedBox): Command[] {
  return [
    defineCommand({
      name: "press_key",
      description: "Press a key of the remote",
      effect: "write",
      input: z.strictObject({ key: z.enum(keys) }),
      async run({ key }, signal) {
        await box.busy(signal);
        box.state.press(key);
        return { message: `pressed ${key}` };
      },
    }),
    defineCommand({
      name: "click_element",
      description: "Focus an element and press OK",
      effect: "write",
      input: z.strictObject(target),
      async run(wanted, signal) {
        await box.busy(signal);
        const item = box.get(wanted);
        box.state.activate(item);
        return { message: `clicked ${item.name}` };
      },
    }),
    defineCommand({
      name: "input_text",
      description: "Replace the text of a field",
      effect: "write",
      input: z.strictObject({ ...target, text: z.string().max(1_000) }),
      async run({ text, ...wanted }, signal) {
        await box.busy(signal);
        const item = box.get(wanted);
        if (item.role !== "textbox")
          throw new DeviceError(
            "ELEMENT_NOT_ACTIONABLE",
            `"${item.name}" takes no text; choose a text field.`,
          );
        box.state.values.set(item.id, text);
        return { message: `typed into ${item.name}` };
      },
    }),
  ];
}

function checksOf(box: SimulatedBox): Check[] {
  const seen = () => box.elements(false).map(({ name }) => name);
  const visible = (name: string, description: string) =>
    defineCheck({
      name,
      description,
      input: z.strictObject(target),
      async read(wanted, signal) {
        await box.busy(signal);
        const asked = wanted.ref ?? wanted.selector ?? "";
        const holds = box.find(wanted) !== undefined;
        return {
          holds,
          expected: `"${asked}" is on the screen`,
          actual: holds ? "it is" : "it is not",
          nearest: holds ? [] : nearest(asked, seen()),
        };
      },
    });
  return [
    visible("element_exists", "An element is on the screen"),
    visible("element_visible", "An element can be seen"),
    defineCheck({
      name: "text_visible",
      description: "The screen shows a text",
      input: z.strictObject({ text: z.string().min(1) }),
      async read({ text }, signal) {
        await box.busy(signal);
        const holds = [box.state.current().title, ...seen()].some((name) => name.includes(text));
        return {
          holds,
          expected: `the screen shows "${text}"`,
          actual: seen().join(" | "),
          nearest: holds ? [] : nearest(text, seen()),
        };
      },
    }),
    defineCheck({
      name: "element_value",
      description: "A field holds a value",
      input: z.strictObject({ ...target, value: z.string() }),
      async read({ value, ...wanted }, signal) {
        await box.busy(signal);
        const actual = box.state.values.get(box.get(wanted).id) ?? "";
        return { holds: actual === value, expected: value, actual };
      },
    }),
  ];
}

/** What a set-top box measures, made up; it stands on a shelf. */
function sensorsOf(box: SimulatedBox): SensorSource {
  return {
    async sensors(signal) {
      await box.busy(signal);
      const absent = "a set-top box on mains, standing still, has none";
      return {
        simulated: true,
        readings: [
          { name: "network.online", value: true },
          { name: "network.round_trip", value: 12, unit: "ms" },
          { name: "location.latitude", value: 48.8584, unit: "°" },
          { name: "location.longitude", value: 2.2945, unit: "°" },
          { name: "temperature", value: 41.5, unit: "°C" },
        ],
        absent: (["battery", "orientation", "accelerometer"] as const).map((name) => ({
          name,
          reason: absent,
        })),
      };
    },
  };
}

function appsOf(box: SimulatedBox): AppSource {
  return {
    async installedApps(signal) {
      await box.busy(signal);
      const apps = Object.entries(simulatedScreens).map(([id, { title }]) => ({
        id: `simulated.${id}`,
        name: title,
        version: "1.0",
      }));
      return { simulated: true, apps };
    },
  };
}

function controllersOf(latencyMs: number): DriverController[] {
  const box = new SimulatedBox(latencyMs);
  const life = {
    open: async () => {
      box.alive = true;
    },
    close: async () => {
      box.alive = false;
    },
    isAlive: () => box.alive,
    noticesAfter: () => [],
  };
  return [
    {
      kind: "remote",
      commands: commandsOf(box),
      checks: [],
      screen: {
        capture: async (_options, signal) => {
          await box.busy(signal);
          return box.picture();
        },
      },
      elements: {
        dump: async ({ interactiveOnly }, signal) => {
          await box.busy(signal);
          return box.dump(interactiveOnly);
        },
        selectors: async (refs) =>
          refs.map((ref) => {
            const item = box.find({ ref });
            return item ? [{ kind: "text", selector: item.name, unique: true, score: 0.8 }] : [];
          }),
      },
      sensors: sensorsOf(box),
      apps: appsOf(box),
      ...life,
    },
    { kind: "verification_text", commands: [], checks: checksOf(box), ...life },
  ];
}

/** Devices of model `simulated`: a made-up set-top box, for trying Labwright out and for its tests. */
export const simulatedFactory = defineFactory({
  name: "simulated",
  kinds: ["remote", "verification_text"],
  settings,
  offers: () => controllersOf(0),
  create: (given) => controllersOf(given.latency_ms),
});
