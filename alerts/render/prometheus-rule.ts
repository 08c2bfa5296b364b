import { stringify } from "yaml";
import type { RuleGroup } from "../model.ts";
import { groupObject } from "./rule-file.ts";

/** The metadata of a PrometheusRule: its namespace, and the labels by which its Prometheus finds it. */
export interface ObjectMetadata {
  readonly name: string;
  readonly namespace: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
}

/** Returns the groups as an object of the Prometheus operator (monitoring.coreos.com/v1). */
export function prometheusRule(groups: readonly RuleGroup[], { name, namespace, labels }: ObjectMetadata): string {
  return stringify(
    {
      apiVersion: "monitoring.coreos.com/v1",
      kind: "PrometheusRule",
      metadata: {
        name,
        ...(namespace === undefined ? {} : { namespace }),
        labels: { "app.kubernetes.io/name": "gpu-ledger", ...labels },
      },
      spec: { groups: groups.map(groupObject) },
    },
    { lineWidth: 0, aliasDuplicateObjects: false },
  );
}
