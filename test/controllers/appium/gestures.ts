import { expect } from "vitest";
import type { openAppium } from "./openAppium.ts";

type Phone = Pick<Awaited<ReturnType<typeof openAppium>>, "run" | "read" | "lines">;

const sampleId = (id: string, prefix: string) => `id=${prefix}${id}`;

/** What fingers do beyond a tap, on the screens of the laboratory. `prefix` is that of the ids of its samples. */
export async function expectGestures({ run, read, lines }: Phone, prefix: string): Promise<void> {
  const samples = { app: { package: "dev.labwright.samples" } };
  const box = sampleId("box", prefix);
  await run("close_app", samples);
  await run("open_app", samples);
  await run("click_element", { selector: "Gestures" });
  const { message } = await run("drag", { selector: "Parcel", to_selector: box });
  expect(message).toMatch(/^dragged text "Parcel" to text "Box: empty"/);
  expect(await read("element_text", { selector: box, text: "Box: full" })).toMatchObject({ holds: true });
  const zoom = async () => Number(/Map (\d+) %/.exec((await lines()).join())?.[1]);
  await run("pinch", { selector: sampleId("map", prefix), zoom: "in" });
  const near = await zoom();
  expect(near).toBeGreaterThan(100);
  await run("pinch", { zoom: "out" });
  expect(await zoom()).toBeLessThan(near);
  await run("long_press", { selector: "Hold or tap twice" });
  expect(await read("text_visible", { text: "held" })).toMatchObject({ holds: true });
  await run("double_click", { selector: "Hold or tap twice" });
  expect(await read("text_visible", { text: "tapped twice" })).toMatchObject({ holds: true });
  await run("close_app", samples);
}

/** A fling runs on by itself: it goes further than a scroll. */
export async function expectFling({ run, lines }: Phone, settings: { package: string }): Promise<void> {
  await run("close_app", { app: settings });
  await run("open_app", { app: settings });
  const rows = async () => (await lines()).filter((line) => line.startsWith("listitem"));
  const [first] = await rows();
  await run("scroll", { direction: "down" });
  const afterScroll = await rows();
  await run("scroll", { direction: "top" });
  expect(await rows()).toContain(first);
  await run("fling", { direction: "down" });
  expect(await rows()).not.toEqual(afterScroll);
  await run("close_app", { app: settings });
}
