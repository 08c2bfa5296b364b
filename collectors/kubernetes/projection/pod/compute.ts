import type { Compute, PodCompute } from "../../../../domain/compute.ts";
import type { KubeQuantities } from "../kube-object.ts";
import type { ContainerObject, PodSpecObject } from "../pod-object.ts";
import { parseAmount } from "../quantity.ts";
import { given } from "../wire.ts";
import { moments, reserved } from "./moments.ts";

type Name = "cpu" | "memory";
type Kind = "requests" | "limits";

const MILLICORES_IN_CORE = 1000;

/**
 * Reads the CPU and memory of a pod, as the scheduler counts them. Resources of the whole pod come before those of its containers. An
 * invalid quantity counts as none.
 */
export function readPodCompute(spec: PodSpecObject | null | undefined): PodCompute {
  const sets = moments(spec);
  const read = (kind: Kind, name: Name): number | undefined =>
    amountOf(spec?.resources?.[kind], name) ?? sumOf(sets, kind, name);
  return given({
    cpuRequestMillicores: read("requests", "cpu"),
    cpuLimitMillicores: read("limits", "cpu"),
    memoryRequestBytes: read("requests", "memory"),
    memoryLimitBytes: read("limits", "memory"),
  });
}

/** Reads amounts of CPU and memory, such as a node's allocatable ones; undefined if one of them is missing or invalid. */
export function readCompute(quantities: KubeQuantities | undefined): Compute | undefined {
  const [cpuMillicores, memoryBytes] = [amountOf(quantities, "cpu"), amountOf(quantities, "memory")];
  return cpuMillicores === undefined || memoryBytes === undefined ? undefined : { cpuMillicores, memoryBytes };
}

function sumOf(sets: readonly (readonly ContainerObject[])[], kind: Kind, name: Name): number | undefined {
  const running = sets.at(-1)!;
  // A request that only some containers have is still a request. A limit that only some have does not limit the pod.
  const has = (container: ContainerObject): boolean => amountOf(container.resources?.[kind], name) !== undefined;
  const isGiven = kind === "limits" ? running.length > 0 && running.every(has) : sets.some((set) => set.some(has));
  if (!isGiven) return undefined;
  const amounts = reserved(
    sets,
    (container) => new Map([[name, amountOf(container.resources?.[kind], name) ?? 0]] as const),
  );
  return amounts.get(name) ?? 0;
}

/** Returns thousandths of a core, or bytes, as a whole number. */
function amountOf(quantities: KubeQuantities | undefined, name: Name): number | undefined {
  const quantity = quantities?.[name];
  if (quantity === undefined || quantity === null) return undefined;
  const parsed = parseAmount(quantity);
  if ("refused" in parsed) return undefined;
  const amount = Math.round(name === "cpu" ? parsed.value * MILLICORES_IN_CORE : parsed.value);
  return Number.isSafeInteger(amount) ? amount : undefined;
}
