/**
 * The kind of a page's rows. An engine computes tokens on the GPUs of its own pod. A frontend counts the tokens of engines behind it, so
 * its tokens count only if the engines have no counters. A gateway counts tokens for each tenant.
 */
export type ServingKind = "engine" | "frontend" | "gateway";

/** The identity of a row of an engine's or a gateway's page. The pod is the identity of the page itself. */
export interface ServingSeries {
  /** The program that the row is of, in our own name: `vllm`, `litellm`. A page can have rows of several programs. */
  readonly exporter: string;
  readonly kind: ServingKind;
  /** The model's name as the page has it; empty if the page names no model. */
  readonly model: string;
  /** The adapter (LoRA), if the page has one for each row. */
  readonly adapter?: string;
  /** The part of the engine: a data-parallel rank, a role (`prefill`, `decode`) or a version of the model. */
  readonly part?: string;
  /** The tenant that a gateway names; absent if the page names none. */
  readonly tenant?: string;
}

/** The pod that a page belongs to. All fields are empty if the target is not in Kubernetes. */
export interface ServingPod {
  readonly namespace: string;
  readonly pod: string;
  readonly podUid: string;
}
