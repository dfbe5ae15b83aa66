import type { AnyTool } from "../registry/tool.ts";
import * as actions from "./actions.ts";
import * as alerts from "./alerts.ts";
import * as apis from "./apis.ts";
import * as deployments from "./deployments.ts";
import * as deviceFacts from "./deviceFacts.ts";
import * as devices from "./devices.ts";
import * as executions from "./executions.ts";
import * as investigations from "./investigations.ts";
import * as navigation from "./navigation.ts";
import * as planning from "./planning.ts";
import * as processes from "./processes.ts";
import * as recordings from "./recordings.ts";
import * as references from "./references.ts";
import * as requirements from "./requirements.ts";
import * as screen from "./screen.ts";
import * as scripts from "./scripts.ts";
import * as testcases from "./testcases.ts";
import * as tree from "./tree.ts";
import * as userinterfaces from "./userinterfaces.ts";
import * as verification from "./verification.ts";
import * as workspace from "./workspace.ts";

/** The whole catalogue, sorted by name. */
export const tools: readonly AnyTool[] = [
  actions,
  alerts,
  apis,
  deployments,
  deviceFacts,
  devices,
  executions,
  investigations,
  navigation,
  planning,
  processes,
  recordings,
  references,
  requirements,
  screen,
  scripts,
  testcases,
  tree,
  userinterfaces,
  verification,
  workspace,
]
  .flatMap((domain): AnyTool[] => Object.values(domain))
  .sort((a, b) => (a.name < b.name ? -1 : 1));
