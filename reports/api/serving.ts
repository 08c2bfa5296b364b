import { z } from "zod";
import { readServingDimensions, SERVING_DIMENSIONS } from "../../domain/serving/dimension.ts";
import { PHASES, SPLIT_RULES, type SplitRule } from "../../domain/serving/split-rule.ts";
import type { Ledger } from "../../runtime/config/ledger.ts";
import { fileName } from "../format/file-name.ts";
import { MEDIA_TYPES } from "../format/media-types.ts";
import { questionText, REPORT_KINDS } from "../question/question.ts";
import { spanJson } from "../report/json.ts";
import { jsonBody } from "../server/answers.ts";
import type { Asking } from "../server/asking.ts";
import { Problem } from "../question/problem.ts";
import { explainServing } from "../serving/explain-serving.ts";
import { servingCsv, servingNdjson } from "../serving/flat.ts";
import { servingJson } from "../serving/json.ts";
import { readServingFilters, type ServingQuestion } from "../serving/question.ts";
import { readServing, type ServingReport } from "../serving/read-serving.ts";
import { readUnmatched, type UnmatchedModel } from "../serving/unmatched.ts";
import { questionOf } from "./charges.ts";
import type { ApiContext } from "./context.ts";
import { cursorText, pageGone, readCursor } from "./page.ts";
import { addRoute, type ApiServer } from "./route.ts";
import { filterSchema, spanSchema } from "./schemas.ts";
import { conditions, decimal, dimensions, time, type Words } from "./words.ts";

const FORMATS = ["json", "ndjson", "csv"] as const;
const unitCost = decimal.nullable();
const count = z.string().regex(/^-?\d+$/);

const measures = {
  gpuHours: decimal,
  list: decimal,
  contracted: decimal,
  cost: decimal.describe("The effective cost, which is charged."),
  phases: z.partialRecord(z.enum(PHASES), decimal).describe("The cost by phase, without phases that have no cost."),
  computedTokens: count.describe("Prompt tokens that engines computed."),
  cachedTokens: count.describe("Prompt tokens from a cache. They have no cost."),
  generatedTokens: count,
  requests: count,
  inferences: count,
  excessTokens: count.describe("Tokens that gateways counted beyond the engines."),
  saved: decimal.describe("The cost that cached tokens would have added."),
  gatewayPrice: decimal.nullable().describe("The price that gateways have charged by their own price lists."),
  margin: decimal.nullable().describe("The price of the gateways minus the cost."),
  kWh: decimal.nullable(),
  carbonGrams: decimal.nullable(),
  unitCosts: z
    .object({
      millionTokens: z.object({ loaded: unitCost, busy: unitCost }),
      millionPromptTokens: unitCost,
      millionGeneratedTokens: unitCost,
      thousandRequests: unitCost,
      thousandInferences: unitCost,
      gpuHour: unitCost,
    })
    .describe("Null if there was nothing to divide by."),
};

/** The cost of serving by any dimensions. */
export const servingSchema = z
  .object({
    policy: z.string(),
    rule: z.enum(SPLIT_RULES),
    kind: z.enum(REPORT_KINDS),
    span: spanSchema,
    by: z.array(z.enum(SERVING_DIMENSIONS)),
    where: z.array(filterSchema),
    currency: z.string(),
    total: z.object(measures).describe("The sums of all rows of all pages."),
    rows: z.array(z.object({ dimensions: z.partialRecord(z.enum(SERVING_DIMENSIONS), z.string()), ...measures })),
    unmatched: z
      .array(z.object({ cluster: z.string(), model: z.string(), tokens: count }))
      .describe("The models of gateways that no engine of their cluster serves. Empty for a question with conditions."),
    next: z.string().nullable().describe("The cursor of the next page."),
  })
  .meta({ id: "Serving" });

/** Adds `/serving`: the cost of inference by model, tenant, phase and other dimensions. */
export function addServing(server: ApiServer, context: ApiContext, words: Words): void {
  const { answers, ledger } = context;
  addRoute(server, {
    path: "/serving",
    summary:
      "The cost of inference by model, tenant, phase or other dimensions (highest cost first), with unit costs. The lines sum to the charges of the workloads.",
    query: z.strictObject({
      span: words.span,
      kind: words.kind,
      by: dimensions(readServingDimensions, "model", SERVING_DIMENSIONS.join(", ")),
      where: conditions(readServingFilters, "model=qwen3-32b"),
      policy: words.policy,
      rule: z.enum(SPLIT_RULES).optional().describe("A rule of `serving.rules`. Default: the first one."),
      format: z.enum(FORMATS).default("json").describe("json has pages. The other formats have all rows."),
      limit: words.limit,
      cursor: words.cursor,
    }),
    answer: servingSchema,
    async handle({ query, request, reply }) {
      const asked = questionOf(query, request.viewer, context);
      const question = { ...asked, rule: splitRuleOf(ledger, query.rule), by: query.by.by };
      const { format, limit, cursor } = query;
      return answers.send(request, reply, async (asking) => {
        const report = await readServingPart(context, asking, question);
        if (format !== "json") {
          const text = format === "csv" ? servingCsv(report) : servingNdjson(report);
          const name = fileName(`serving-by-${question.by.join("-")}`, question.span, format);
          const subject = `sums of inference of ${questionText(question)} by ${question.by.join(",")}`;
          const exported = { subject, rows: report.rows.length };
          return { bytes: Buffer.from(text), type: MEDIA_TYPES[format], name, exported };
        }
        const { ledgerVersion } = asking;
        const position = cursor === undefined ? { ledgerVersion, at: 0 } : readCursor(cursor);
        if (position.ledgerVersion !== ledgerVersion) throw pageGone();
        const rows = report.rows.slice(position.at, position.at + limit);
        const after = position.at + limit;
        const next = after >= report.rows.length ? null : cursorText({ ledgerVersion, at: after });
        const unmatched = await readUnmatchedPart(context, asking, question);
        return jsonBody({ ...servingJson({ ...report, rows }), unmatched, next });
      });
    },
  });

  addRoute(server, {
    path: "/serving/explain",
    summary:
      "The reasons of a cost of inference: the service-hours with the highest cost, down to scrapes and to GPUs.",
    query: z.strictObject({
      span: words.span,
      kind: words.kind,
      where: conditions(readServingFilters, "model=qwen3-32b"),
      policy: words.policy,
      rule: z.enum(SPLIT_RULES).optional(),
    }),
    answer: servingExplanationSchema,
    async handle({ query, request, reply }) {
      const asked = questionOf(query, request.viewer, context);
      const question = { ...asked, rule: splitRuleOf(ledger, query.rule) };
      return answers.send(request, reply, async ({ store }) => {
        const { by: _, span, ...explanation } = await explainServing(store, question, ledger.book.currency);
        return jsonBody({ ...explanation, span: spanJson(span) });
      });
    },
  });
}

const explainedHour = z.object({
  hour: time,
  cluster: z.string(),
  namespace: z.string(),
  workload: z.string(),
  cost: decimal,
  phases: z.partialRecord(z.enum(PHASES), z.object({ cost: decimal, basis: z.string() })),
  pages: z.array(
    z.object({
      pod: z.string(),
      target: z.string(),
      exporter: z.string(),
      scrapes: z.number(),
      failures: z.number(),
      servedSeconds: z.number(),
      loadingSeconds: z.number(),
      coveredSeconds: z.number(),
      idleSeconds: z.number(),
      resets: z.number(),
      increases: z.record(z.string(), z.number()).describe("The increases of counters in the hour."),
      firstScrape: time.nullable(),
      lastScrape: time.nullable().describe("Null if the scrapes have expired."),
    }),
  ),
  gpus: z.array(
    z.object({
      pod: z.string(),
      node: z.string(),
      gpu: z.number().int().nullable(),
      gpuModel: z.string(),
      gpuHours: decimal,
      cost: decimal,
      price: z.string(),
      line: z.string().nullable().describe("The parameter `line` of `/explain`."),
    }),
  ),
});

/** The reasons of a cost of serving. */
export const servingExplanationSchema = servingSchema
  .omit({ rows: true, unmatched: true, next: true, by: true })
  .extend({ hours: z.array(explainedHour).describe("The service-hours with the highest cost.") })
  .meta({ id: "ServingExplanation" });

/** Returns the rule of a question: the first one of the configuration if none is named. Fails with a {@link Problem} for another rule. */
export function splitRuleOf({ serving }: Ledger, rule: SplitRule | undefined): SplitRule {
  const rules = serving.rules.map((each) => each.rule);
  if (rule === undefined || rules.includes(rule)) return rule ?? rules[0]!;
  const message = `a rule of serving.rules: ${rules.join(", ")}`;
  throw new Problem("wrong-parameter", `rule: ${message}`, [{ parameter: "rule", message }]);
}

/** Reads the models of gateways without an engine while a ledger version is current. Pages and the API share them. */
export function readUnmatchedPart(
  { ledger, answers }: Pick<ApiContext, "ledger" | "answers">,
  asking: Asking,
  { span, where }: Pick<ServingQuestion, "span" | "where">,
): Promise<readonly UnmatchedModel[]> {
  return answers.part(
    asking,
    `unmatched models ${JSON.stringify({ span, where })}`,
    (store) => readUnmatched(store, { span, where }, ledger.serving.models),
    ({ length }) => length,
  );
}

/** Reads the report of a question while a ledger version is current. Pages and the API share it. Fails like `readServing`. */
export function readServingPart(
  { ledger, answers }: Pick<ApiContext, "ledger" | "answers">,
  asking: Asking,
  question: ServingQuestion,
): Promise<ServingReport> {
  return answers.part(
    asking,
    `serving ${JSON.stringify(question)}`,
    (store) => readServing(store, question, ledger.book.currency),
    ({ rows }) => rows.length,
  );
}
