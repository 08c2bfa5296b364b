import type { Charge, ChargeState, ChargeTrail } from "../../domain/charge/charge.ts";
import { rational } from "../../domain/exact/rational.ts";
import { amountOf } from "../../domain/exact/units.ts";
import type { Evidence } from "../../domain/holder.ts";
import type { Payer } from "../../domain/policy/policy.ts";
import { createRowBinaryWriter } from "../../runtime/store/row-binary.ts";
import type { StoreClient } from "../../runtime/store/client.ts";

/** The columns of `charges` but the run's, in the order in which rows are written. */
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

/** Under what charges are booked. */
export interface Booking {
  readonly run: string;
  readonly policy: string;
  /** The beginning of the billing period, milliseconds since the epoch. */
  readonly billingPeriod: number;
  /** The closing whose lines they correct; left out for charges that correct nothing. */
  readonly corrects?: string;
}

/** A charge as the store has it. */
export interface BookedCharge extends Charge {
  /** `2026-03`. */
  readonly billingPeriod: string;
  /** The closing whose lines it corrects; empty where it corrects none. */
  readonly corrects: string;
}

/** Charges are inserted in portions of about so many. */
const CHARGES_PER_INSERT = 50_000;

/** Rows are written into parts of about so many bytes: none has to grow, and be copied, as it is filled. */
const PART_BYTES = 256 * 1024;
/** Few rows are longer; a part grows where one is. */
const LONGEST_ROW = 4 * 1024;

/** Charges on their way into the store, under a run that nobody sees yet. */
export interface ChargeInserts {
  /** Writes them out at once, so that no charge is held; waits only where two portions would be under way. */
  add(charges: readonly Charge[]): Promise<void>;
  /** Ends when all that was added is inserted. */
  end(): Promise<void>;
}

/** Inserts charges in portions: while one is inserted, the next is written. Fails with a `StoreError`. */
export function createChargeInserts(store: StoreClient, booking: Booking): ChargeInserts {
  const rows = createChargeRows(booking);
  let inserted: Promise<void> = Promise.resolve();

  async function flush(): Promise<void> {
    const body = rows.take();
    await inserted;
    inserted = store.insertRows("charges", ["run_id", ...CHARGE_COLUMNS], body).then(() => {});
    // Whoever stops in between hears of no failure of what was inserted for nothing.
    inserted.catch(() => {});
  }

  return {
    async add(charges) {
      for (const charge of charges) {
        rows.write(charge);
        if (rows.count >= CHARGES_PER_INSERT) await flush();
      }
    },
    async end() {
      if (rows.count > 0) await flush();
      await inserted;
    },
  };
}

/** Inserts charges that are all there. Fails with a `StoreError`. */
export async function insertCharges(store: StoreClient, booking: Booking, charges: readonly Charge[]): Promise<void> {
  const inserts = createChargeInserts(store, booking);
  await inserts.add(charges);
  await inserts.end();
}

/** Rows of `charges` in RowBinary. */
interface ChargeRows {
  /** Written since the last `take`. */
  readonly count: number;
  write(charge: Charge): void;
  /** One part after the other. */
  take(): readonly Uint8Array[];
}

function createChargeRows(under: Booking): ChargeRows {
  const booking = bookingColumns(under);
  const writer = createRowBinaryWriter(PART_BYTES);
  const { string } = writer;
  const holderTexts = writer.repeating((holder: Charge["holder"]) => {
    for (const text of [holder?.id, holder?.namespace, holder?.pod, holder?.workloadKind]) string(text ?? "");
    for (const text of [holder?.workload, holder?.type, holder?.queue, holder?.priorityClass]) string(text ?? "");
    writer.map(Object.entries(holder?.labels ?? {}), string);
    for (const text of [holder?.attribution, holder?.rawShare, holder?.share]) string(text ?? "");
  });
  const ownerPlaces = writer.repeating(({ team, costCenter, project, environment }: ChargeTrail["owners"]) => {
    for (const place of [team, costCenter, project, environment]) string(place);
  });
  let count = 0;
  let parts: Uint8Array[] = [];
  return {
    get count() {
      return count;
    },
    write(charge) {
      const { holder, costs, trail } = charge;
      count += 1;
      if (writer.length > PART_BYTES - LONGEST_ROW) parts.push(writer.take());
      writer.raw(booking);
      string(charge.cluster);
      string(charge.node);
      writer.nullable(charge.slot, writer.uint16);
      writer.dateTime64Millis(charge.fromMillis);
      writer.dateTime64Millis(charge.untilMillis);
      string(charge.gpuModel);
      string(charge.instanceType);
      string(charge.region);
      string(charge.zone);
      string(charge.pool);
      string(charge.capacityType);
      string(charge.state);
      string(charge.because);
      string(charge.payer);
      string(charge.team);
      string(charge.costCenter);
      string(charge.project);
      string(charge.environment);
      holderTexts(holder);
      string(`${charge.shareMillis.num}/${charge.shareMillis.den}`);
      writer.decimal128(charge.gpuHours);
      writer.nullable(costs?.list, writer.decimal128);
      writer.nullable(costs?.contracted, writer.decimal128);
      writer.nullable(costs?.effective, writer.decimal128);
      writer.nullable(charge.power, writer.decimal128);
      writer.nullable(charge.millijoules, writer.decimal128);
      writer.nullable(charge.carbon, writer.decimal128);
      string(trail.price);
      writer.dateTime64Millis(trail.pricedSince);
      ownerPlaces(trail.owners);
    },
    take() {
      const taken = [...parts, writer.take()];
      [count, parts] = [0, []];
      return taken;
    },
  };
}

/** The columns that all rows of a booking have in common. */
function bookingColumns({ run, policy, billingPeriod, corrects = "" }: Booking): Uint8Array {
  const { uuid, string, uint16, take } = createRowBinaryWriter(256);
  uuid(run);
  string(policy);
  // A Date counts days.
  uint16(billingPeriod / DAY_MILLIS);
  string(corrects);
  return take();
}

const DAY_MILLIS = 86_400_000;
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
