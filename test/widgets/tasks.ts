import type { Task } from "./task.ts";
import { editorTasks } from "./tasks/editors.ts";
import { fieldTasks } from "./tasks/fields.ts";
import { listTasks } from "./tasks/lists.ts";
import { pickerTasks } from "./tasks/pickers.ts";
import { surfaceTasks } from "./tasks/surfaces.ts";

export { heldOutTasks } from "./tasks/heldOut.ts";

/** By the widget's name. */
export const tasks: Readonly<Record<string, Task>> = {
  ...pickerTasks,
  ...fieldTasks,
  ...listTasks,
  ...editorTasks,
  ...surfaceTasks,
};
