import type { KubeObject } from "../collectors/kubernetes/projection/kube-object.ts";

/** A Kubernetes object with its UID. */
export type SeenObject = KubeObject & { readonly metadata: { readonly uid: string } };

/** A reading of an exporter's page, at a time in milliseconds since the epoch. A large fleet's pages are kept packed. */
export type PageReading = { readonly atMillis: number } & (
  | { readonly page: () => Buffer }
  | { readonly failure: string }
);

/** An exporter with the readings of its page, in the order of time. */
export interface SeenExporter {
  /** The address, for messages. */
  readonly target: string;
  /** The node of the exporter's pod; undefined if the page itself names its hosts. */
  readonly node: string | undefined;
  readonly readings: readonly PageReading[];
}

/** A thing that a snapshot could not see. */
export interface Unseen {
  /** The thing: `resourcequotas`, `pods/proxy`, `the page of gpu-operator/dcgm-exporter-x7k2p`. */
  readonly what: string;
  /** The reason: `permission to list is missing`, `no answer within 10 s`. */
  readonly why: string;
  /** The effect. It ends a sentence that begins with "without it". */
  readonly without: string;
}

/** Everything that a snapshot saw of one cluster. */
export interface Seen {
  /** The time to which everything belongs, milliseconds since the epoch. */
  readonly atMillis: number;
  /** In the order of their kinds: pods come last. */
  readonly objects: readonly SeenObject[];
  readonly exporters: readonly SeenExporter[];
  readonly unseen: readonly Unseen[];
}
