import { parseLabelSelector } from "../../collectors/kubernetes/api/label-selector.ts";
import type { ApiObject } from "../../collectors/kubernetes/api/resource.ts";
import { withCompanions } from "../../collectors/kubernetes/discovery.ts";
import { targetOf } from "../../collectors/kubernetes/exporter-target.ts";
import type { PagePod } from "../../collectors/kubernetes/pod-target.ts";
import type { PodSelector } from "../../collectors/kubernetes/selectors.ts";
import type { RefusedPod, Target } from "../../collectors/exporters/targets/target.ts";
import { texts } from "../../collectors/kubernetes/projection/wire.ts";
import type { Unseen } from "../seen.ts";

/** The address of a page: a URL of a pod's own address, and the pod. */
export interface PageAddress {
  readonly url: URL;
  readonly namespace: string;
  readonly pod: string;
}

/** An exporter with the addresses of its page and of its companions' pages. */
export interface FoundExporter {
  /** `namespace/pod`, for messages. */
  readonly name: string;
  readonly node: string;
  readonly page: PageAddress;
  readonly companions: readonly PageAddress[];
}

/** The exporters among the pods of a list. */
export interface ExporterPods {
  /** The label selectors of exporters. */
  readonly selectors: readonly string[];
  /** Forgets all pods: the list begins again. */
  readonly start: () => void;
  /** Takes a pod. A pod that is no exporter is ignored. */
  readonly take: (pod: ApiObject) => void;
  /** Returns the exporters, those of the first selector first. */
  found(): readonly FoundExporter[];
  /** Returns the pods with an exporter's labels whose address, port or path is not allowed. */
  refused(): readonly Unseen[];
}

/** Creates an empty set of exporters' pods. Pods of any namespace are exporters. A pod is an exporter of the first selector that has it. */
export function createExporterPods(given: readonly PodSelector[]): ExporterPods {
  const selectors = given.map((selector) => ({ ...selector, selects: parseLabelSelector(selector.labels) }));
  const outcomes = selectors.map(() => new Map<string, Target | RefusedPod>());

  function all<Outcome>(pickFrom: (outcome: Target | RefusedPod, companion: boolean) => readonly Outcome[]): Outcome[] {
    return outcomes.flatMap((pods, index) =>
      [...pods.values()].flatMap((outcome) => pickFrom(outcome, selectors[index]!.companion)),
    );
  }

  const targets = (wanted: boolean): Target[] =>
    all((outcome, companion) => ("url" in outcome && companion === wanted ? [outcome] : []));

  return {
    selectors: given.map(({ labels }) => labels),
    start() {
      for (const pods of outcomes) pods.clear();
    },
    take(pod) {
      const { labels } = pod.metadata as { readonly labels?: unknown };
      const own = texts(labels);
      const index = selectors.findIndex(({ selects }) => selects(own));
      if (index === -1) return;
      const { port } = selectors[index]!;
      const asked = { namespaces: ["*"], scheme: "http", port, path: "/metrics" };
      const outcome = targetOf(pod as PagePod, asked);
      if (outcome !== undefined) outcomes[index]!.set(pod.metadata.uid, outcome);
    },
    found() {
      const companions = new Map(targets(true).map((target) => [target.url, target]));
      return withCompanions(targets(false), [...companions.values()]).map((target) => ({
        name: `${target.labels["namespace"]}/${target.labels["pod"]}`,
        node: target.pod!.nodeName,
        page: addressOf(target),
        companions: (target.companions ?? []).map((url) => addressOf(companions.get(url)!)),
      }));
    },
    refused: () =>
      all((outcome) => ("url" in outcome ? [] : [outcome])).map(({ namespace, name, detail }) => ({
        what: `the page of ${namespace}/${name}`,
        why: `the pod ${detail}`,
        without: "the GPUs of its node have no measurements",
      })),
  };
}

function addressOf({ url, labels }: Target): PageAddress {
  return { url: new URL(url), namespace: labels["namespace"] ?? "", pod: labels["pod"] ?? "" };
}
