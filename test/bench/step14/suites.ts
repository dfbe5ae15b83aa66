import type { Suites } from "../sides.ts";
import { measureHostile } from "./hostileInputs.ts";
import { measureWalls } from "./walls.ts";

/** Walls: what they cost, and what they hold. */
export const step14: Suites = { walls: measureWalls, hostile: measureHostile };
