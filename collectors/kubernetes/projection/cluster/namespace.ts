import type { ClusterFactBodies } from "../../../../domain/cluster-fact.ts";
import type { LimitRangeObject, PriorityClassObject, ResourceQuotaObject } from "../cluster-object.ts";
import type { KubeObject } from "../kube-object.ts";
import type { Remarks } from "../remark.ts";
import { EXEMPT_MARK } from "../../../../domain/practice/exempt.ts";
import { named, objects, texts } from "../wire.ts";
import { gpuAmounts } from "./amounts.ts";

/**
 * Reads the labels of a Namespace, from which its owners are determined, and the annotations of some names: programs change others all the
 * time, and each change would be a fact and a row of usage. kubectl's copy of the whole object is left out.
 */
export function readNamespace(object: KubeObject, names: readonly string[] = ["*"]): ClusterFactBodies["Namespace"] {
  const annotations = named(texts(object.metadata?.annotations), [...names, EXEMPT_MARK]);
  delete annotations["kubectl.kubernetes.io/last-applied-configuration"];
  return { labels: texts(object.metadata?.labels), annotations };
}

/** Reads the GPUs of a ResourceQuota: the limits in force and their usage. */
export function readQuota(object: ResourceQuotaObject, remarks: Remarks): ClusterFactBodies["ResourceQuota"] {
  const { spec, status } = object;
  return {
    hard: gpuAmounts("hard", status?.hard ?? spec?.hard, remarks),
    used: gpuAmounts("used", status?.used, remarks),
  };
}

/** Reads a LimitRange: the GPUs of a container without a request, and the most that a container may request. */
export function readLimitRange(object: LimitRangeObject, remarks: Remarks): ClusterFactBodies["LimitRange"] {
  const container = objects(object.spec?.limits).find(({ type }) => type === "Container");
  return {
    defaults: gpuAmounts("default", container?.default, remarks),
    max: gpuAmounts("max", container?.max, remarks),
  };
}

/** Reads a PriorityClass. It preempts unless its policy is Never. */
export function readPriorityClass(object: PriorityClassObject): ClusterFactBodies["PriorityClass"] {
  return {
    value: Number.isSafeInteger(object.value) ? (object.value as number) : 0,
    preempts: object.preemptionPolicy !== "Never",
  };
}
