import type { ExportLineKind } from "../../../domain/invoice/export-line.ts";
import type { SpanCost } from "../../../domain/invoice/divide.ts";
import { DAY_MILLIS } from "../../../domain/time.ts";
import { exactOf, type Rational } from "../../../domain/exact/rational.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";

/** The summed lines of one machine, or of one other cost, over one time. */
export interface ExportCost extends SpanCost {
  readonly source: string;
  readonly cloud: string;
  readonly account: string;
  /** The start of the billing month. */
  readonly billingFrom: number;
  readonly kind: ExportLineKind;
  /** Empty for a cost of no machine. */
  readonly machine: string;
  readonly region: string;
  readonly zone: string;
  readonly instanceType: string;
  readonly capacityType: string;
  readonly commitment: string;
  readonly reservation: string;
  readonly currency: string;
  /** True if all lines have the number of an invoice. */
  readonly isInvoiced: boolean;
  readonly lines: number;
}

const sumOf = (column: string): string => `toString(sum(toDecimal256(${column}, 38)))`;
const KEYS = "source, kind, machine, account, commitment_of AS commitment, reservation_of AS reservation, currency";

/**
 * Selects the costs that overlap a day. The lines of a machine over one time are one cost, whatever covers them: the machine is there once. The
 * capacity type is that of most of its hours.
 */
const COSTS = `
SELECT ${KEYS}, toFloat64(toUnixTimestamp64Milli(billing_from)) AS billingFrom,
  toFloat64(toUnixTimestamp64Milli(from_at)) AS from, toFloat64(toUnixTimestamp64Milli(until_at)) AS until,
  any(cloud) AS cloudName, max(region) AS regionName, max(zone) AS zoneName, max(instance_type) AS instanceType,
  argMax(capacity_type, toFloat64OrZero(machine_hours)) AS capacityType,
  countIf(machine_hours != '') AS timed,
  toString(sum(if(machine_hours = '', toDecimal256(0, 38), toDecimal256OrZero(machine_hours, 38)))) AS hours,
  ${sumOf("list_cost")} AS list, ${sumOf("contracted_cost")} AS contracted, ${sumOf("effective_cost")} AS effective,
  min(invoice != '') AS isInvoiced, count() AS lines
FROM (
  SELECT *, if(kind = 'machine', '', commitment) AS commitment_of, if(kind = 'machine', '', reservation) AS reservation_of
  FROM export_lines_valid
  WHERE from_at < fromUnixTimestamp64Milli({until:Int64}) AND until_at > fromUnixTimestamp64Milli({from:Int64})
)
GROUP BY source, kind, machine, account, billing_from, commitment_of, reservation_of, currency, from, until
ORDER BY source, kind, machine, from, until, account, billing_from, commitment, reservation, currency`;

interface CostRow extends Omit<
  ExportCost,
  "machineHours" | "costs" | "isInvoiced" | "lines" | "cloud" | "region" | "zone"
> {
  readonly cloudName: string;
  readonly regionName: string;
  readonly zoneName: string;
  readonly timed: string;
  readonly hours: string;
  readonly list: string;
  readonly contracted: string;
  readonly effective: string;
  readonly isInvoiced: number;
  readonly lines: string;
}

/** Reads the costs of exports that overlap a UTC day. Fails with a `StoreError`. */
export async function readCosts(store: StoreClient, day: number): Promise<readonly ExportCost[]> {
  const rows = await store.query<CostRow>(COSTS, { from: day, until: day + DAY_MILLIS });
  return rows.map(
    ({ cloudName, regionName, zoneName, timed, hours, list, contracted, effective, isInvoiced, lines, ...row }) => ({
      ...row,
      cloud: cloudName,
      region: regionName,
      zone: zoneName,
      machineHours: Number(timed) === 0 ? undefined : exactOf(hours),
      costs: { list: exactOf(list), contracted: exactOf(contracted), effective: exactOf(effective) },
      isInvoiced: Number(isInvoiced) === 1,
      lines: Number(lines),
    }),
  );
}

/** The time of a machine in a capacity reservation. */
export interface ReservedTime {
  readonly reservation: string;
  readonly machine: string;
  readonly currency: string;
  readonly from: number;
  readonly until: number;
  readonly hours: Rational;
}

const RESERVED = `
SELECT reservation, machine, currency,
  toFloat64(toUnixTimestamp64Milli(from_at)) AS from, toFloat64(toUnixTimestamp64Milli(until_at)) AS until,
  ${sumOf("machine_hours")} AS hours
FROM export_lines_valid
WHERE kind = 'machine' AND machine_hours != '' AND reservation IN {reservations:Array(String)}
  AND from_at < fromUnixTimestamp64Milli({until:Int64}) AND until_at > fromUnixTimestamp64Milli({from:Int64})
GROUP BY reservation, machine, currency, from, until
ORDER BY reservation, from, until, machine, currency`;

/** Reads the times of machines in reservations over a span. Fails with a `StoreError`. */
export async function readReserved(
  store: StoreClient,
  reservations: readonly string[],
  span: { readonly from: number; readonly until: number },
): Promise<readonly ReservedTime[]> {
  if (reservations.length === 0) return [];
  const rows = await store.query<Omit<ReservedTime, "hours"> & { hours: string }>(RESERVED, { reservations, ...span });
  return rows.map((row) => ({ ...row, hours: exactOf(row.hours) }));
}
