import { z } from "zod";

/** What a memory is about: an app, a device or a test. */
export const memoryScopeSchema = z.enum(["userinterface", "device", "test"]);
export type MemoryScope = z.output<typeof memoryScopeSchema>;

/** `flaky`: its result changed without a known change. `failure`: a step that fails the same way. `sequence`: steps that did a task. */
export const memoryKindSchema = z.enum(["flaky", "failure", "sequence"]);
export type MemoryKind = z.output<typeof memoryKindSchema>;
