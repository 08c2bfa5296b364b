import { engineModelOf } from "../../domain/serving/gateway-model.ts";
import type { GatewayModels } from "../../domain/serving/rules.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { momentSql } from "../question/question.ts";
import type { ServingQuestion } from "./question.ts";

/** A model of a gateway that no engine of its cluster serves: a model of another provider, or a name that `serving.models` must map. */
export interface UnmatchedModel {
  readonly cluster: string;
  readonly model: string;
  /** The prompt tokens and generated tokens that gateways counted. */
  readonly tokens: string;
}

/** The most models of an answer. */
const MOST_MODELS = 20;

const MODELS = `
SELECT cluster, kind, model, toString(sum(ifNull(prompt_tokens, 0) + ifNull(generation_tokens, 0))) AS tokens
FROM serving_hours_published
WHERE kind IN ('engine', 'gateway') AND hour >= ${momentSql("from")} AND hour < ${momentSql("until")}
GROUP BY cluster, kind, model`;

/**
 * Reads the models of gateways that no engine of their cluster served in the span of a question, those with the most tokens first. A question
 * with conditions has none, because these tokens belong to no team. Fails with a `StoreError`.
 */
export async function readUnmatched(
  store: Pick<StoreClient, "query">,
  { span, where }: Pick<ServingQuestion, "span" | "where">,
  models: GatewayModels,
): Promise<readonly UnmatchedModel[]> {
  if (where.length > 0) return [];
  const rows = await store.query<UnmatchedModel & { readonly kind: string }>(MODELS, {
    from: span.from,
    until: span.until,
  });
  const engines = rows.filter(({ kind }) => kind === "engine");
  const servedIn = (cluster: string): ReadonlySet<string> =>
    new Set(engines.filter((engine) => engine.cluster === cluster).map(({ model }) => model));
  const served = new Map([...new Set(rows.map(({ cluster }) => cluster))].map((name) => [name, servedIn(name)]));
  return rows
    .filter(({ kind, tokens }) => kind === "gateway" && tokens !== "0")
    .filter(({ cluster, model }) => engineModelOf(model, "", models, served.get(cluster)!) === undefined)
    .toSorted((a, b) => Number(b.tokens) - Number(a.tokens) || (a.model < b.model ? -1 : 1))
    .slice(0, MOST_MODELS)
    .map(({ cluster, model, tokens }) => ({ cluster, model, tokens }));
}

/** Returns the sentence about models of gateways without an engine; undefined if there is none. */
export function unmatchedText(unmatched: readonly UnmatchedModel[]): string | undefined {
  if (unmatched.length === 0) return undefined;
  const names = unmatched.map(({ model, tokens }) => `${model} (${tokens})`).join(", ");
  return `gateways counted tokens of models that no engine of their cluster serves: ${names}`;
}
