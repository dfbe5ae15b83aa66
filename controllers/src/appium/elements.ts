import { z } from "zod";

/** The key of W3C WebDriver, and the older one. */
const element = z.union([
  z.object({ "element-6066-11e4-a52e-4f735466cecf": z.string() }).transform((one) => Object.values(one)[0]),
  z.object({ ELEMENT: z.string() }).transform((one) => one.ELEMENT),
]);

/** The id of an element as a server answers it. */
export const elementIn = (value: unknown): string | undefined => element.safeParse(value).data;
