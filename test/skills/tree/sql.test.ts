import { nextActions, startTree } from "@labwright/skills";
import { expect, test } from "vitest";
import { evaluate, problemsOf, treeOf } from "./fixture.ts";

const quoted = (sql: string) => JSON.stringify(sql);
const treeText = (sql: string) => `entry_point: one
steps:
  one:
    name: One
    action: { type: query, source: shop, query_template: ${quoted(sql)} }
    decisions: { a: { condition: "true", confidence: 1, conclusion: { root_cause: A } } }
`;
const started = (sql: string, context: object) =>
  startTree(treeOf(treeText(sql)), { ...context }, { evaluate, at: 0 });
const bound = (sql: string, context: object) => nextActions(started(sql, context))[0]?.action;

const attack = "x'; DROP TABLE loads; --";

test.each([
  ["where id = {a}", "where id = $1", [attack]],
  ["where id = '{a}'", "where id = $1", [attack]],
  ["where id like '%{a}_' and n = {n}", "where id like $1 and n = $2", [`%${attack}_`, 7]],
  ["where id = 'O''Neil {n}'", "where id = $1", ["O'Neil 7"]],
  ["where a = '{n}' -- {missing} '\n and b = {n}", "where a = $1  \n and b = $2", ["7", 7]],
  ["/* '{missing} */ select {deep.list.1.x}", "  select $1", [true]],
  [`select '{"k": {"v": 1}}', '{}', '{{a}}'`, `select '{"k": {"v": 1}}', '{}', '{a}'`, []],
  ["select \"column\", $$ it's $$, E'\\'' from t;", "select \"column\", $$ it's $$, E'\\'' from t", []],
  ["where id = any({list})", "where id = any($1)", [["a'", 2]]],
])("%s is bound, with what an input holds as data", (template, sql, params) => {
  const context = { a: attack, n: 7, list: ["a'", 2], deep: { list: [{}, { x: true }] } };
  const action = bound(template, context);
  expect(action).toMatchObject({ sql, params });
  expect(JSON.stringify({ ...action, params: [] })).not.toContain("DROP");
});

test.each([
  ["where a = {missing}", /missing is missing/],
  ["where a = '{gone}'", /gone is null/],
  ["where a = {object}", /object is an object/],
  ["where a = '{list}'", /list is a list/],
  ["where a = {n.toString}", /n\.toString is missing/],
  ["where a = {constructor}", /constructor is missing/],
])("%s is undetermined rather than bound as null", (sql, reason) => {
  const state = started(sql, { gone: null, object: { a: 1 }, list: [1], n: 1 });
  expect(nextActions(state)).toEqual([]);
  expect(state.handoffs[0]).toMatchObject({
    trigger: "undetermined",
    question: expect.stringMatching(reason),
  });
});

test.each([
  ["select 1; delete from t", /has more than one statement/],
  ["select $1", /\$1 has no value here/],
  ["select {id:String}", /has no value here/],
  ['select "{a}"', /the name of a table or column cannot be a value/],
  ["select $$ {a} $$", /within \$\$ quotes/],
  ["select E'{a}'", /within E'' quotes/],
  ["select 'a", /that ' opens is not closed/],
  ["select 1 /* a", /that \/\* opens is not closed/],
])("%s is a problem of the file", (sql, problem) => {
  expect(problemsOf(treeText(sql))).toEqual([expect.stringMatching(problem)]);
});
