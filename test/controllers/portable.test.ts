import * as door from "@labwright/controllers";
import { type CommandOffer, type ControllerFactory, portable } from "@labwright/controllers";
import * as lab from "@labwright/controllers/lab";
import { describe, expect, it } from "vitest";
import { z } from "zod";

type Offered = Omit<CommandOffer, "effect"> & { effect?: string };

const known = new Map<string, Offered>(Object.entries(portable));
const shapeSchema = z.object({
  properties: z.record(z.string(), z.unknown()),
  required: z.array(z.string()).default([]),
});
const shapeOf = (input: z.ZodType) => shapeSchema.parse(z.toJSONSchema(input, { io: "input" }));

/** Where a driver's command or check differs from the portable one of its name. */
function deviations(offered: Offered, common: Offered): string[] {
  const [found, wanted] = [shapeOf(offered.input), shapeOf(common.input)];
  const isSame = (name: string) =>
    JSON.stringify(found.properties[name]) === JSON.stringify(wanted.properties[name]);
  return [
    ...(offered.effect === common.effect ? [] : ["effect"]),
    ...(offered.description.startsWith(common.description) ? [] : ["description"]),
    ...Object.keys(wanted.properties).filter((name) => !isSame(name)),
    ...found.required.filter((name) => !wanted.required.includes(name)).map((name) => `${name} is required`),
    ...wanted.required.filter((name) => !found.required.includes(name)).map((name) => `${name} is optional`),
  ];
}

const isFactory = (one: unknown): one is ControllerFactory =>
  typeof one === "object" && one !== null && "kinds" in one && "create" in one;

const offeredBy = (factory: ControllerFactory): Offered[] =>
  factory.offers().flatMap(({ commands, checks }) => [...commands, ...checks]);

it("every entry is named by its key", () => {
  expect([...known.values()].map(({ name }) => name)).toEqual([...known.keys()]);
});

describe("a driver offers what is portable in the portable shape", () => {
  const factories = Object.values({ ...door, ...lab }).filter(isFactory);

  it("every factory is looked at", () => {
    expect(factories.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["web", "simulated", "simulated_infrared", "simulated_capture"]),
    );
  });

  it.each(factories)("$name", (factory) => {
    const all = offeredBy(factory);
    // They give their device a picture and sound, for the commands and checks of others.
    if (!["av", "simulated_capture"].includes(factory.name)) expect(all.length).toBeGreaterThan(0);
    const offered = all.filter(({ name }) => known.has(name));
    const found = offered.flatMap((one) =>
      deviations(one, known.get(one.name) ?? one).map((deviation) => `${one.name}: ${deviation}`),
    );
    expect(found).toEqual([]);
  });

  it.each([door.webFactory, lab.simulatedFactory])("$name offers all of it", (factory) => {
    const names = new Set(offeredBy(factory).map(({ name }) => name));
    expect([...known.keys()].filter((name) => !names.has(name))).toEqual([]);
  });
});

describe("another shape under a portable name is refused", () => {
  const click = portable.click_element;
  const { text_visible: text } = portable;
  const others: [what: string, offered: Offered, common: Offered, deviation: string][] = [
    ["another effect", { ...click, effect: "read" }, click, "effect"],
    ["a check offered as a command", { ...text, effect: "read" }, text, "effect"],
    ["another description", { ...click, description: "Presses OK." }, click, "description"],
    ["a parameter left out", { ...click, input: click.input.omit({ ref: true }) }, click, "ref"],
    ["a parameter of another type", { ...click, input: click.input.extend({ ref: z.int() }) }, click, "ref"],
    [
      "another default",
      { ...text, input: text.input.extend({ match: text.input.shape.match.unwrap().default("same") }) },
      text,
      "match",
    ],
    [
      "a parameter of its own that a call must give",
      { ...click, input: click.input.extend({ button: z.string() }) },
      click,
      "button is required",
    ],
    [
      "a required parameter made optional",
      { ...text, input: text.input.partial({ text: true }) },
      text,
      "text is optional",
    ],
  ];

  it.each(others)("%s", (_, offered, common, deviation) => {
    expect(deviations(offered, common)).toContain(deviation);
  });

  it("an optional parameter and a sentence of its own are not refused", () => {
    const input = click.input.extend({ button: z.string().optional() });
    expect(deviations({ ...click, description: `${click.description} Fast.`, input }, click)).toEqual([]);
  });
});

describe("an app", () => {
  it("may be given with more than a device needs of it", () => {
    const app = { url: "https://shop.example/", package: "example.shop", fresh: true };
    expect(portable.open_app.input.parse({ app })).toMatchObject({
      app: { url: "https://shop.example/", package: "example.shop" },
    });
  });
});
