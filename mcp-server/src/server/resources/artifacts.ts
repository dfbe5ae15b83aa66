import { ToolError } from "../../errors.ts";
import type { ArtifactStore, Services } from "../../services/index.ts";
import type { ResourceRoom } from "./room.ts";

/** `artifact://<sha256>`: a file that a tool made, as text where its type is one. */
export function artifactRoom(artifacts: ArtifactStore): ResourceRoom {
  return {
    scheme: "artifact",
    async read([sha256 = "", ...rest]) {
      if (rest.length > 0 || !/^[\da-f]{64}$/.test(sha256))
        throw new ToolError(
          "ARTIFACT_NOT_FOUND",
          "An artifact is named by 64 hexadecimal digits.",
          "Use the uri that a tool or report gave.",
        );
      const { bytes, mimeType } = await artifacts.get(sha256);
      const isText = /^text\/|[/+](json|xml|yaml)$/.test(mimeType);
      return isText ? { mimeType, text: Buffer.from(bytes).toString("utf8") } : { mimeType, bytes };
    },
    complete: ({ typed }) => artifacts.startingWith(typed.toLowerCase()),
  };
}

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
