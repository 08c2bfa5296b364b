import { labelsRead, servingAliases, type ServingAlias, type ServingDialect } from "./dialect.ts";
import { dynamo } from "./dynamo.ts";
import { genai } from "./genai.ts";
import { kserve } from "./kserve.ts";
import { litellm } from "./litellm.ts";
import { llamaCpp } from "./llama-cpp.ts";
import { llmd } from "./llm-d.ts";
import { lmdeploy } from "./lmdeploy.ts";
import { nim } from "./nim.ts";
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
  lmdeploy,
  llamaCpp,
  nim,
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
  /** The labels that the dialect reads. */
  readonly labels: ReadonlySet<string>;
}

const LOOKUPS = SERVING_DIALECTS.map((dialect) => ({
  dialect,
  aliases: servingAliases(dialect.table),
  labels: labelsRead(dialect),
}));

/** The names under which Ray exports the series of the engines that it serves: `ray_vllm_prompt_tokens_total` and `ray_vllm:…`. */
const OF_RAY = /^ray_(?=vllm[:_])/;

/** Returns the dialect and the aliases of a metric's name; undefined if no known program has it. */
export function knownSeries(exported: string): KnownSeries | undefined {
  const name = exported.replace(OF_RAY, "").replace(/^vllm_/, "vllm:");
  const found = LOOKUPS.find(({ dialect }) => dialect.owns(name));
  return found === undefined ? undefined : { ...found, aliases: found.aliases(name) };
}
