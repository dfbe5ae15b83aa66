import type { Controller, ControllerFacts, ControllerStatus } from "@labwright/controllers";
import type { OpenDevice } from "../ports.ts";

/** `online`, or what is wrong with each controller that is not: its state, why, and what a person can do. */
export function statusOf({ controllers, isOpen }: OpenDevice): string {
  const problems = controllers.filter(isOpen).flatMap((controller) => {
    const status = controller.status?.() ?? lifeOf(controller);
    if (status.state === "online") return [];
    const { state, reason, fix } = status;
    return [[`${controller.kind} (${controller.driver}) ${state}: ${reason}`, fix].filter(Boolean).join(" ")];
  });
  return problems.length === 0 ? "online" : problems.join("; ");
}

const lifeOf = (controller: Controller): ControllerStatus =>
  controller.isAlive()
    ? { state: "online" }
    : { state: "offline", reason: "its connection was lost.", fix: "The next call opens it again." };

/** What the controllers know of the device: of each fact the first that is told. */
export function factsOf({ controllers }: OpenDevice): ControllerFacts {
  return Object.assign({}, ...controllers.map((controller) => controller.facts?.()).toReversed());
}
