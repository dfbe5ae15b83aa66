import { expect, it } from "vitest";
import { type Action, clickAt, createQueue, keyed } from "#mcp-server/dashboard/devices/input.ts";
import { holding } from "#mcp-server/dashboard/devices/replies.ts";
import { addressOf, readRoute } from "#mcp-server/dashboard/shell/route.ts";

const web = { controllers: "web, verification_web" };
const phone = { controllers: "remote, verification_adb" };

it("clicks the pixel under the pointer, whatever size the picture is drawn in, and never outside of it", () => {
  const shown = { box: { left: 10, top: 20, width: 320, height: 180 }, size: { width: 1280, height: 720 } };
  const at = (clientX: number, clientY: number) => clickAt(web, { clientX, clientY }, shown).params;
  expect(at(10, 20)).toEqual({ x: 0, y: 0 });
  expect(at(170, 110)).toEqual({ x: 640, y: 360 });
  expect(at(330, 200)).toEqual({ x: 1279, y: 719 });
  expect(at(0, 500)).toEqual({ x: 0, y: 719 });
  expect(clickAt(phone, { clientX: 170, clientY: 110 }, shown).command).toBe("tap");
});

it("passes letters and keys on, and leaves the page its own", () => {
  const plain = { ctrlKey: false, metaKey: false, altKey: false };
  const on = (device: typeof web, key: string) => keyed(device, { key, ...plain });
  expect(on(web, "é")).toEqual({ command: "type_text", params: { text: "é" } });
  expect(on(web, "Backspace")).toEqual({ command: "press_key", params: { key: "Backspace" } });
  expect(on(phone, "Enter")).toEqual({ command: "press_key", params: { key: "OK" } });
  for (const key of ["Tab", "Escape", "Shift"]) expect(on(web, key)).toBeUndefined();
  expect(keyed(web, { key: "r", ...plain, ctrlKey: true })).toBeUndefined();
});

it("runs one action at a time, and types letters that wait as one text", async () => {
  const ran: Action[] = [];
  const ends: (() => void)[] = [];
  const queue = createQueue((action) => {
    ran.push({ ...action });
    return new Promise((resolve) => ends.push(resolve));
  });
  const next = async () => {
    ends.shift()?.();
    await Promise.resolve();
    await Promise.resolve();
  };
  const letter = (text: string): Action => ({ command: "type_text", params: { text } });
  const click: Action = { command: "tap", params: {} };
  for (const action of [letter("a"), letter("b"), letter("c"), click, letter("d")]) queue.add(action);
  expect(ran).toEqual([letter("a")]);
  await next();
  expect(ran.at(-1)).toEqual(letter("bc"));
  await next();
  await next();
  expect(ran.slice(2)).toEqual([click, letter("d")]);
});

it("reads a device's state and an address as they were written", () => {
  expect(holding("free")).toEqual({ word: "free" });
  expect(holding("yours until 2026-01-01T00:00:00Z")).toMatchObject({ word: "yours" });
  expect(holding("held by an agent until midnight until 2026-01-01T00:00:00Z")).toMatchObject({
    word: "held",
    holder: "an agent until midnight",
  });
  for (const route of [{ room: "runs", id: "a/b ü%", step: 3 } as const, { room: "devices" } as const])
    expect(readRoute(addressOf(route))).toEqual(route);
  expect(readRoute("#/%E0%A4/x")).toEqual({ room: "devices", id: "x" });
});
