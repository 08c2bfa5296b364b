import type { DeviceEvidence, GpuAsk } from "../../../../domain/workload.ts";
import { gpuResource, type ResourceNames } from "../gpu-resource.ts";
import type { ContainerObject, PodObject } from "../pod-object.ts";
import type { Remarks } from "../remark.ts";
import { given, texts } from "../wire.ts";
import { readAmounts, type Amounts } from "./amounts.ts";
import { readClaims, servedByClaim } from "./claims.ts";
import { readDevices } from "./devices.ts";
import { groupsOf, readFraction } from "./fraction.ts";
import { moments, reserved } from "./moments.ts";
import { readRunaiMig } from "./runai-mig.ts";
import { readVgpu } from "./vgpu.ts";

/** The requests of a pod in every regime, and the evidence of its devices. */
export interface PodAsks {
  readonly asks: readonly GpuAsk[];
  readonly evidence: readonly DeviceEvidence[];
}

/** Reads a pod's requests: resources first, then claims. Annotations of fractions count only if no resource is requested. */
export function readAsks(
  pod: PodObject,
  options: {
    readonly names?: ResourceNames;
    readonly isForGpus: (namespace: string, claim: string) => boolean | undefined;
  },
  remarks: Remarks,
): PodAsks {
  const annotations = texts(pod.metadata?.annotations);
  const read = new Map<ContainerObject, Amounts>();
  const amountsOf = (container: ContainerObject): Amounts => {
    let amounts = read.get(container);
    if (amounts === undefined) read.set(container, (amounts = readAmounts(container, remarks, options.names)));
    return amounts;
  };
  const sets = moments(pod.spec);
  const reading = { sets, amountsOf, annotations, ...given({ names: options.names }) };
  const shares = (["hami", "hami-amd", "volcano"] as const).map((name) => readVgpu(name, pod, reading, remarks));
  const taken = new Set([...shares.flatMap((each) => each.taken), ...servedByClaim(pod)]);
  const asks: GpuAsk[] = shares.flatMap((each) => each.asks);
  for (const [resource, count] of reserved(sets, amountsOf)) {
    if (taken.has(resource)) continue;
    const meaning = gpuResource(resource, options.names);
    if (meaning?.kind === "gpu") asks.push({ kind: "gpu", resource, count });
    else if (meaning?.kind === "mig") asks.push({ kind: "mig", resource, profile: meaning.profile, count });
  }
  const fraction = readFraction(pod, remarks);
  const runai = readRunaiMig(annotations, remarks);
  const devices = readDevices(pod, { taken, ...given({ names: options.names }) }, remarks);
  const evidence = [...devices, ...shares.flatMap((each) => each.evidence)];
  if (asks.length === 0) {
    if (fraction !== undefined) {
      asks.push(fraction);
      evidence.push(...groupsOf(pod).map((group) => ({ by: "group" as const, group })));
    }
    asks.push(...runai.asks);
    if (runai.asks.length > 0) evidence.push(...runai.evidence);
  } else if (fraction !== undefined || runai.asks.length > 0) {
    remarks.push({
      reason: "contradiction",
      text: "The pod has both an annotation for a fraction or MIG instance and a GPU resource; the resource is used.",
    });
  }
  asks.push(...readClaims(pod, options.isForGpus));
  return { asks, evidence };
}
