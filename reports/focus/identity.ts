import { isTeams } from "../../domain/charge/charge.ts";
import type { StandingEntry } from "../../domain/price/book.ts";
import { dateText, periodOf } from "../../domain/period.ts";
import { subjectOf, type FocusSubject } from "./measure.ts";
import type { Origin, Part, ServedWork } from "./part.ts";
import { UNATTRIBUTED } from "../../domain/serving/tenants.ts";
import { isBusy } from "../../domain/serving/split-rule.ts";

/** Joins names as parts of an id. The separator is escaped in the names. */
function joined(...names: readonly string[]): string {
  return names.map((name) => encodeURIComponent(name)).join("/");
}

/** The resource of a charge; undefined for a cost of no node. */
export interface FocusResource {
  readonly id: string;
  readonly name: string;
  readonly type: "GPU" | "Node" | "Inference service" | "Commitment";
}

/** Returns the GPU, the node or the service of an origin; undefined for an origin without any of them. */
export function resourceOf({ cluster, service, node, slot }: Origin): FocusResource | undefined {
  if (service !== undefined) {
    const { namespace, workloadKind, workload } = service;
    const id = joined(cluster, namespace, workloadKind, workload);
    return { id: `service:${id}`, name: `${namespace}/${workload}`, type: "Inference service" };
  }
  if (node === "") return undefined;
  if (slot === undefined) return { id: joined(cluster, node), name: node, type: "Node" };
  return { id: joined(cluster, node, String(slot)), name: `${node} GPU ${slot}`, type: "GPU" };
}

/** Returns the id of a commitment, its contract and its resource. It follows the name in the price book. */
export function commitmentId({ name }: Pick<StandingEntry, "name">): string {
  return joined("commitment", name.replace(/^commitment /, ""));
}

/** The ids of an invoice and of one of its lines. */
export interface InvoiceIds {
  readonly invoice: string;
  readonly detail: string;
}

/**
 * Returns the ids of the statement of a payer in a billing period, and of its line for the charges of a month: the period itself, or an
 * earlier month that the line corrects. Times are in milliseconds.
 */
export function invoiceIds(
  payer: { readonly team: string; readonly costCenter: string },
  billingPeriod: number,
  month: number,
): InvoiceIds {
  const nameOf = (millis: number): string => dateText(millis).slice(0, 7);
  const invoice = joined(nameOf(billingPeriod), payer.team, ...(payer.costCenter === "" ? [] : [payer.costCenter]));
  return { invoice, detail: `${invoice}#${nameOf(month)}` };
}

/** Returns the ids of the invoice of a part, if the statements of its billing period are invoices. */
export function invoiceOf(part: Part, invoiced: ReadonlySet<number> | undefined): InvoiceIds | undefined {
  const { billingPeriod, isCorrection, from } = part.origin;
  if (invoiced?.has(billingPeriod) !== true) return undefined;
  return invoiceIds(part, billingPeriod, isCorrection ? periodOf(from).from : billingPeriod);
}

/** The receiver of a part of an origin's cost. */
export interface AllocatedResource {
  readonly id: string;
  readonly name: string;
}

/**
 * Returns the holder, regardless of the payer: a pod by its UID or a job by its name, because names of pods repeat. For spread costs, a
 * team's markup and the payment of a pool's owner, it is the team. In a file of services, it is the tenant or, without a gateway, the
 * model. Undefined for costs that are allocated to nobody.
 */
export function allocatedTo(part: Part): AllocatedResource | undefined {
  const { origin, work, holder, namespace, pod, team } = part;
  if (work !== undefined) return receiverOf(work);
  if (holder !== "") {
    const name = pod === "" ? holder : namespace === "" ? pod : `${namespace}/${pod}`;
    return { id: `pod:${joined(origin.cluster, holder)}`, name };
  }
  return isTeams(part) ? { id: `team:${joined(team)}`, name: team } : undefined;
}

function receiverOf({ model, tenant, phase }: ServedWork): AllocatedResource | undefined {
  if (!isBusy(phase) || tenant === UNATTRIBUTED) return undefined;
  if (tenant !== "") return { id: `tenant:${joined(tenant)}`, name: tenant };
  return model === "" ? undefined : { id: `model:${joined(model)}`, name: model };
}

/** The priced thing, with its entry in the price book. */
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

/** Returns the stock-keeping unit of a part; undefined for adjustments, which have no price. */
export function skuOf(part: Pick<Part, "origin" | "state">): Sku | undefined {
  const subject = subjectOf(part);
  if (subject === "adjustment") return undefined;
  const { service, gpuModel, instanceType, price, model, meter } = part.origin;
  if (service !== undefined) {
    const id = joined(
      "service",
      gpuModel,
      ...(model === undefined ? [] : [model]),
      ...(meter === undefined ? [] : [meter]),
    );
    return { id, meter: meter ?? "GPU time of inference services", priceId: `${id}/mean of the day` };
  }
  const id = joined(subject, gpuModel, instanceType);
  return { id, meter: METERS[subject], priceId: `${id}/${price}` };
}

/** Returns FOCUS's pricing category of a part; `Other` for a price without a class. */
export function pricingCategoryOf({ origin, state }: Pick<Part, "origin" | "state">): string {
  if (state === "unused commitment") return origin.price.startsWith("commitment") ? "Committed" : "Other";
  return PRICING_CATEGORIES[origin.capacityType] ?? "Other";
}

const PRICING_CATEGORIES: Readonly<Record<string, string>> = {
  "on-demand": "Standard",
  spot: "Dynamic",
  reserved: "Committed",
};
