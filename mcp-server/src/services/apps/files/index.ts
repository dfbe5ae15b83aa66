import type { ReferenceService } from "../../devices/references/index.ts";
import type { TestcaseService } from "../testcases/index.ts";
import type { UserInterfaceService } from "../userinterfaces/index.ts";
import { exportYaml } from "./exportYaml.ts";
import { readYaml } from "./importYaml.ts";

export type ImportReport = {
  id: string;
  name: string;
  replaced: boolean;
  trees: number;
  nodes: number;
  edges: number;
  testcases: number;
  /** Left out where the file says nothing of references. The app keeps its references then. */
  references?: number;
};

/** Whole apps as YAML: their models, test cases and references. */
export type AppFiles = {
  /** Throws USERINTERFACE_NOT_FOUND, and INPUT_TOO_LARGE for an app whose file could not be imported again. */
  exportYaml(userinterface: string): Promise<string>;
  /** All or nothing. Throws INVALID_INPUT with every problem and its line, ALREADY_EXISTS unless `replace`. */
  importYaml(text: string, replace: boolean): Promise<ImportReport>;
};

export type AppFilesDependencies = {
  userinterfaces: Pick<UserInterfaceService, "load" | "put">;
  testcases: Pick<TestcaseService, "exportFor" | "importAll">;
  references: Pick<ReferenceService, "exportFor" | "importAll" | "removeOrphans">;
};

export const createAppFiles = ({
  userinterfaces,
  testcases,
  references,
}: AppFilesDependencies): AppFiles => ({
  async exportYaml(userinterface) {
    const model = await userinterfaces.load(userinterface);
    const kept = await references.exportFor(model.ui.id);
    return exportYaml(model, await testcases.exportFor(model.ui.name), kept);
  },
  async importYaml(text, replace) {
    const read = readYaml(text);
    const { model, replaced } = await userinterfaces.put(read.model.ui.name, {
      replace,
      make: (known) => (known ? readYaml(text, known).model : read.model),
      async storeWith(tx, model, app) {
        if (read.testcases.length > 0) await testcases.importAll(read.testcases, { tx, app });
        if (read.references)
          await references.importAll(read.references, { tx, userinterfaceId: model.ui.id });
      },
    });
    await references.removeOrphans();
    return {
      id: model.ui.id,
      name: model.ui.name,
      replaced,
      trees: model.trees.size,
      nodes: model.nodes.size,
      edges: model.edges.size,
      testcases: read.testcases.length,
      ...(read.references && { references: read.references.length }),
    };
  },
});
