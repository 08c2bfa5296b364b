import type { Measured, UsageClaim } from "../../domain/allocation/segment.ts";
import type { Telemetry, UsageHolder, UsageHour, UsagePlace } from "../../domain/allocation/usage-hour.ts";
import type { Claim } from "../../domain/share/claim.ts";
import type { GpuAt } from "../../domain/share/layout.ts";
import { createRowBinaryWriter } from "../../runtime/store/row-binary.ts";
import { oneAhead, slicesOf } from "../../runtime/in-turns.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import type { Span } from "../ledger/plan/node-record.ts";

/** The columns of `usage_hours` but the run's, in the order in which rows are written. */
export const USAGE_COLUMNS: readonly string[] = [
  "cluster",
  "node",
  "slot",
  "from_at",
  "until_at",
  "gpu_key",
  "gpu_at",
  "place",
  "because",
  "cordoned",
  "busy_ms",
  "energy_mj",
  "energy_covered_ms",
  "holders",
  "claims",
  "samples",
  "first_at",
  "last_at",
  "covered_ms",
  "active_ms",
  "activity_ppm_ms",
  "activity_at_claims_ppm_ms",
  "activity_max_ppm",
  "memory_max_mib",
  "has_process",
  "process_at_claim_ppm_ms",
  "process_at_occupant_ppm_ms",
  "process_ppm_ms",
];

/** What stands in the column `claims` of each claim. */
interface ClaimText extends Omit<UsageHolder, "telemetry"> {
  readonly held: Claim["held"];
  readonly stage: UsageClaim["stage"];
}

/** Inserts rows of the meter under a run that nobody sees yet. */
export async function insertUsage(store: StoreClient, run: string, hours: readonly UsageHour[]): Promise<void> {
  if (hours.length === 0) return;
  const writer = createRowBinaryWriter();
  writer.uuid(run);
  const id = writer.take();
  for (const hour of hours) {
    const { segment, holders } = hour;
    const { claims } = segment;
    const each = (write: (measured: Measured) => void): void => writer.array(claims, ({ measured }) => write(measured));
    const eachHolder = (write: (telemetry: Telemetry) => void): void =>
      writer.array(holders, ({ telemetry }) => write(telemetry));
    writer.raw(id);
    writer.string(hour.cluster);
    writer.string(hour.node);
    writer.uint16(hour.slot);
    writer.dateTime64Millis(segment.fromMillis);
    writer.dateTime64Millis(segment.untilMillis);
    writer.string(hour.gpuKey);
    writer.string(JSON.stringify(segment.gpu));
    writer.string(JSON.stringify(hour.place));
    writer.string(segment.unavailableBecause);
    writer.bool(segment.isCordoned);
    writer.uint32(segment.busyMillis);
    writer.uint64(segment.energy.millijoules);
    writer.uint32(segment.energy.coveredMillis);
    writer.array(claims, ({ claim }) => writer.string(claim.holder));
    writer.array(claims, ({ claim: { held }, stage }, index) => {
      const text: ClaimText = { held, stage, ...holders[index]! };
      writer.string(JSON.stringify({ ...text, telemetry: undefined }));
    });
    eachHolder(({ samples }) => writer.uint32(samples));
    eachHolder(({ firstAt }) => writer.dateTime64Millis(firstAt));
    eachHolder(({ lastAt }) => writer.dateTime64Millis(lastAt));
    each(({ coveredMillis }) => writer.uint32(coveredMillis));
    each(({ busyMillis }) => writer.uint32(busyMillis));
    each(({ activityPpmMillis }) => writer.uint64(activityPpmMillis));
    each(({ activityAtClaimsPpmMillis }) => writer.uint64(activityAtClaimsPpmMillis));
    eachHolder(({ activityMaxPpm }) => writer.uint32(activityMaxPpm));
    eachHolder(({ memoryMaxMiB }) => writer.uint32(memoryMaxMiB));
    each(({ process }) => writer.bool(process !== undefined));
    each(({ process }) => writer.uint64(process?.atClaimPpmMillis ?? 0n));
    each(({ process }) => writer.uint64(process?.atOccupantPpmMillis ?? 0n));
    each(({ process }) => writer.uint64(process?.atUsagePpmMillis ?? 0n));
  }
  await store.insertRows("usage_hours", ["run_id", ...USAGE_COLUMNS], writer.take());
}

const TIMES = new Set(["from_at", "until_at"]);
const TIME_LISTS = new Set(["first_at", "last_at"]);
const SELECTED = USAGE_COLUMNS.map((name) =>
  TIMES.has(name)
    ? `toFloat64(toUnixTimestamp64Milli(${name})) AS ${name}_ms`
    : TIME_LISTS.has(name)
      ? `arrayMap(t -> toFloat64(toUnixTimestamp64Milli(t)), ${name}) AS ${name}_ms`
      : name,
);

interface UsageRow {
  readonly cluster: string;
  readonly node: string;
  readonly slot: number;
  readonly from_at_ms: number;
  readonly until_at_ms: number;
  readonly gpu_key: string;
  readonly gpu_at: string;
  readonly place: string;
  readonly because: string;
  readonly cordoned: boolean;
  readonly busy_ms: number;
  readonly energy_mj: string;
  readonly energy_covered_ms: number;
  readonly holders: readonly string[];
  readonly claims: readonly string[];
  readonly samples: readonly number[];
  readonly first_at_ms: readonly number[];
  readonly last_at_ms: readonly number[];
  readonly covered_ms: readonly number[];
  readonly active_ms: readonly number[];
  readonly activity_ppm_ms: readonly string[];
  readonly activity_at_claims_ppm_ms: readonly string[];
  readonly activity_max_ppm: readonly number[];
  readonly memory_max_mib: readonly number[];
  readonly has_process: readonly boolean[];
  readonly process_at_claim_ppm_ms: readonly string[];
  readonly process_at_occupant_ppm_ms: readonly string[];
  readonly process_ppm_ms: readonly string[];
}

/** Nodes whose rows are read, and held, in one go; while they are worked on, the next are being read. */
const NODES_PER_READ = 1_000;

const WITHIN = `
  FROM usage_hours_published
  WHERE cluster = {cluster:String}
    AND from_at >= fromUnixTimestamp64Milli({from:Int64}) AND from_at < fromUnixTimestamp64Milli({until:Int64})`;

/**
 * The published rows of a cluster that begin within a span, in portions, by node, hour, slot and time: all slots of a node in an
 * hour come one after the other.
 */
export async function* readUsage(
  store: StoreClient,
  cluster: string,
  span: Span,
): AsyncGenerator<readonly UsageHour[]> {
  const parameters = { cluster, ...span };
  const nodes = await store.query<{ node: string }>(`SELECT DISTINCT node ${WITHIN} ORDER BY node`, parameters);
  const sql = `
    SELECT ${SELECTED.join(", ")} ${WITHIN} AND node BETWEEN {first:String} AND {last:String}
    ORDER BY node, toStartOfHour(from_at), slot, from_at`;
  const read = (slice: typeof nodes): Promise<readonly UsageRow[]> =>
    store.query<UsageRow>(sql, { ...parameters, first: slice[0]!.node, last: slice.at(-1)!.node });
  const [gpu, place] = [parsed<GpuAt>(), parsed<UsagePlace>()];
  for await (const rows of oneAhead(slicesOf(nodes, NODES_PER_READ), read))
    yield rows.map((row) => hourOf(row, { gpu: gpu(row.gpu_at), place: place(row.place) }));
}

/** Texts as objects, the same object for one that is as the one before: the slots of a machine have much in common. */
function parsed<Value>(): (text: string) => Value {
  let last: { readonly text: string; readonly value: Value } | undefined;
  return (text) => {
    if (last?.text !== text) last = { text, value: JSON.parse(text) as Value };
    return last.value;
  };
}

function hourOf(row: UsageRow, { gpu, place }: { readonly gpu: GpuAt; readonly place: UsagePlace }): UsageHour {
  const texts = row.claims.map((text) => JSON.parse(text) as ClaimText);
  const claims = texts.map(({ held, stage }, index): UsageClaim => ({
    claim: { holder: row.holders[index]!, held },
    stage,
    measured: {
      coveredMillis: row.covered_ms[index]!,
      busyMillis: row.active_ms[index]!,
      activityPpmMillis: BigInt(row.activity_ppm_ms[index]!),
      activityAtClaimsPpmMillis: BigInt(row.activity_at_claims_ppm_ms[index]!),
      ...(row.has_process[index] === true
        ? {
            process: {
              atClaimPpmMillis: BigInt(row.process_at_claim_ppm_ms[index]!),
              atOccupantPpmMillis: BigInt(row.process_at_occupant_ppm_ms[index]!),
              atUsagePpmMillis: BigInt(row.process_ppm_ms[index]!),
            },
          }
        : {}),
    },
  }));
  return {
    cluster: row.cluster,
    node: row.node,
    slot: row.slot,
    gpuKey: row.gpu_key,
    segment: {
      fromMillis: row.from_at_ms,
      untilMillis: row.until_at_ms,
      gpu,
      unavailableBecause: row.because,
      isCordoned: row.cordoned,
      busyMillis: row.busy_ms,
      energy: { millijoules: BigInt(row.energy_mj), coveredMillis: row.energy_covered_ms },
      claims,
    },
    place,
    holders: texts.map((text, index): UsageHolder => ({
      evidence: text.evidence,
      kind: text.kind,
      namespace: text.namespace,
      name: text.name,
      ...(text.since === undefined ? {} : { since: text.since }),
      workloadKind: text.workloadKind,
      workload: text.workload,
      type: text.type,
      queue: text.queue,
      priorityClass: text.priorityClass,
      labels: text.labels,
      annotations: text.annotations,
      namespaceLabels: text.namespaceLabels,
      namespaceAnnotations: text.namespaceAnnotations,
      telemetry: {
        samples: row.samples[index]!,
        firstAt: row.first_at_ms[index]!,
        lastAt: row.last_at_ms[index]!,
        activityMaxPpm: row.activity_max_ppm[index]!,
        memoryMaxMiB: row.memory_max_mib[index]!,
      },
    })),
  };
}
