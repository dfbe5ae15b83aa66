import { createHash } from "node:crypto";
import { type MemoryScope, type Plan, planSchema } from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import type { Memory, MemoryRows } from "../../../storage/index.ts";
import type { Claim, Clock, MemoryService, PlanRun, Secrets } from "../../ports.ts";
import { storableText } from "../../records/executions/storable.ts";
import { succession } from "../../runs/judgement/history.ts";

const mostRecalled = 10;
const longestText = 500;
const keptMs = 90 * 86_400_000;

export type MemoryDependencies = { rows: MemoryRows; secrets: Pick<Secrets, "mask">; clock: Clock };

export function createMemory({ rows, secrets, clock }: MemoryDependencies): MemoryService {
  const instant = (later = 0) => new Date(clock.now() + later).toISOString();

  async function put({ key: _, ...claim }: Claim, id: string, plan?: Plan): Promise<void> {
    const { scope, kind, execution_id, confidence = succession(1) } = claim;
    await rows.put({
      ...{ id, scope, kind, execution_id, confidence, at: instant(), expires_at: instant(keptMs) },
      subject: secrets.mask(storableText(claim.subject)),
      text: lineOf(secrets.mask(claim.text)),
      ...(plan && { plan }),
    });
  }

  async function planAt(id: string) {
    const [found] = await rows.list({ id, limit: 1 }, instant());
    const { data } = planSchema.safeParse(found?.plan);
    return found && data && { plan: data, execution_id: found.execution_id };
  }

  return {
    learn: (claim) => put(claim, idOf(claim)),

    async recall(about) {
      const scopes: readonly MemoryScope[] = ["userinterface", "device", "test"];
      const subjects = scopes.flatMap((scope) => {
        const subject = about[scope];
        return subject === undefined ? [] : [{ scope, subject }];
      });
      if (subjects.length === 0) return [];
      return (await rows.about(subjects, instant(), mostRecalled)).map(sentenceOf);
    },

    async noteRun({ app, plan, execution_id, passed }) {
      const id = sequenceId(app, plan.task);
      if (!passed) {
        const known = await planAt(id);
        if (known && JSON.stringify(known.plan.steps) === JSON.stringify(plan.steps)) await rows.forget([id]);
        return;
      }
      // With a secret masked it would not run, and unmasked it is not stored.
      const given = JSON.stringify(plan);
      if (secrets.mask(given) !== given) return;
      const steps = plan.steps.map(({ objective }) => objective).join("; ");
      const text = `"${plan.task}" was done by: ${steps}`;
      const what = { scope: "userinterface", subject: app.name, kind: "sequence" } as const;
      await put({ ...what, key: "", text, execution_id }, id, plan);
    },

    planFor: (app, task) => planAt(sequenceId(app, task)),

    async list(filter) {
      return (await rows.list(filter, instant())).map(({ plan: _, ...memory }) => memory);
    },

    async forget(id) {
      const gone = await rows.forget(id === undefined ? undefined : [id]);
      if (gone > 0 || id === undefined) return gone;
      throw new ToolError(
        "INVALID_INPUT",
        `Nothing in memory has the id "${id.slice(0, 100)}".`,
        "`labwright memory list` and GET /api/v1/memory show the ids.",
      );
    },

    purge: () => rows.purge(instant()),
  };
}

const idOf = ({ scope, subject, kind, key }: Pick<Claim, "scope" | "subject" | "kind" | "key">): string =>
  createHash("sha256")
    .update(JSON.stringify([scope, subject, kind, key]))
    .digest("hex")
    .slice(0, 16);

/** Of one app, even where another project's has its name. Upper case and white space do not count. */
function sequenceId({ id }: PlanRun["app"], task: string): string {
  const key = task.normalize("NFKC").toLowerCase().replace(/\s+/g, " ").trim();
  return idOf({ scope: "userinterface", subject: id, kind: "sequence", key });
}

/** One line: what is in it may come from a page. */
const lineOf = (text: string): string =>
  storableText(text)
    .replace(/[\s\p{Cc}]+/gu, " ")
    .slice(0, longestText);

const sentenceOf = ({ text, seen, confidence }: Memory): string =>
  `${text} (seen ${seen}x, confidence ${confidence.toFixed(2)})`;
