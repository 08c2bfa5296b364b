import { ownerKinds } from "../collectors/kubernetes/owners/kinds.ts";
import { resourceNamesOf } from "../collectors/kubernetes/projection/gpu-resource.ts";
import type { ProjectionOptions } from "../collectors/kubernetes/watcher/projector-state.ts";
import { DIMENSIONS } from "../domain/owner/owner.ts";
import type { OwnerRule } from "../domain/owner/rule.ts";
import { ledgerOf } from "../runtime/config/ledger.ts";
import type { Config } from "../runtime/config/schema.ts";

/** Returns the configuration's options for reading pods and nodes. Labels that owners, prices and training runs use are kept too. */
export function projectionOf(config: Config): ProjectionOptions {
  const { kubernetes, owners, training } = config;
  const { prices, commitments, fixed } = ledgerOf(config).book;
  const matches = [...prices.map(({ match }) => match), ...[...commitments, ...fixed].map(({ scope }) => scope)];
  const ofNodes = matches.flatMap(({ nodeLabels }) => Object.keys(nodeLabels));
  const named = [...DIMENSIONS.flatMap((dimension) => owners[dimension].flatMap(podMarkOf)), ...training.runKeys];
  const resourceNames = resourceNamesOf(kubernetes.gpuResources, kubernetes.hami);
  return {
    pods: {
      kinds: ownerKinds(
        kubernetes.owners.map(({ type, ...kind }) => ({ ...kind, ...(type === undefined ? {} : { type }) })),
      ),
      labels: [...new Set([...kubernetes.labels, ...named])],
      annotations: [...new Set([...kubernetes.annotations, ...named])],
      typeLabels: kubernetes.typeLabels,
      reservationNamespaces: kubernetes.reservationNamespaces,
      resourceNames,
    },
    nodes: { labels: [...new Set([...kubernetes.nodeLabels, ...ofNodes])], resourceNames },
    namespaceAnnotations: [...new Set([...kubernetes.annotations, ...namespaceMarks(config)])],
  };
}

/** Returns the names of labels and annotations of pods, nodes and namespaces that owners and prices use. */
export function knownLabelsOf(config: Config): readonly string[] {
  const { pods, nodes } = projectionOf(config);
  return [
    ...new Set([
      ...namespaceMarks(config),
      ...(pods.labels ?? []),
      ...(pods.annotations ?? []),
      ...(nodes.labels ?? []),
    ]),
  ];
}

function namespaceMarks({ owners }: Config): readonly string[] {
  return DIMENSIONS.flatMap((dimension) =>
    owners[dimension].flatMap((rule) => ("namespaceLabel" in rule ? [rule.namespaceLabel] : [])),
  );
}

function podMarkOf(rule: OwnerRule): readonly string[] {
  if ("podLabel" in rule) return [rule.podLabel];
  if ("podAnnotation" in rule) return [rule.podAnnotation];
  return "ownerLabel" in rule ? [rule.ownerLabel] : [];
}
