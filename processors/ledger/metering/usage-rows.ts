import { LRUCache } from "lru-cache";
import type { Measured, UsageClaim } from "../../../domain/allocation/segment.ts";
import type { Telemetry, UsageHolder, UsageHour, UsageMachine } from "../../../domain/allocation/usage-hour.ts";
import type { Claim } from "../../../domain/share/claim.ts";
import type { GpuAt } from "../../../domain/share/layout.ts";
import { rowsOf, type RowBinaryReader } from "../../../runtime/store/row-binary-reader.ts";
import { slicesBySize } from "../../../runtime/in-turns.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import type { StoreParameters } from "../../../runtime/store/store-parameters.ts";
import { RUN_ID } from "../../../runtime/store/schema/runs.ts";
import { createBlocks, listOf, namesOf } from "../../../runtime/store/schema/table.ts";
import { CLAIM_COLUMNS, SLOT_COLUMNS, USAGE_COLUMNS, type UsageRow } from "../../../runtime/store/schema/usage.ts";
import type { Span } from "../plan/node-record.ts";

/** The JSON in the column `claims` for each claim. */
interface ClaimText extends UsageHolder {
  readonly held: Claim["held"];
  readonly stage: UsageClaim["stage"];
}

/** Inserts usage rows under a run that is not visible yet. Fails with a `StoreError`. */
export async function insertUsage(store: StoreClient, run: string, hours: readonly UsageHour[]): Promise<void> {
  if (hours.length === 0) return;
  const rows = createBlocks<UsageRow>([RUN_ID, ...USAGE_COLUMNS], { run_id: run });
  const machineText = lately((machine: UsageMachine) => JSON.stringify(machine));
  for (const hour of hours) rows.write(usageRow(hour, machineText(hour.machine)));
  await store.insertRows("usage_hours", namesOf([RUN_ID, ...USAGE_COLUMNS]), rows.take());
}

function usageRow({ cluster, node, slot, gpuKey, segment, holders, telemetry }: UsageHour, machine: string): UsageRow {
  const { claims, energy } = segment;
  const measured = <Value>(valueOf: (measured: Measured) => Value): Value[] =>
    claims.map((claim) => valueOf(claim.measured));
  const seen = (valueOf: (telemetry: Telemetry) => number): number[] => telemetry.map(valueOf);
  return {
    cluster,
    node,
    slot,
    from_at: segment.fromMillis,
    until_at: segment.untilMillis,
    gpu_key: gpuKey,
    gpu_at: JSON.stringify(segment.gpu),
    place: machine,
    because: segment.unavailableBecause,
    cordoned: segment.isCordoned,
    busy_ms: segment.busyMillis,
    energy_mj: energy.millijoules,
    energy_covered_ms: energy.coveredMillis,
    holders: claims.map(({ claim }) => claim.holder),
    claims: claims.map(({ claim: { held }, stage }, index) =>
      JSON.stringify({ held, stage, ...holders[index]! } satisfies ClaimText),
    ),
    samples: seen(({ samples }) => samples),
    first_at: seen(({ firstAt }) => firstAt),
    last_at: seen(({ lastAt }) => lastAt),
    covered_ms: measured(({ coveredMillis }) => coveredMillis),
    active_ms: measured(({ busyMillis }) => busyMillis),
    activity_ppm_ms: measured(({ activityPpmMillis }) => activityPpmMillis),
    activity_at_claims_ppm_ms: measured(({ activityAtClaimsPpmMillis }) => activityAtClaimsPpmMillis),
    activity_max_ppm: seen(({ activityMaxPpm }) => activityMaxPpm),
    memory_max_mib: seen(({ memoryMaxMiB }) => memoryMaxMiB),
    has_process: measured(({ process }) => process !== undefined),
    process_at_claim_ppm_ms: measured(({ process }) => process?.atClaimPpmMillis ?? 0n),
    process_at_occupant_ppm_ms: measured(({ process }) => process?.atOccupantPpmMillis ?? 0n),
    process_ppm_ms: measured(({ process }) => process?.atUsagePpmMillis ?? 0n),
  };
}

/** The SELECT list that {@link hourOf} reads: the elements of each claim in sequence. */
const SELECTED = `${listOf(SLOT_COLUMNS)}, arrayZip(${listOf(CLAIM_COLUMNS)})`;

/**
 * The most nodes, and claims of nodes, whose rows the store sorts at once. A node of eight GPUs with a holder each has
 * about 3 kB in an hour, and the embedded store has a whole result in memory.
 */
const NODES_PER_READ = 1_000;
const CLAIMS_PER_READ = 300_000;

const WITHIN = `
  FROM usage_hours_published
  WHERE cluster = {cluster:String}
    AND from_at >= fromUnixTimestamp64Milli({from:Int64}) AND from_at < fromUnixTimestamp64Milli({until:Int64})`;

/**
 * Reads the published rows of a cluster that begin within a span, in portions, sorted by node, hour, slot and time. All slots of a node in
 * an hour are adjacent. With `only`, reads the rows of these nodes alone, which come sorted. Fails with a `StoreError`.
 */
export async function* readUsage(
  store: StoreClient,
  cluster: string,
  span: Span,
  only?: readonly string[],
): AsyncGenerator<readonly UsageHour[]> {
  const parameters = { cluster, ...span };
  const nodes = only?.map((node) => ({ node, claims: 0 })) ?? (await readNodes(store, parameters));
  const isOneOf =
    only === undefined ? "node BETWEEN {first:String} AND {last:String}" : "node IN {nodes:Array(String)}";
  const sql = `
    SELECT ${SELECTED} ${WITHIN} AND ${isOneOf}
    ORDER BY node, toStartOfHour(from_at), slot, from_at`;
  const texts: Texts = {
    gpu: lately((text) => JSON.parse(text) as GpuAt),
    machine: lately((text) => JSON.parse(text) as UsageMachine),
  };
  const bounds = { most: NODES_PER_READ, size: CLAIMS_PER_READ };
  for (const slice of slicesBySize(nodes, ({ claims }) => claims, bounds)) {
    const names = slice.map(({ node }) => node);
    const within = { ...parameters, first: names[0]!, last: names.at(-1)!, nodes: names };
    yield* rowsOf(store.bytes(sql, within, "RowBinary"), (row) => hourOf(row, texts));
  }
}

/** A GPU with its machine and its holders, without times and measurements. */
export interface UsageKind extends Pick<UsageHour, "cluster" | "node" | "gpuKey" | "machine" | "holders"> {
  readonly segment: {
    readonly gpu: UsageHour["segment"]["gpu"];
    readonly claims: readonly Pick<UsageClaim, "stage">[];
  };
}

interface KindRow {
  readonly node: string;
  readonly gpu_key: string;
  readonly gpu: string;
  readonly machine: string;
  readonly holders: readonly string[];
}

/** Reads each combination of a GPU, its machine and its holders once that has published rows in a span. Fails with a `StoreError`. */
export async function* readUsageKinds(
  store: StoreClient,
  cluster: string,
  span: Span,
): AsyncGenerator<readonly UsageKind[]> {
  const sql = `
    SELECT node, gpu_key, any(gpu_at) AS gpu, any(place) AS machine, any(claims) AS holders ${WITHIN}
    GROUP BY node, gpu_key, cityHash64(gpu_at, place, claims)`;
  for await (const rows of store.stream<KindRow>(sql, { cluster, ...span }))
    yield rows.map(({ node, gpu_key, gpu, machine, holders }): UsageKind => {
      const claims = holders.map(claimTextOf);
      return {
        cluster,
        node,
        gpuKey: gpu_key,
        machine: JSON.parse(machine) as UsageMachine,
        holders: claims.map(({ holder }) => holder),
        segment: { gpu: JSON.parse(gpu) as GpuAt, claims },
      };
    });
}

/** Returns the nodes that have rows, sorted, with the number of their rows and claims. */
function readNodes(
  store: StoreClient,
  parameters: StoreParameters,
): Promise<readonly { readonly node: string; readonly claims: number }[]> {
  const sql = `SELECT node, toFloat64(sum(1 + length(holders))) AS claims ${WITHIN} GROUP BY node ORDER BY node`;
  return store.query(sql, parameters);
}

/** Parsers from texts to objects. An equal text gives the same object as before, because the slots of a machine have much in common. */
interface Texts {
  readonly gpu: (text: string) => GpuAt;
  readonly machine: (text: string) => UsageMachine;
}

/** Returns a function that caches its last result. */
function lately<From, Made>(make: (from: From) => Made): (from: From) => Made {
  let last: { readonly from: From; readonly made: Made } | undefined;
  return (from) => {
    if (last?.from !== from) last = { from, made: make(from) };
    return last.made;
  };
}

/** A cache of parsed claim texts. Pods hold the same claims for hours, so each text is parsed once while it is in recent use. */
const CLAIM_TEXTS = new LRUCache<string, ReadClaim>({ max: 30_000 });

/** The parsed text of a claim. It is the same for each hour in which it holds. */
interface ReadClaim extends Pick<ClaimText, "held" | "stage"> {
  readonly holder: UsageHolder;
}

function claimTextOf(text: string): ReadClaim {
  // `peek` does not update the LRU order, because the update takes as long as the lookup.
  const known = CLAIM_TEXTS.peek(text);
  if (known !== undefined) return known;
  const { held, stage, ...holder } = JSON.parse(text) as ClaimText;
  const read = { held, stage, holder };
  CLAIM_TEXTS.set(text, read);
  return read;
}

/** Reads an hour of a slot from the columns {@link SELECTED}. */
function hourOf(row: RowBinaryReader, texts: Texts): UsageHour {
  const { string, uint16, uint32, uint64, bool, dateTime64Millis } = row;
  const cluster = string();
  const node = string();
  const slot = uint16();
  const fromMillis = dateTime64Millis();
  const untilMillis = dateTime64Millis();
  const gpuKey = string();
  const gpu = texts.gpu(string());
  const machine = texts.machine(string());
  const unavailableBecause = string();
  const isCordoned = bool();
  const busyMillis = uint32();
  const energy = { millijoules: uint64(), coveredMillis: uint32() };
  const claims: UsageClaim[] = [];
  const holders: UsageHolder[] = [];
  const telemetry: Telemetry[] = [];
  row.array(() => {
    const [id, { held, stage, holder }] = [string(), claimTextOf(string())];
    const [samples, firstAt, lastAt] = [uint32(), dateTime64Millis(), dateTime64Millis()];
    const amounts = {
      coveredMillis: uint32(),
      busyMillis: uint32(),
      activityPpmMillis: uint64(),
      activityAtClaimsPpmMillis: uint64(),
    };
    const [activityMaxPpm, memoryMaxMiB] = [uint32(), uint32()];
    const [hasProcess, process] = [
      bool(),
      { atClaimPpmMillis: uint64(), atOccupantPpmMillis: uint64(), atUsagePpmMillis: uint64() },
    ];
    claims.push({ claim: { holder: id, held }, stage, measured: hasProcess ? { ...amounts, process } : amounts });
    holders.push(holder);
    telemetry.push({ samples, firstAt, lastAt, activityMaxPpm, memoryMaxMiB });
  });
  const segment = { fromMillis, untilMillis, gpu, unavailableBecause, isCordoned, busyMillis, energy, claims };
  return { cluster, node, slot, gpuKey, segment, machine, holders, telemetry };
}
