import { ToolError } from "../../errors.ts";
import type { Services } from "../../services/index.ts";
import type { ResourceRoom } from "./room.ts";

/** `reference://<sha256>`: the picture of a reference, as PNG. */
export function referenceRoom({ references }: Pick<Services, "references">): ResourceRoom {
  return {
    scheme: "reference",
    async read([sha256 = "", ...rest]) {
      if (rest.length === 0) return { mimeType: "image/png", bytes: await references.picture(sha256) };
      throw new ToolError(
        "REFERENCE_NOT_FOUND",
        "A reference's picture is named by 64 hexadecimal digits.",
        "Use the uri that list_references gives.",
      );
    },
  };
}
