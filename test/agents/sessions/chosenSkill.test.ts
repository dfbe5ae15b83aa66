import { loadAgents } from "@labwright/agent-client";
import { deviceModels } from "@labwright/controllers";
import { matchSkill } from "@labwright/skills";
import { expect, test } from "vitest";
import { platformOf } from "#agent-client/skills/device.ts";
import { allSkills, answers, type Call, hostsOf } from "../../fixtures/agentLab.ts";
import { calls, says } from "../../fixtures/messagesApi/reply.ts";
import { namesOf, openTalks, scriptRequest, toolsOf } from "./talk.ts";

const { talk } = openTalks();
const twoDevices = hostsOf({ id: "lab/browser", model: "web" }, { id: "lab/tv", model: "stb" });

test("a later message changes the skill and keeps the history; a follow-up keeps the skill", async () => {
  const steps = [says("it passed"), says("again it passed"), says("two devices")];
  const { say, api } = await talk(steps, { name: "claude-haiku-5-5" });
  const { id } = await say(scriptRequest);
  const again = await say("and once more please", id);
  expect(again.events.find(({ type }) => type === "skill_loaded")).toMatchObject({
    skill: "run-script",
    chosen_by: "kept",
  });
  const other = await say("health check of all devices in the lab", id);
  expect(other.events.find(({ type }) => type === "skill_loaded")).toMatchObject({ skill: "health-check" });
  expect(namesOf(api, 2)).toEqual(toolsOf("health-check"));
  expect(api.requests[2]?.body.messages).toHaveLength(5);
});

test("an undecided message is asked of a model, once and cheaply, and its cost counts", async () => {
  const { say, api } = await talk([says("list-resources"), says("there")]);
  const { events, ended } = await say("could you maybe check something");
  expect(events[0]).toMatchObject({ type: "skill_loaded", skill: "list-resources", chosen_by: "model" });
  expect(api.requests[0]?.body.tools).toBeUndefined();
  expect(api.requests[0]?.body).toMatchObject({
    thinking: { type: "between_tools" },
    output_config: { effort: "low" },
  });
  const [routed] = api.requests.map(({ body }) => JSON.stringify(body.system));
  expect(routed?.match(/\\n[a-z-]+: [A-Z]/g)).toHaveLength(8);
  expect(routed).toMatch(/\\nOther skills: .*\bnavigate-app\b/);
  const sent = api.requests.reduce((sum, { usage }) => sum + usage.input_tokens, 0);
  expect(ended.usage.input_tokens).toBe(sent);
});

test("what no model knows either is asked of the user, whose answer is a name or its number", async () => {
  const { say, api } = await talk([says("ask"), says("listed")]);
  const first = await say("could you maybe check something");
  expect(first.ended.outcome).toBe("needs_input");
  const question = first.events.find((event) => event.type === "handoff");
  const options = question?.type === "handoff" ? question.options : [];
  expect(options.length).toBeGreaterThan(1);
  const second = await say("1", first.id);
  expect(second.events[0]).toMatchObject({ type: "skill_loaded", skill: options[0], chosen_by: "user" });
  expect(JSON.stringify(api.requests[1]?.body.messages)).toContain("could you maybe check something");
});

test("a skill that needs a device asks which, when there are several and none was named", async () => {
  const call: Call = ({ name }) => (name === "list_hosts" ? twoDevices : answers("done"));
  const { say, api } = await talk([says("passed")], { call });
  const first = await say("Run the script goto");
  expect(first.events.find(({ type }) => type === "handoff")).toMatchObject({
    options: ["lab/browser", "lab/tv"],
  });
  expect(first.ended.outcome).toBe("needs_input");
  expect(api.requests).toHaveLength(0);
  const second = await say("2", first.id);
  expect(second.events[0]).toMatchObject({ skill: "run-script", chosen_by: "kept" });
  expect(JSON.stringify(api.requests[0]?.body.messages)).toContain("lab/tv");
});

test("tools of another skill are added within the conversation: the cached beginning stays as it was", async () => {
  const steps = [
    says("it passed"),
    calls("get_device_info", { device_id: "lab/browser" }),
    says("all is well"),
    calls("get_device_info", { device_id: "lab/browser" }),
    says("still well"),
  ];
  const { say, api, calls: made } = await talk(steps, { name: "claude-sonnet-5-5" });
  const { id } = await say(scriptRequest);
  const other = await say("health check of all devices in the lab", id);
  expect(other.ended).toMatchObject({ outcome: "done", text: "all is well" });
  const third = await say("check the health of all devices again", id);
  expect(third.ended).toMatchObject({ outcome: "done", text: "still well" });
  expect(made.filter(({ name }) => name === "get_device_info")).toHaveLength(2);
  for (const at of [0, 1, 2, 3]) {
    expect(namesOf(api, at)).toEqual(toolsOf("run-script"));
    expect(api.requests[at]?.body.system).toEqual(api.requests[0]?.body.system);
    const before = api.requests[at]?.body.messages ?? [];
    expect(api.requests[at + 1]?.body.messages.slice(0, before.length)).toEqual(before);
  }
  expect(api.refused).toEqual([]);
});

test("two wishes in one message run one after the other, each with its own tools, and end as one", async () => {
  const { say, api } = await talk([says("it passed"), says("all are well")], { name: "claude-haiku-5-5" });
  const { events, ended } = await say("run the script goto, and then health check of all devices");
  const loaded = events.flatMap((event) => (event.type === "skill_loaded" ? [event.skill] : []));
  expect(loaded).toEqual(["run-script", "health-check"]);
  expect([namesOf(api, 0), namesOf(api, 1)]).toEqual([toolsOf("run-script"), toolsOf("health-check")]);
  expect(JSON.stringify(api.requests[1]?.body.messages.at(-1))).toContain(
    "only this: health check of all devices",
  );
  const sent = api.requests.reduce((sum, { usage }) => sum + usage.input_tokens, 0);
  expect(ended).toMatchObject({ outcome: "done", text: "it passed\n\nall are well", turns: 2 });
  expect(ended.usage.input_tokens).toBe(sent);
});

test("the device that two wishes wait for is asked for once, and its name is enough", async () => {
  const call: Call = ({ name }) => (name === "list_hosts" ? twoDevices : answers("done"));
  const { say, api } = await talk([says("listed"), says("passed"), says("all are well")], {
    ...{ call, name: "claude-haiku-5-5" },
  });
  const { id } = await say("list all scripts");
  const first = await say("run the script goto, and then health check of all devices", id);
  expect(first.ended).toMatchObject({ outcome: "needs_input", text: expect.stringContaining("lab/tv") });
  expect(api.requests).toHaveLength(1);
  const second = await say("tv", id);
  const loaded = second.events.flatMap((event) => (event.type === "skill_loaded" ? [event.skill] : []));
  expect(loaded).toEqual(["run-script", "health-check"]);
  expect(second.ended).toMatchObject({ outcome: "done", text: "passed\n\nall are well" });
  expect(JSON.stringify(api.requests[1]?.body.messages)).toContain("only this: run the script goto");
});

test("a model may name two skills in order; what follows a part that failed is not begun, and named", async () => {
  const { say, api } = await talk([says("list-resources, health-check"), says("no", "refusal")]);
  const { ended } = await say("could you maybe check something and something else");
  expect(api.requests).toHaveLength(2);
  expect(ended).toMatchObject({
    outcome: "refused",
    text: expect.stringContaining("Not begun: health-check."),
  });
});

test("three prompts that the available devices can run open a conversation, and every prompt is understood without a model", async () => {
  const { conversations } = await talk([]);
  const suggestions = await conversations.suggestions();
  expect(suggestions).toHaveLength(3);
  const assistant = loadAgents().agents.find((agent) => agent.default);
  for (const { text } of assistant?.suggestions ?? [])
    expect(matchSkill(text, allSkills), text).toMatchObject({ kind: "match" });
});

test("each model of a device but the made-up one is of a platform that skills are for", () => {
  const platforms = Object.fromEntries(
    deviceModels.map(({ name }) => [name, platformOf({ id: name, name, model: name })]),
  );
  expect(platforms).toEqual({
    ...{ web: "web", desktop: "desktop", android_mobile: "mobile", ios_mobile: "mobile", simulated: null },
    ...{ android_tv: "stb", stb: "stb", fire_tv: "stb", apple_tv: "stb", smart_tv: "stb" },
  });
});
