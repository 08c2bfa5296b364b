import type { Charge, ChargeState } from "../../domain/charge/charge.ts";
import { rational } from "../../domain/exact/rational.ts";
import { amountOf } from "../../domain/exact/units.ts";
import type { Evidence } from "../../domain/holder.ts";
import type { Payer } from "../../domain/policy/policy.ts";

/** The columns of `charges` but the run's. */
export const CHARGE_COLUMNS: readonly string[] = [
  "policy",
  "billing_period",
  "corrects",
  "cluster",
  "node",
  "slot",
  "from_at",
  "until_at",
  "gpu_model",
  "instance_type",
  "region",
  "zone",
  "pool",
  "capacity_type",
  "state",
  "because",
  "payer",
  "team",
  "cost_center",
  "project",
  "environment",
  "holder",
  "namespace",
  "pod",
  "workload_kind",
  "workload",
  "workload_type",
  "queue",
  "priority_class",
  "labels",
  "attribution",
  "raw_share",
  "share",
  "share_millis",
  "gpu_hours",
  "list_cost",
  "contracted_cost",
  "effective_cost",
  "power_cost",
  "energy_mj",
  "carbon_grams",
  "price",
  "priced_since",
  "team_rule",
  "cost_center_rule",
  "project_rule",
  "environment_rule",
];

/** A charge as the store has it. */
export interface BookedCharge extends Charge {
  /** `2026-03`. */
  readonly billingPeriod: string;
  /** The closing whose lines it corrects; empty where it corrects none. */
  readonly corrects: string;
}

const TIMES = new Set(["from_at", "until_at", "priced_since"]);
const COSTS = ["list_cost", "contracted_cost", "effective_cost", "power_cost"];
const AMOUNTS = new Set(["gpu_hours", ...COSTS, "energy_mj", "carbon_grams"]);

/** What a query selects to get rows that {@link chargeOf} reads. */
export const SELECTED_CHARGES = CHARGE_COLUMNS.map((name) => {
  if (TIMES.has(name)) return `toFloat64(toUnixTimestamp64Milli(${name})) AS ${name}_ms`;
  return AMOUNTS.has(name) ? `toString(${name}) AS ${name}_text` : name;
}).join(", ");

/** A row of {@link SELECTED_CHARGES}. */
export type ChargeRow = Readonly<Record<string, string>> & {
  readonly slot: number | null;
  readonly from_at_ms: number;
  readonly until_at_ms: number;
  readonly priced_since_ms: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly list_cost_text: string | null;
  readonly contracted_cost_text: string | null;
  readonly effective_cost_text: string | null;
  readonly power_cost_text: string | null;
  readonly energy_mj_text: string | null;
  readonly carbon_grams_text: string | null;
};

/** The charge of a row of the store. */
export function chargeOf(row: ChargeRow): BookedCharge {
  const text = (name: string): string => row[name]!;
  const [num, den] = text("share_millis").split("/") as [string, string];
  const { list_cost_text: list, contracted_cost_text: contracted, effective_cost_text: effective } = row;
  const { power_cost_text: power, energy_mj_text: energy, carbon_grams_text: carbon } = row;
  const isPriced = list !== null && contracted !== null && effective !== null;
  return {
    billingPeriod: text("billing_period").slice(0, 7),
    corrects: text("corrects"),
    fromMillis: row.from_at_ms,
    untilMillis: row.until_at_ms,
    cluster: text("cluster"),
    node: text("node"),
    slot: row.slot ?? undefined,
    gpuModel: text("gpu_model"),
    instanceType: text("instance_type"),
    region: text("region"),
    zone: text("zone"),
    pool: text("pool"),
    capacityType: text("capacity_type"),
    state: text("state") as ChargeState,
    because: text("because"),
    payer: text("payer") as Payer,
    team: text("team"),
    costCenter: text("cost_center"),
    project: text("project"),
    environment: text("environment"),
    holder:
      text("holder") === ""
        ? undefined
        : {
            id: text("holder"),
            namespace: text("namespace"),
            pod: text("pod"),
            workloadKind: text("workload_kind"),
            workload: text("workload"),
            type: text("workload_type"),
            queue: text("queue"),
            priorityClass: text("priority_class"),
            labels: row.labels,
            attribution: text("attribution") as Evidence,
            rawShare: text("raw_share"),
            share: text("share"),
          },
    shareMillis: rational(BigInt(num), BigInt(den)),
    gpuHours: amountOf(text("gpu_hours_text")),
    costs: isPriced
      ? { list: amountOf(list), contracted: amountOf(contracted), effective: amountOf(effective) }
      : undefined,
    power: power === null ? undefined : amountOf(power),
    millijoules: energy === null ? undefined : BigInt(energy),
    carbon: carbon === null ? undefined : amountOf(carbon),
    trail: {
      price: text("price"),
      pricedSince: row.priced_since_ms,
      owners: {
        team: text("team_rule"),
        costCenter: text("cost_center_rule"),
        project: text("project_rule"),
        environment: text("environment_rule"),
      },
    },
  };
}
