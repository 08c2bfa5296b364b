import type { Charge } from "../../domain/charge/charge.ts";
import { constantColumn, takeBlock, type NativeColumn } from "../../runtime/store/native/block.ts";
import { decimalColumn, numberColumn, type DecimalColumn } from "../../runtime/store/native/numbers.ts";
import { mapColumn, textColumn } from "../../runtime/store/native/texts.ts";
import { createRowBinaryWriter, type RowBinaryWriter } from "../../runtime/store/row-binary.ts";

/** Under what charges are booked. */
export interface Booking {
  readonly run: string;
  readonly policy: string;
  /** The beginning of the billing period, milliseconds since the epoch. */
  readonly billingPeriod: number;
  /** The closing whose lines they correct; left out for charges that correct nothing. */
  readonly corrects?: string;
}

/** Charges in columns of `charges`. */
export interface ChargeColumns {
  readonly columns: readonly Pick<NativeColumn, "name" | "type">[];
  /** Written since the last `take`. */
  readonly count: number;
  write(charge: Charge): void;
  /** One block after the other, in Native. */
  take(): readonly Uint8Array[];
}

/** Charges are put together in blocks of so many: columns need not grow, nor be large. */
const CHARGES_PER_BLOCK = 8_192;
const BLOCK_BYTES = 2 ** 21;

/** Columns without charges, of one booking. */
export function createChargeColumns(booking: Booking): ChargeColumns {
  const { constants, texts, numbers, decimals, labels } = columnsOf(booking);
  const columns = [
    ...constants,
    ...Object.values(texts),
    ...Object.values(numbers),
    ...Object.values(decimals),
    labels,
  ];
  for (const column of columns) column.grow(CHARGES_PER_BLOCK);
  const out = createRowBinaryWriter(BLOCK_BYTES);
  /** Of the holder that was asked for last. */
  let last: { readonly holder: Charge["holder"]; readonly labels: readonly (readonly [string, string])[] } = NOBODY;
  let count = 0;
  let rows = 0;
  let blocks: Uint8Array[] = [];

  function writeOut(): void {
    if (rows > 0) blocks.push(takeBlock(out, columns, rows));
    rows = 0;
  }

  function writeHolder(row: number, holder: Charge["holder"]): void {
    if (holder === undefined) return;
    texts.holder.put(row, holder.id);
    texts.namespace.put(row, holder.namespace);
    texts.pod.put(row, holder.pod);
    texts.workload_kind.put(row, holder.workloadKind);
    texts.workload.put(row, holder.workload);
    texts.workload_type.put(row, holder.type);
    texts.queue.put(row, holder.queue);
    texts.priority_class.put(row, holder.priorityClass);
    texts.attribution.put(row, holder.attribution);
    texts.raw_share.put(row, holder.rawShare);
    texts.share.put(row, holder.share);
    if (last.holder !== holder) last = { holder, labels: Object.entries(holder.labels) };
    labels.set(row, last.labels);
  }

  return {
    columns,
    get count() {
      return count;
    },
    write(charge) {
      if (rows === CHARGES_PER_BLOCK) writeOut();
      count += 1;
      const row = rows++;
      const { costs, trail, shareMillis } = charge;
      texts.cluster.put(row, charge.cluster);
      texts.node.put(row, charge.node);
      if (charge.slot !== undefined) numbers.slot.set(row, charge.slot);
      numbers.from_at.set(row, charge.fromMillis);
      numbers.until_at.set(row, charge.untilMillis);
      texts.gpu_model.put(row, charge.gpuModel);
      texts.instance_type.put(row, charge.instanceType);
      texts.region.put(row, charge.region);
      texts.zone.put(row, charge.zone);
      texts.pool.put(row, charge.pool);
      texts.capacity_type.put(row, charge.capacityType);
      texts.state.put(row, charge.state);
      texts.because.put(row, charge.because);
      texts.payer.put(row, charge.payer);
      texts.team.put(row, charge.team);
      texts.cost_center.put(row, charge.costCenter);
      texts.project.put(row, charge.project);
      texts.environment.put(row, charge.environment);
      writeHolder(row, charge.holder);
      texts.share_millis.put(row, `${shareMillis.num}/${shareMillis.den}`);
      decimals.gpu_hours.set(row, charge.gpuHours);
      setAmount(decimals.list_cost, row, costs?.list);
      setAmount(decimals.contracted_cost, row, costs?.contracted);
      setAmount(decimals.effective_cost, row, costs?.effective);
      setAmount(decimals.power_cost, row, charge.power);
      setAmount(decimals.energy_mj, row, charge.millijoules);
      setAmount(decimals.carbon_grams, row, charge.carbon);
      texts.price.put(row, trail.price);
      numbers.priced_since.set(row, trail.pricedSince);
      texts.team_rule.put(row, trail.owners.team);
      texts.cost_center_rule.put(row, trail.owners.costCenter);
      texts.project_rule.put(row, trail.owners.project);
      texts.environment_rule.put(row, trail.owners.environment);
    },
    take() {
      writeOut();
      const taken = blocks;
      [count, blocks] = [0, []];
      return taken;
    },
  };
}

const NOBODY = { holder: undefined, labels: [] };

function setAmount(column: DecimalColumn, row: number, amount: bigint | undefined): void {
  if (amount !== undefined) column.set(row, amount);
}

const TEXTS = [
  "cluster",
  "node",
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
  "attribution",
  "raw_share",
  "share",
  "share_millis",
  "price",
  "team_rule",
  "cost_center_rule",
  "project_rule",
  "environment_rule",
] as const;
const AMOUNTS = ["list_cost", "contracted_cost", "effective_cost", "power_cost", "carbon_grams"] as const;
const TIMES = ["from_at", "until_at", "priced_since"] as const;
const DAY_MILLIS = 86_400_000;

function columnsOf({ run, policy, billingPeriod, corrects = "" }: Booking) {
  return {
    constants: [
      constantColumn(
        "run_id",
        "UUID",
        encoded(({ uuid }) => uuid(run)),
      ),
      constantColumn(
        "policy",
        "String",
        encoded(({ string }) => string(policy)),
      ),
      // A Date counts days.
      constantColumn(
        "billing_period",
        "Date",
        encoded(({ uint16 }) => uint16(billingPeriod / DAY_MILLIS)),
      ),
      constantColumn(
        "corrects",
        "String",
        encoded(({ string }) => string(corrects)),
      ),
    ],
    texts: named(TEXTS, textColumn),
    numbers: {
      slot: numberColumn("slot", "Nullable(UInt16)", 2),
      ...named(TIMES, (name) => numberColumn(name, "DateTime64(3, 'UTC')", 8)),
    },
    decimals: {
      gpu_hours: decimalColumn("gpu_hours", "Decimal(38, 9)"),
      energy_mj: decimalColumn("energy_mj", "Nullable(Decimal(38, 0))"),
      ...named(AMOUNTS, (name) => decimalColumn(name, "Nullable(Decimal(38, 9))")),
    },
    labels: mapColumn<string>("labels", "String", (out, label) => out.string(label)),
  };
}

function encoded(write: (writer: RowBinaryWriter) => void): Uint8Array {
  const writer = createRowBinaryWriter(256);
  write(writer);
  return writer.take();
}

function named<Name extends string, Column>(
  names: readonly Name[],
  make: (name: Name) => Column,
): Readonly<Record<Name, Column>> {
  return Object.fromEntries(names.map((name) => [name, make(name)])) as Record<Name, Column>;
}
