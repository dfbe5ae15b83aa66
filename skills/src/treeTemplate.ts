import { investigatingTools } from "./definition.ts";

/** What differs between the templates of a `skill.yaml`. */
export type TemplateKeys = { description: string; prompt: string; tools: string; more: string };

/** What the `skill.yaml` of a skill with a decision tree says. */
export const treeKeys = (name: string): TemplateKeys => ({
  description: "Finds out why a test fails, from its last runs and the open alerts.",
  prompt: `Call start_investigation with skill ${name} and the context that the user gave: test, the name of the test.
  When it asks, put its question and options to the user, and call resume_investigation with the answer; never choose yourself.
  Report the root cause, its confidence, the evidence in one line each, and the recommended action. Nothing was changed: an
  action that was approved is still to be done. Without a root cause, say what was found and what is open.`,
  tools: investigatingTools.map((tool) => `  - ${tool}`).join("\n"),
  more: `# Who answers for the skill, and how far it is.
owner: me
status: draft
# Optional, CEL: the skill is only for requests whose context fits, such as ["ticket.kind == 'test'"].
conditions: []
# Optional: databases and APIs that the steps ask, with credentials in environment variables. For example:
#   shop: { type: postgres, credentials: env:SHOP_DATABASE_URL }
#   apis: { orders: { endpoint: "https://orders.example/v1", auth: bearer, credentials: env:ORDERS_TOKEN } }
data_sources: {}
# When a person is asked.
human_handoff:
  triggers:
    # A decision with a lower confidence than this is confirmed first.
    low_confidence: { threshold: 0.7, action: Confirm the cause }
    # So many steps without a cause are shown to a person.
    stuck_after_steps: { max_steps: 5, action: Say where to look next }
    # Two decisions hold at once, or two paths end in different causes.
    contradictory_data: { action: Say which is right }
    # These actions are recommended only after a person approved them.
    critical_decision: { actions: [], action: Approve the action }
# What the skill is measured by: labwright skills stats compares.
metrics: { target_time: 1 minute, baseline_time: 20 minutes, expected_accuracy: 85% }
`,
});

export const treeFiles: Readonly<Record<string, string>> = {
  "decision_tree.yaml": `# The first step.
entry_point: last_runs

steps:
  last_runs:
    # For people.
    name: Last runs
    description: Did the test run, and how did it end?
    # Must hold before the action runs; else a person is asked. A missing field never counts as false.
    pre_conditions: [test is not null]
    # type is tool, query (SQL of a source), http (an API) or parallel (several at once). {test} is a value of the context;
    # {steps.last_runs.count} would be one of an earlier step's result.
    action:
      type: tool
      tool: get_execution_results
      arguments: { name: "{test}" }
    # Exactly one condition should hold: CEL over \`result\`, the context and \`steps\`. Of a list, result.count and result.rows are
    # known, and the columns of a single row: result.status.
    decisions:
      never_ran:
        condition: size(result.executions) == 0
        # 0 to 1. The result has the lowest confidence on its path.
        confidence: 0.95
        # root_cause ends with a cause; partial_finding says what is known up to here.
        conclusion:
          root_cause: The test never ran
          explanation: No run of a test with this name is stored.
          impact: low
          # action alone, or with priority and human_approval_required.
          recommended_action: { action: run_the_test, priority: normal }
        # null ends the path.
        next_step: null
      passes:
        condition: result.executions[0].status == 'passed'
        confidence: 0.9
        conclusion: { root_cause: The test passes again, recommended_action: watch_the_test }
      fails:
        condition: size(result.executions) > 0 and result.executions[0].status != 'passed'
        confidence: 0.9
        conclusion: { partial_finding: The last run did not pass }
        next_step: open_alerts

  open_alerts:
    name: Open alerts
    action: { type: tool, tool: list_alerts, arguments: { state: active } }
    decisions:
      alert_open:
        condition: size(result.alerts) > 0
        confidence: 0.8
        conclusion: { root_cause: A device has an open alert, impact: high, recommended_action: look_at_the_alert }
      no_alert:
        condition: size(result.alerts) == 0
        # Below the threshold: a person confirms it.
        confidence: 0.6
        conclusion: { root_cause: The app or the test changed, recommended_action: compare_the_last_runs }

# Steps that run next to the path from the start; what they find is merged at the end.
parallel_checks: []
`,
  "api_mappings.yaml": `# Queries and requests that steps name with \`mapping: <name>\`, in place of SQL of their own.
mappings: {}
# For example:
#   orders_of_customer: { api: shop, query: orders, params: { required: [customer] }, cache_ttl: 300 }
# SQL by name. Placeholders become bound parameters, never a part of the SQL.
queries: {}
#   orders: select id, state from orders where customer = '{customer}'
`,
  "knowledge_base.md": `# Last runs
What an expert knows about reading the runs of a test goes here. A step gets the section that bears on it.
`,
  "test_cases/never_ran.yaml": `# What the ticket says.
context: { test: Buy a lamp }
# What each step's action gives; { error: text } is an action that fails. Without results the real sources are asked.
results:
  last_runs: { counts: {}, executions: [] }
# Answers to the questions, in order: the name of an option, or a sentence.
answers: []
expected:
  root_cause: The test never ran
  min_confidence: 0.9
  recommended_action: run_the_test
  handoffs: []
`,
  "test_cases/app_changed.yaml": `context: { test: Buy a lamp }
results:
  last_runs: { counts: { failed: 1 }, executions: [{ name: Buy a lamp, status: failed }] }
  open_alerts: { alerts: [] }
answers: [accept]
expected:
  root_cause: The app or the test changed
  recommended_action: compare_the_last_runs
  handoffs: [low_confidence]
`,
};
