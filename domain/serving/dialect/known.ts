import { servingAliases, type ServingAlias, type ServingDialect } from "./dialect.ts";
import { dynamo } from "./dynamo.ts";
import { genai } from "./genai.ts";
import { kserve } from "./kserve.ts";
import { litellm } from "./litellm.ts";
import { llmd } from "./llm-d.ts";
import { sglang } from "./sglang.ts";
import { tgi } from "./tgi.ts";
import { triton } from "./triton.ts";
import { trtllm } from "./trtllm.ts";
import { vllm } from "./vllm.ts";

/** Every supported engine, frontend and gateway. */
export const SERVING_DIALECTS: readonly ServingDialect[] = [
  vllm,
  sglang,
  trtllm,
  triton,
  tgi,
  dynamo,
  kserve,
  litellm,
  genai,
  llmd,
];

/** A metric's name on a page: its dialect, and the canonical metrics that it can fill. */
export interface KnownSeries {
  readonly dialect: ServingDialect;
  readonly aliases: readonly ServingAlias[];
}

const LOOKUPS = SERVING_DIALECTS.map((dialect) => ({ dialect, aliases: servingAliases(dialect.table) }));

/** Returns the dialect and the aliases of a metric's name; undefined if no known program has it. */
export function knownSeries(name: string): KnownSeries | undefined {
  const found = LOOKUPS.find(({ dialect }) => dialect.owns(name));
  return found === undefined ? undefined : { dialect: found.dialect, aliases: found.aliases(name) };
}
