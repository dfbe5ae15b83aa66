import { ToolError } from "../../errors.ts";
import type { Services } from "../../services/index.ts";
import type { ResourceRoom } from "./room.ts";

/** A map is read whole by a person or a model; a larger one says how much is left. */
const mapTokens = 8_000;
const allNames = 50_000;

/** `tree://<userinterface>` is the app's map in lines, `tree://<userinterface>/<node>` one node as JSON. */
export function treeRoom({
  userinterfaces,
  navigation,
}: Pick<Services, "userinterfaces" | "navigation">): ResourceRoom {
  return {
    scheme: "tree",
    async read([app = "", node, ...rest]) {
      if (app === "" || rest.length > 0)
        throw new ToolError(
          "INVALID_INPUT",
          "A tree is tree://<userinterface>, a node of it tree://<userinterface>/<node>.",
          "Encode a slash within a name as %2F.",
        );
      if (node === undefined) {
        const { map, more } = await navigation.preview(app, mapTokens);
        const left = more > 0 ? `\n(${more} more nodes: list_navigation_nodes)` : "";
        return { mimeType: "text/plain", text: map + left };
      }
      const view = await userinterfaces.getNode(app, node);
      return { mimeType: "application/json", text: JSON.stringify(view, null, 2) };
    },
    async complete({ variable, given }) {
      if (variable === "userinterface")
        return (await userinterfaces.list(allNames)).userinterfaces.map(({ name }) => name);
      const app = given.userinterface;
      if (app === undefined) return [];
      return (await userinterfaces.describe(app)).nodes.map(({ label }) => label);
    },
  };
}
