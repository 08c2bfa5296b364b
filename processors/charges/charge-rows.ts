import type { Charge, ChargeState } from "../../domain/charge/charge.ts";
import { rational } from "../../domain/exact/rational.ts";
import { amountOf } from "../../domain/exact/units.ts";
import type { Evidence } from "../../domain/holder.ts";
import type { Payer } from "../../domain/policy/policy.ts";
import { createRowBinaryWriter } from "../../runtime/store/row-binary.ts";
import type { StoreClient } from "../../runtime/store/client.ts";

/** The columns of `charges` but the run's, in the order in which rows are written. */
export const CHARGE_COLUMNS: readonly string[] = [
  "policy",
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
  "price",
  "priced_since",
  "team_rule",
  "cost_center_rule",
  "project_rule",
  "environment_rule",
];

/** Inserts the charges of one policy under a run that nobody sees yet. */
export async function insertCharges(
  store: StoreClient,
  run: string,
  policy: string,
  charges: readonly Charge[],
): Promise<void> {
  if (charges.length === 0) return;
  const writer = createRowBinaryWriter();
  const { string } = writer;
  for (const charge of charges) {
    const { holder, costs, trail } = charge;
    writer.uuid(run);
    string(policy);
    string(charge.cluster);
    string(charge.node);
    writer.nullable(charge.slot, writer.uint16);
    writer.dateTime64Millis(charge.fromMillis);
    writer.dateTime64Millis(charge.untilMillis);
    for (const text of [charge.gpuModel, charge.instanceType, charge.region, charge.zone, charge.pool]) string(text);
    for (const text of [charge.capacityType, charge.state, charge.because, charge.payer]) string(text);
    for (const text of [charge.team, charge.costCenter, charge.project, charge.environment]) string(text);
    for (const text of [holder?.id, holder?.namespace, holder?.pod, holder?.workloadKind]) string(text ?? "");
    for (const text of [holder?.workload, holder?.type, holder?.queue, holder?.priorityClass]) string(text ?? "");
    writer.map(new Map(Object.entries(holder?.labels ?? {})), string);
    for (const text of [holder?.attribution, holder?.rawShare, holder?.share]) string(text ?? "");
    string(`${charge.shareMillis.num}/${charge.shareMillis.den}`);
    writer.decimal128(charge.gpuHours);
    writer.nullable(costs?.list, writer.decimal128);
    writer.nullable(costs?.contracted, writer.decimal128);
    writer.nullable(costs?.effective, writer.decimal128);
    string(trail.price);
    writer.dateTime64Millis(trail.pricedSince);
    for (const place of [trail.owners.team, trail.owners.costCenter]) string(place);
    for (const place of [trail.owners.project, trail.owners.environment]) string(place);
  }
  await store.insertRows("charges", ["run_id", ...CHARGE_COLUMNS], writer.take());
}

const TIMES = new Set(["from_at", "until_at", "priced_since"]);
const AMOUNTS = new Set(["gpu_hours", "list_cost", "contracted_cost", "effective_cost"]);

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
};

/** The charge of a row of the store. */
export function chargeOf(row: ChargeRow): Charge {
  const text = (name: string): string => row[name]!;
  const [num, den] = text("share_millis").split("/") as [string, string];
  const { list_cost_text: list, contracted_cost_text: contracted, effective_cost_text: effective } = row;
  const isPriced = list !== null && contracted !== null && effective !== null;
  return {
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
