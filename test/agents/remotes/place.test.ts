import { describe, expect, it } from "vitest";
import { AgentError } from "#agent-client/errors.ts";
import { choosePlace, type Facts, missingIn, type Needs } from "#agent-client/remotes/place.ts";

const needs = (given: Partial<Needs> = {}): Needs => ({
  capabilities: [],
  devices: [],
  app: undefined,
  ...given,
});
const facts = (capabilities: string[], devices: string[] = [], hasApp = false): Facts => ({
  ...{ capabilities: new Set(capabilities), devices, hasApp },
});
const remote = (name: string, capabilities: string[] = []) => ({ name, capabilities });

it("names what of a task's needs a server has not", () => {
  const all = needs({ capabilities: ["TESTING", "FILE_READ"], devices: ["phone", "lab/box"], app: "shop" });
  expect(missingIn(all, facts(["TESTING"], ["lab/box"]))).toEqual([
    ...["the device phone", "a device for the app shop", "FILE_READ"],
  ]);
  expect(missingIn(all, facts(["TESTING", "FILE_READ"], ["far/phone", "lab/box"], true))).toEqual([]);
});

describe("a task runs", () => {
  const servers: Record<string, Facts | AgentError> = {
    bare: facts(["TESTING"]),
    full: facts(["TESTING", "FILE_READ"], ["full/phone"], true),
    spare: facts(["TESTING", "FILE_READ"], ["spare/phone"], true),
    away: new AgentError("CONNECTION_REFUSED", "The remote away cannot be reached.", "Start it."),
  };
  const asked: string[] = [];
  const place = (given: Needs, here: Facts, ...remotes: ReturnType<typeof remote>[]) => {
    asked.length = 0;
    return choosePlace(given, here, remotes, async ({ name }) => {
      asked.push(name);
      const found = servers[name];
      if (!found || found instanceof AgentError) throw found;
      return found;
    });
  };
  const here = facts(["TESTING"], ["near/box"], true);

  it.each([
    [
      "here when this server has all, and asks no remote",
      needs({ capabilities: ["TESTING"] }),
      [],
      undefined,
      [],
    ],
    ["where its device is", needs({ devices: ["phone"] }), [], "full", ["bare", "full"]],
    [
      "on the first remote that has what is missing",
      needs({ capabilities: ["FILE_READ"] }),
      [],
      "full",
      ["bare", "full"],
    ],
    [
      "on a remote that is set for it, though this server could",
      needs({ capabilities: ["TESTING"] }),
      ["TESTING"],
      "spare",
      ["spare"],
    ],
    [
      "here when it names a device of this server, whatever a remote is set for",
      needs({ capabilities: ["TESTING"], devices: ["box"] }),
      ["TESTING"],
      undefined,
      [],
    ],
  ])("%s", async (_, given, spareIsFor, name, calls) => {
    const found = await place(given, here, remote("bare"), remote("full"), remote("spare", spareIsFor));
    expect(found.remote?.name).toBe(name);
    expect(found.reason).toMatch(name ? new RegExp(`^${name} `) : /^This server/);
    expect(asked).toEqual(calls);
  });

  it("here when the remote that is set for it has not the rest", async () => {
    const given = needs({ capabilities: ["TESTING"], app: "shop" });
    const found = await place(given, here, remote("bare", ["TESTING"]));
    expect(found).toEqual({
      remote: undefined,
      reason: "This server has what the task needs; bare has not a device for the app shop.",
    });
  });

  it("nowhere when no server has it all, and says what is missing on each", async () => {
    await expect(
      place(needs({ capabilities: ["GPS_LOCATION"] }), here, remote("full")),
    ).rejects.toMatchObject({
      code: "TOOL_NOT_FOUND",
      message: "No server can do the task: this server has not GPS_LOCATION; full has not GPS_LOCATION.",
      details: { missing: ["GPS_LOCATION"] },
    });
    await expect(place(needs({ devices: ["tv"] }), here, remote("full"))).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
  });

  it("on the next remote when one does not answer; when none has it, the silence is the reason", async () => {
    const given = needs({ devices: ["phone"] });
    expect((await place(given, here, remote("away"), remote("full"))).remote?.name).toBe("full");
    await expect(place(given, here, remote("away"), remote("bare"))).rejects.toMatchObject({
      code: "CONNECTION_REFUSED",
      message: expect.stringMatching(/the device phone.*bare has not.*away cannot be reached/),
    });
  });

  it("nowhere else when the remote that is set for it does not answer", async () => {
    const given = needs({ capabilities: ["TESTING"] });
    await expect(place(given, here, remote("away", ["TESTING"]))).rejects.toMatchObject({
      code: "CONNECTION_REFUSED",
    });
  });
});
