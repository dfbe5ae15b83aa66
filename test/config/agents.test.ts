import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openConfigFolder, problemsOf } from "./loading.ts";

const { folder, load } = openConfigFolder();

describe("JWTs of the agents' API", () => {
  const problems = (jwt: string) =>
    problemsOf(() => load(`agents:\n  api:\n    jwt: ${jwt}\n`)).problems.map(({ line, path, message }) => ({
      line,
      path: path.replace("agents.api.", ""),
      message,
    }));
  const others = "issuer: a, audience: b";

  it("need something to check them with", () => {
    expect(problems("{issuer: a}")).toMatchObject([
      { line: 3, path: "jwt", message: expect.stringContaining("secret_env or jwks_url") },
    ]);
  });

  it.each([
    "issuer: a",
    "audience: b",
  ])("need an issuer and an audience beside a key set, not only %s", (one) => {
    expect(problems(`{jwks_url: "https://id.example/keys", ${one}}`)).toMatchObject([
      { line: 3, path: "jwt", message: expect.stringContaining("issuer and audience") },
    ]);
  });

  it("take no key set over plain HTTP from another machine", () => {
    expect(problems(`{jwks_url: "http://id.example/keys", ${others}}`)).toMatchObject([
      { line: 3, path: "jwt.jwks_url", message: expect.stringContaining("https") },
    ]);
    expect(problems(`{jwks_url: "no address", ${others}}`)).toMatchObject([
      { line: 3, path: "jwt.jwks_url" },
    ]);
    for (const url of ["https://id.example/keys", "http://127.0.0.1:80/keys", "http://[::1]/keys"])
      expect(load(`agents: {api: {jwt: {jwks_url: "${url}", ${others}}}}\n`).agents.api.jwt).toBeDefined();
  });

  it.each(["local", "jwt:ci"])("have owners of their own: a key is not called %s", (owner) => {
    const key = `{owner: "${owner}", sha256: ${"ab".repeat(32)}}`;
    const found = problemsOf(() => load(`agents: {api: {keys: [${key}]}}\n`)).problems;
    expect(found).toMatchObject([{ path: "agents.api.keys[0].owner" }]);
  });

  it("take a secret alone", () => {
    const { jwt } = load("agents: {api: {jwt: {secret_env: JWT_SECRET}}}\n").agents.api;
    expect(jwt).toEqual({ secret_env: "JWT_SECRET" });
  });
});

describe("remotes of the agents", () => {
  const yaml = (...lines: string[]) =>
    `agents:\n  remotes:\n${lines.map((line) => `    - {${line}}\n`).join("")}`;
  const remote = 'name: far, url: "https://far.example:7333", token: {env: FAR_TOKEN}';

  it("are none by default, and have their token by name, a file seen from this one", () => {
    expect(load("").agents.remotes).toEqual([]);
    expect(load(yaml(`${remote}, capabilities: [TESTING]`)).agents.remotes).toEqual([
      {
        ...{ name: "far", url: "https://far.example:7333", token: { env: "FAR_TOKEN" } },
        capabilities: ["TESTING"],
      },
    ]);
    const [found] = load(yaml(remote.replace("env: FAR_TOKEN", "file: far.token"))).agents.remotes;
    expect(found?.token).toEqual({ file: join(folder, "far.token") });
    for (const url of ["http://127.0.0.1:7333", "http://localhost:7333/", "https://[::2]:1"])
      expect(load(yaml(remote.replace("https://far.example:7333", url))).agents.remotes).toHaveLength(1);
  });

  it.each([
    ["plain HTTP to another machine", remote.replace("https", "http"), "url", "read on its way"],
    ["no address", remote.replace("https://far.example:7333", "far"), "url", "http or https address"],
    ["a path", remote.replace("7333", "7333/mcp"), "url", "neither a path nor credentials"],
    [
      "credentials in the address",
      remote.replace("far.ex", "a:b@far.ex"),
      "url",
      "neither a path nor credentials",
    ],
    ["a token as it is", remote.replace("{env: FAR_TOKEN}", "secret"), "token", "{env: VARIABLE}"],
    ["a capability that no task needs", `${remote}, capabilities: [TESTNG]`, "capabilities[0]", "TESTING"],
    ["a name with a slash", remote.replace("name: far", "name: far/box"), "name", "lower-case"],
  ])("refuse %s", (_, line, key, message) => {
    const { problems } = problemsOf(() => load(yaml(line)));
    const [problem] = problems;
    expect(problem).toMatchObject({ line: 3, path: `agents.remotes[0].${key}` });
    expect(problem?.message).toContain(message);
  });

  it("refuse two of one name", () => {
    expect(problemsOf(() => load(yaml(remote, remote))).problems).toMatchObject([
      { path: "agents.remotes", message: "two remotes have the same name" },
    ]);
  });
});
