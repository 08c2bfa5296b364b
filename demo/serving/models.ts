import { servicesOf } from "../fleet/residents.ts";
import { TEAMS } from "../fleet/teams.ts";

/** A model that an engine of the demo serves. */
export interface ServedModel {
  readonly name: string;
  /** The tokens for each joule that the engine's GPU takes above its idle power. */
  readonly promptOfJoule: number;
  readonly generatedOfJoule: number;
  readonly promptOfRequest: number;
  /** The part of the prompt tokens that the engine has in its prefix cache. */
  readonly cachedPart: number;
  /** The requests that run at full load. */
  readonly batch: number;
}

const model = (
  name: string,
  [promptOfJoule, generatedOfJoule]: readonly [number, number],
  [promptOfRequest, cachedPart]: readonly [number, number],
  batch: number,
): ServedModel => ({ name, promptOfJoule, generatedOfJoule, promptOfRequest, cachedPart, batch });

/**
 * The services with inference engines, with a model for each engine of a pod. The second engine of `diarize` has the GPU that its pod does
 * not use: it sleeps, and its model has no traffic.
 */
export const MODELS_OF_SERVICE: ReadonlyMap<string, readonly ServedModel[]> = new Map([
  ["chat-70b", [model("llama-3.3-70b-instruct", [4, 1.2], [900, 0.42], 48)]],
  ["chat-235b", [model("qwen3-235b-a22b-fp8", [3, 0.9], [1300, 0.35], 40)]],
  ["embeddings", [model("qwen3-embedding-8b", [30, 0], [240, 0], 16)]],
  ["prompt-guard", [model("llama-prompt-guard-2-86m", [120, 0], [180, 0.3], 8)]],
  ["rerank-api", [model("qwen3-reranker-4b", [45, 0], [1400, 0.15], 24)]],
  [
    "diarize",
    [model("whisper-large-v3", [0.2, 6], [4, 0], 12), model("whisper-large-v3-turbo", [0.4, 12], [4, 0], 24)],
  ],
]);

/** The team whose engines are behind the demo's gateway. */
export const GATEWAY_TEAM = "nlp";

/** The namespaces of the teams with engines, and of the gateway. */
export const ENGINE_NAMESPACES: readonly string[] = TEAMS.filter((team) =>
  servicesOf(team).some((service) => MODELS_OF_SERVICE.has(service)),
).map(({ namespaces }) => namespaces.inference);
