import { z } from "zod";
import {
  type EdgeDraft,
  edgeDraftSchema,
  labelSchema,
  type NodeInput,
  nodeSchema,
  referenceDocumentSchema,
  testcaseSchema,
  userInterfaceSchema,
} from "../../../domain/index.ts";

/** Raised when the meaning of an existing key changes; a file of another version is refused. */
export const formatVersion = 1;

/** Nodes and edges by label. An edge's ends are nodes of its own tree, or the node that the subtree hangs on. */
export type YamlNode = NodeInput & { subtree?: (YamlTree & { name?: string | undefined }) | undefined };
export type YamlTree = { nodes: YamlNode[]; edges: EdgeDraft[] };

const treeShape = {
  get nodes(): z.ZodDefault<z.ZodArray<z.ZodType<YamlNode>>> {
    return z.array(yamlNode).max(5_000).default([]);
  },
  edges: z.array(edgeDraftSchema).max(20_000).default([]),
};

const yamlNode: z.ZodType<YamlNode> = nodeSchema.extend({
  get subtree() {
    return z.strictObject({ name: labelSchema.optional(), ...treeShape }).optional();
  },
});

/** A longer file is neither read nor written. */
export const maxCharacters = 5_000_000;

/** A userinterface with its trees, test cases and references, as kept in git. */
export const yamlSchema = z.strictObject({
  format_version: z.literal(formatVersion),
  ...userInterfaceSchema.shape,
  tree: z.strictObject(treeShape).default({ nodes: [], edges: [] }),
  testcases: z.array(testcaseSchema).max(1_000).default([]),
  references: z.array(referenceDocumentSchema).max(1_000).optional(),
});
export type YamlDocument = z.output<typeof yamlSchema>;
