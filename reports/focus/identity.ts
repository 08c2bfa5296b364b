import { isTeams } from "../../domain/charge/charge.ts";
import { subjectOf, type FocusSubject } from "./measure.ts";
import type { Origin, Part } from "./part.ts";

/** Names that are parts of an id: what separates them is in none of them any more. */
function joined(...names: readonly string[]): string {
  return names.map((name) => encodeURIComponent(name)).join("/");
}

/** What a charge is of; undefined for a cost of no node. */
export interface FocusResource {
  readonly id: string;
  readonly name: string;
  readonly type: "GPU" | "Node";
}

/** The GPU or the node that an origin is of. */
export function resourceOf({ cluster, node, slot }: Origin): FocusResource | undefined {
  if (node === "") return undefined;
  if (slot === undefined) return { id: joined(cluster, node), name: node, type: "Node" };
  return { id: joined(cluster, node, String(slot)), name: `${node} GPU ${slot}`, type: "GPU" };
}

/** Whom a part of an origin's cost is allocated to. */
export interface AllocatedResource {
  readonly id: string;
  readonly name: string;
}

/**
 * Who held it, whoever pays: a pod by its UID or a job by its name, as names of pods come again. Of what was spread, of
 * a team's markup and of what the owner of a pool pays, the team. Undefined for what was allocated to nobody.
 */
export function allocatedTo(part: Part): AllocatedResource | undefined {
  const { origin, holder, namespace, pod, team } = part;
  if (holder !== "") {
    const name = pod === "" ? holder : namespace === "" ? pod : `${namespace}/${pod}`;
    return { id: `pod:${joined(origin.cluster, holder)}`, name };
  }
  return isTeams(part) ? { id: `team:${joined(team)}`, name: team } : undefined;
}

/** What is priced, and by which entry of the price book. */
export interface Sku {
  readonly id: string;
  readonly meter: string;
  readonly priceId: string;
}

const METERS: Readonly<Record<Exclude<FocusSubject, "adjustment">, string>> = {
  gpu: "GPU time",
  node: "Node time beside GPUs",
  commitment: "Unused commitment",
};

/** The stock-keeping unit of a part; undefined for adjustments, which have no price. */
export function skuOf(part: Pick<Part, "origin" | "state">): Sku | undefined {
  const subject = subjectOf(part);
  if (subject === "adjustment") return undefined;
  const { gpuModel, instanceType, price } = part.origin;
  const id = joined(subject, gpuModel, instanceType);
  return { id, meter: METERS[subject], priceId: `${id}/${price}` };
}

/** FOCUS's word for how a part is priced; a price that nothing classifies is `Other`. */
export function pricingCategoryOf({ origin, state }: Pick<Part, "origin" | "state">): string {
  if (state === "unused commitment") return origin.price.startsWith("commitment") ? "Committed" : "Other";
  return PRICING_CATEGORIES[origin.capacityType] ?? "Other";
}

const PRICING_CATEGORIES: Readonly<Record<string, string>> = {
  "on-demand": "Standard",
  spot: "Dynamic",
  reserved: "Committed",
};
