import { ToolError } from "@labwright/mcp-server";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { exportYaml } from "#mcp-server/services/apps/files/exportYaml.ts";
import { testYaml } from "#mcp-server/services/apps/files/index.ts";
import { readText } from "../../../fixtures/readText.ts";
import { builtInVerbs } from "../../../fixtures/verbs.ts";

const verbs = builtInVerbs();
const read = (text: string, file?: string) => readText(text, { verbs, file });

function modelOf(text: string) {
  const { model } = read(text);
  if (!model) throw new Error("no app in this file");
  return model;
}
const noneBeside = { tests: [], references: [] };
const again = (text: string, schema?: string) => exportYaml(modelOf(text), noneBeside, { verbs, schema });
const lines = (...text: string[]) => `${text.join("\n")}\n`;

const forms = `
# one check, a list, and none
name: a
nodes:
  B: check text "B"
  C: [ check the url has "/c", { element_visible: { ref: e1 } } ]
  D: null
---
# everything that a node says
name: a
nodes:
  B:
    type: entry
    description: The first of all the places that this app has, with a long text about what it is for
    checks: check text "B"
    pass_condition: any
    protected: true
    position: { x: 1, y: 2 }
---
# edges there and back
name: a
nodes:
  B: null
  C: null
edges:
  B -> C: { steps: click "C", back: [ press BACK, { press_key: { count: 2, key: UP } } ], siblings: true }
  C -> B: click "B"
---
# what is tried again, and how long it takes
name: a
nodes:
  B: null
  C: null
edges:
  B -> C:
    steps: [ click "C", { reload: {}, wait_ms: 5 } ]
    retry: press OK
    failure: go_back
    kpi: check text "C"
    priority: p1
    final_wait_ms: 50
---
# a shared set of actions
name: a
nodes:
  B: null
  C: null
edges:
  B -> C:
    action_sets: [ { id: tap, actions: [ { command: reload } ] } ]
    conditional: true
---
# only a way back
name: a
nodes:
  B: null
  C: null
edges:
  B -> C: { back: press BACK }
---
# a subtree with a name of its own
name: a
nodes:
  B:
    nodes: { C: check text "C" }
    edges: { B -> C: click "C" }
    tree: below
---
# no entry
name: a
entry: false
nodes:
  B: null
---
# other models
name: a
models: [ simulated ]
app: { package: a.b }
variables: { n: 1 }
test_id_attribute: data-qa
---
# two edges between two nodes
name: a
nodes:
  B: null
  C: null
edges:
  - { from: B, to: C, steps: click "C" }
  - { from: B, to: C, steps: press OK }
---
# a label with an arrow
name: a
nodes:
  B: null
  C -> D: null
edges:
  - { from: B, to: C -> D, steps: [] }
`;

/** Each document with the title above it. */
const documents = (texts: string): [title: string, text: string][] =>
  texts.split(/^---\n/m).map((text) => {
    const [, title = "", rest = ""] = /^\n?# (.*)\n([\s\S]*)$/.exec(text) ?? [];
    return [title, rest];
  });

describe("an app in the short form", () => {
  test.each(documents(forms))("says %s, and is written the same way", (_, text) => {
    const written = again(text);
    expect(parse(written)).toEqual(parse(text));
    expect(again(written)).toBe(written);
  });

  test("needs no entry: the first node is reached from one that opens the app", () => {
    const text = lines("name: a", "nodes:", "  Z: null", "  B: null");
    const { nodes, edges } = modelOf(text);
    expect([...nodes.values()].map(({ label, type }) => [label, type])).toEqual([
      ["Start", "entry"],
      ["Z", "screen"],
      ["B", "screen"],
    ]);
    const [edge] = [...edges.values()];
    expect(edge?.action_sets[0]?.actions).toEqual([{ command: "open_app", params: { app: "{{app}}" } }]);
    expect(nodes.get(edge?.target ?? "")?.label).toBe("Z");
    expect(again(text)).toBe(text);
    // One way of its own from the implied entry is enough.
    const own = modelOf(`${text}edges:\n  Start -> B: reload\n`);
    expect(own.edges.size).toBe(1);
    expect(exportYaml(own, noneBeside, { verbs })).toContain("Start -> B: reload");
  });

  test("means the same as the older form", () => {
    const old = lines(
      ...[
        "format_version: 1",
        "name: a",
        "models: [web]",
        "tree:",
        "  nodes:",
        "    - { label: Start, type: entry }",
      ],
      ...["    - { label: B, verifications: [{ command: text_visible, params: { text: B } }] }", "  edges:"],
      "    - { source: Start, target: B, action_sets: [{ actions: [{ command: open_app, params: { app: '{{app}}' } }] }] }",
    );
    expect(again(old)).toBe(lines("name: a", "nodes:", '  B: check text "B"'));
  });

  test("keeps the ids of what it replaces", () => {
    const known = modelOf(lines("name: a", "nodes:", "  B: null", "  C: null", "edges:", "  B -> C: reload"));
    const text = lines(
      "name: a",
      "nodes:",
      "  C: null",
      "  B: { description: new }",
      "edges:",
      "  B -> C: reload",
    );
    const { model } = readText(text, { verbs, known });
    const ids = (one = known) => [...one.nodes.values(), ...one.edges.values()].map(({ id }) => id);
    expect(new Set(ids(model).filter((id) => ids().includes(id))).size).toBe(4);
  });

  test("begins with the line for editors when their schema is known", () => {
    const text = lines("name: a", "nodes:", "  B: null");
    expect(again(text, "app.schema.json")).toBe(`# yaml-language-server: $schema=app.schema.json\n${text}`);
    expect(testYaml({ name: "t", app: "a", steps: ["reload"] }, "x.json")).toBe(
      lines("# yaml-language-server: $schema=x.json", "name: t", "app: a", "steps:", "  - reload"),
    );
  });
});

describe("a file of tests", () => {
  test("is one test, called after its file where it has no name", () => {
    const { model, tests } = read(
      "app: shop\ncovers: [A-1]\nsteps: [reload]\n",
      "/home/anna/tests/buy a lamp.yaml",
    );
    expect(model).toBeUndefined();
    expect(tests).toEqual([
      { path: [], value: { name: "buy a lamp", app: "shop", covers: ["A-1"], steps: ["reload"] } },
    ]);
  });

  test("is several, of the file's app or of their own", () => {
    const { tests } = read(
      "app: shop\ntests: [{ name: a, steps: [] }, { name: b, app: bank, blocks: [] }]\n",
    );
    expect(tests.map(({ path, value }) => [path, value])).toEqual([
      [["tests", 0], { name: "a", userinterface_name: "shop", steps: [] }],
      [["tests", 1], { name: "b", app: "bank", blocks: [] }],
    ]);
    expect(read("testcases: [{ name: a, blocks: [] }]").tests).toHaveLength(1);
  });
});

describe("what is wrong is reported with line and column", () => {
  const problemsOf = (text: string) => {
    try {
      read(text, "shop.yaml");
    } catch (error) {
      if (error instanceof ToolError) return { message: error.message, problems: error.details.problems };
      throw error;
    }
    throw new Error("nothing was wrong");
  };

  test.each<[string, string, object]>([
    [
      "a check that no phrase says",
      '  B: chek text "B"',
      { line: 3, column: 6, path: "nodes.B", message: expect.stringContaining('nearest: check text "T"') },
    ],
    [
      "an action as a check",
      '  B: click "B"',
      {
        line: 3,
        message: expect.stringContaining("here stand checks; this is a step of type action (click_element)"),
      },
    ],
    [
      "a misspelt key",
      "  B: { cheks: [] }",
      { line: 3, column: 8, message: 'unknown key "cheks"; did you mean "checks"?' },
    ],
    [
      "a misspelt check",
      "  B: [{ text_visibl: { text: B } }]",
      {
        line: 3,
        column: 9,
        path: "nodes.B[0]",
        message: expect.stringContaining('did you mean "text_visible"?'),
      },
    ],
    [
      "an edge to nowhere",
      "  Home:\nedges:\n  Home -> Hom: reload",
      { line: 5, message: expect.stringContaining('target "Hom" is not a node; did you mean "Home"?') },
    ],
    [
      "an edge without an arrow",
      "  B:\nedges:\n  B to C: reload",
      { line: 5, column: 3, message: expect.stringContaining("an edge is named FROM -> TO") },
    ],
    [
      "a check with a time limit on an edge",
      '  B:\n  C:\nedges:\n  B -> C: [reload, wait for "X"]',
      {
        line: 6,
        column: 20,
        path: "edges.B -> C[1]",
        message: expect.stringContaining("without a time limit"),
      },
    ],
    [
      "an edge that says nothing",
      "  B:\n  C:\nedges:\n  B -> C: { priority: p1 }",
      { line: 6, message: "an edge needs steps, back or action_sets" },
    ],
    [
      "both ways of writing ways",
      "  B:\n  C:\nedges:\n  B -> C: { steps: reload, action_sets: [{ actions: [] }] }",
      { line: 6, message: expect.stringContaining("not both") },
    ],
    [
      "both forms",
      "  B:\ntree: {}",
      { line: 4, message: expect.stringContaining("give nodes and edges, or tree") },
    ],
    [
      "a Start that is no entry",
      "  Start:",
      { line: 3, message: expect.stringContaining('give "Start" the type entry') },
    ],
    ["a node twice", "  B:\n  B:", { line: 4, column: 3, message: "Map keys must be unique" }],
    [
      "a condition that is none",
      "  B: { pass_condition: some }",
      { line: 3, column: 24, path: "nodes.B.pass_condition" },
    ],
  ])("%s", (_, text, problem) => {
    const { message, problems } = problemsOf(`name: a\nnodes:\n${text}\n`);
    expect(problems).toEqual([expect.objectContaining(problem)]);
    expect(message).toMatch(/^shop\.yaml cannot be imported: line \d+, column \d+/);
  });
});
