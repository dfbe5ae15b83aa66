import { nearest } from "@labwright/controllers";
import { ToolError } from "../../errors.ts";
import type { Catalogue, CatalogueSkill } from "../../registry/catalogue.ts";
import { describeSchema, describeSkill, mimeType } from "../mcp/catalogueResources.ts";
import type { ResourceRoom } from "./room.ts";

/**
 * `tool://`, `schema://` and `skill://` beyond what a listing has: the user's own skills, and the nearest names for what
 * is not there.
 */
export function namedRooms(
  catalogue: Catalogue,
  userSkills: () => readonly CatalogueSkill[],
): ResourceRoom[] {
  return [
    namedRoom(
      "tool",
      () => catalogue.tools,
      (tool) => tool,
    ),
    namedRoom(
      "schema",
      () => catalogue.tools,
      (tool) => describeSchema(catalogue, tool),
    ),
    namedRoom("skill", () => [...catalogue.skills, ...userSkills()], describeSkill),
  ];
}

function namedRoom<Item extends { name: string }>(
  scheme: string,
  items: () => readonly Item[],
  describe: (item: Item) => unknown,
): ResourceRoom {
  return {
    scheme,
    async read(path) {
      const name = path.join("/");
      const item = items().find((one) => one.name === name);
      if (item) return { mimeType, text: JSON.stringify(describe(item), null, 2) };
      const near = nearest(
        name,
        items().map((one) => one.name),
      ).map((one) => `${scheme}://${one}`);
      throw new ToolError(
        "INVALID_INPUT",
        `There is no ${scheme}://${name}.`,
        near.length > 0 ? `Nearest: ${near.join(", ")}.` : "The template's completion has all names.",
        { nearest: near },
      );
    },
    complete: async () => items().map(({ name }) => name),
  };
}
