import { describe, expect, it } from "vitest";
import { builtInFactories } from "#mcp-server/config/controllers.ts";
import { openConfigFolder, problemsOf } from "./loading.ts";

const { file, load } = openConfigFolder();
const known = builtInFactories.map(({ name }) => name).join(", ");

describe("devices", () => {
  it("writes out `count` as name, name-2, name-3 with the same settings", () => {
    const { devices } = load(
      "devices:\n  - name: web\n    count: 3\n    controllers: {web: {headless: false}}\n",
    );
    expect(devices.map(({ name }) => name)).toEqual(["web", "web-2", "web-3"]);
    expect(new Set(devices.map(({ controllers }) => JSON.stringify(controllers))).size).toBe(1);
    expect(devices[2]?.controllers.web).toMatchObject({ browser: "chromium", headless: false });
  });

  it("knows the models of the file next to the built-in ones", () => {
    const { devices } = load(
      "models: [{name: kiosk, drivers: [web]}]\ndevices: [{name: hall, model: kiosk}]\n",
    );
    expect(devices[0]?.drivers).toEqual(["web"]);
  });

  it("adds the drivers that a device sets to those of its model, in the order in which they are written", () => {
    const { devices } = load(
      "devices:\n  - {name: a, controllers: {simulated: {latency_ms: 5}}}\n  - {name: b, model: stb, controllers: {simulated: {}, web: {}}}\n",
    );
    expect(devices.map(({ drivers }) => drivers)).toEqual([
      ["web", "simulated"],
      ["text", "image", "video", "audio", "simulated", "web"],
    ]);
    expect(devices[0]?.controllers.simulated).toMatchObject({ latency_ms: 5 });
  });

  it("says of a driver that is not built in which ones are, where it stands", () => {
    const { problems } = problemsOf(() =>
      load(
        "models: [{name: wall, drivers: [simulatd]}]\ndevices:\n  - name: a\n    model: stb\n    controllers:\n      teleport: {}\n",
      ),
    );
    expect(problems).toMatchObject([
      {
        line: 6,
        path: "devices[0].controllers",
        message: `the driver "teleport" is not built in; known are ${known}.`,
      },
    ]);
    expect(
      problemsOf(() => load("models: [{name: wall, drivers: [simulatd]}]\ndevices: [{name: a}]\n")).problems,
    ).toMatchObject([
      {
        line: 1,
        path: "models[0].drivers[0]",
        message: `the driver "simulatd" is not built in; known are ${known}. Did you mean "simulated"?`,
      },
    ]);
  });

  it("says of a model whose driver is not built in yet which models can be used", () => {
    const { problems } = problemsOf(() => load("devices:\n  - name: phone\n    model: desktop\n"));
    expect(problems).toMatchObject([
      {
        line: 3,
        path: "devices[0].model",
        message:
          'model "desktop" needs the driver "desktop", which is not built in yet; models that can be used are web, android_mobile, android_tv, ios_mobile, stb, fire_tv, apple_tv, smart_tv, simulated',
      },
    ]);
  });

  it("refuses a device whose drivers reach nothing, and a screen that none of its drivers has", () => {
    const { problems } = problemsOf(() =>
      load("devices:\n  - {name: box, model: stb}\n  - {name: b, screen: av}\n  - {name: c, screen: web}\n"),
    );
    expect(problems).toMatchObject([
      { line: 2, message: expect.stringContaining('model "stb" has no driver that reaches a device; name') },
      { line: 3, message: 'the device has no controller "av"; it has web, verification_web' },
    ]);
  });

  it("says which settings the driver of a model needs", () => {
    const { problems } = problemsOf(() =>
      load(
        "devices:\n  - {name: a, model: fire_tv, controllers: {av: {x11: ':7'}}}\n  - {name: b, model: ios_mobile}\n",
      ),
    );
    expect(problems).toMatchObject([
      { line: 2, message: expect.stringContaining("controllers.adb_keys: give serial or address") },
      { line: 3, message: expect.stringContaining("controllers.appium.url: give url") },
    ]);
  });

  it("refuses a secret in the settings of a controller that has no value anywhere", () => {
    const yaml = "devices:\n  - name: a\n    controllers: {web: {user_agent: '{{secret.AGENT}}'}}\n";
    expect(problemsOf(() => load(yaml)).problems).toMatchObject([
      { line: 3, path: "devices[0].controllers.web", message: 'there is no secret "AGENT"' },
    ]);
    const { devices } = load(yaml, { env: { LABWRIGHT_SECRET_AGENT: "value" } });
    expect(devices[0]?.controllers.web).toMatchObject({ user_agent: "{{secret.AGENT}}" });
  });

  it("refuses a name that `count` of another device already makes", () => {
    const { problems } = problemsOf(() => load("devices:\n  - {name: a, count: 2}\n  - {name: a-2}\n"));
    expect(problems).toEqual([
      { file, line: 3, column: 12, path: "devices[1].name", message: 'a second device "a-2"' },
    ]);
  });

  it.each([
    ["name", "a".repeat(1_000_000), "must be letters, digits, _, . and -, at most 63 of them"],
    ["name", '"\\e[2J"', "must be letters, digits, _, . and -, at most 63 of them"],
    ["name: b, model", "a".repeat(1_000_000), expect.stringMatching(/^unknown model "a{900,1000}…$/)],
    ["name: b, model", '"\\e[2J"', expect.stringContaining('unknown model "\ufffd[2J"')],
  ])("names the line of a %s of 1 MB or that steers a terminal, and quotes it short and plain", (key, written, message) => {
    const { problems } = problemsOf(() => load(`devices:\n  - name: a\n  - {${key}: ${written}}\n`));
    expect(problems).toContainEqual(expect.objectContaining({ line: 3, message }));
  });

  it("offers the nearest model for an unknown one", () => {
    const { problems } = problemsOf(() => load("devices:\n  - name: a\n    model: webb\n"));
    expect(problems).toMatchObject([
      { line: 3, column: 12, message: 'unknown model "webb"; did you mean "web"?' },
    ]);
  });
});

describe("one physical thing", () => {
  const box = (name: string, serial: string) =>
    `  - { name: ${name}, model: simulated, controllers: { simulated: { serial: ${serial} } } }\n`;

  it("belongs to one device: both places are named with file, line and column", () => {
    const yaml = `devices:\n${box("one", "XYZ")}${box("two", "ABC")}${box("three", "XYZ")}`;
    const { problems } = problemsOf(() => load(yaml));
    expect(problems).toEqual([
      {
        ...{ file, line: 2, column: 62, path: "devices[0].controllers.simulated" },
        message:
          "serial:XYZ is used by one and by three (devices[2].controllers.simulated); one device has it",
      },
      {
        ...{ file, line: 4, column: 64, path: "devices[2].controllers.simulated" },
        message:
          "serial:XYZ is used by three and by one (devices[0].controllers.simulated); one device has it",
      },
    ]);
  });

  it("is not what count makes several of, and devices that name none share none", () => {
    const many = `devices:\n  - { name: box, model: simulated, count: 2, controllers: { simulated: { serial: XYZ } } }\n`;
    const { problems } = problemsOf(() => load(many));
    expect(problems).toMatchObject([{ line: 2, message: expect.stringContaining("count") }]);
    expect(load(`devices:\n${box("one", "ABC")}${box("two", "XYZ")}`).devices).toHaveLength(2);
    expect(load("devices:\n  - { name: box, model: simulated, count: 2 }\n").devices).toHaveLength(2);
  });
});
