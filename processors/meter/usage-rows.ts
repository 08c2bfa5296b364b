import { LRUCache } from "lru-cache";
import type { Measured, UsageClaim } from "../../domain/allocation/segment.ts";
import type { Telemetry, UsageHolder, UsageHour, UsagePlace } from "../../domain/allocation/usage-hour.ts";
import type { Claim } from "../../domain/share/claim.ts";
import type { GpuAt } from "../../domain/share/layout.ts";
import { createRowBinaryWriter } from "../../runtime/store/row-binary.ts";
import { slicesOf } from "../../runtime/in-turns.ts";
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

/** The columns that have an element for each claim. */
const OF_CLAIMS = USAGE_COLUMNS.slice(USAGE_COLUMNS.indexOf("holders"));
const TIMES = new Set(["from_at", "until_at", "first_at", "last_at"]);
const SELECTED = [
  ...USAGE_COLUMNS.filter((name) => !OF_CLAIMS.includes(name)).map((name) =>
    TIMES.has(name) ? `toFloat64(toUnixTimestamp64Milli(${name}))` : name,
  ),
  `arrayZip(${OF_CLAIMS.map((name) =>
    TIMES.has(name) ? `arrayMap(t -> toFloat64(toUnixTimestamp64Milli(t)), ${name})` : name,
  ).join(", ")})`,
].join(", ");

/** What {@link SELECTED} gives, in its order. */
type UsageRow = readonly [
  cluster: string,
  node: string,
  slot: number,
  fromMillis: number,
  untilMillis: number,
  gpuKey: string,
  gpuAt: string,
  place: string,
  unavailableBecause: string,
  isCordoned: boolean,
  busyMillis: number,
  millijoules: string,
  energyCoveredMillis: number,
  claims: readonly ClaimRow[],
];

type ClaimRow = readonly [
  holder: string,
  text: string,
  samples: number,
  firstAt: number,
  lastAt: number,
  coveredMillis: number,
  busyMillis: number,
  activity: string,
  activityAtClaims: string,
  activityMaxPpm: number,
  memoryMaxMiB: number,
  hasProcess: boolean,
  processAtClaim: string,
  processAtOccupant: string,
  processAtUsage: string,
];

/** Nodes whose rows the store sorts in one go. */
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
    SELECT ${SELECTED} ${WITHIN} AND node BETWEEN {first:String} AND {last:String}
    ORDER BY node, toStartOfHour(from_at), slot, from_at`;
  const texts: Texts = { gpu: parsed(), place: parsed() };
  for (const slice of slicesOf(nodes, NODES_PER_READ)) {
    const within = { ...parameters, first: slice[0]!.node, last: slice.at(-1)!.node };
    for await (const rows of store.streamLists<UsageRow>(sql, within)) yield rows.map((row) => hourOf(row, texts));
  }
}

/** How texts become objects: the same object for one that is as the one before, as the slots of a machine have much in common. */
interface Texts {
  readonly gpu: (text: string) => GpuAt;
  readonly place: (text: string) => UsagePlace;
}

function parsed<Value>(): (text: string) => Value {
  let last: { readonly text: string; readonly value: Value } | undefined;
  return (text) => {
    if (last?.text !== text) last = { text, value: JSON.parse(text) as Value };
    return last.value;
  };
}

/** Pods hold what they hold for hours: texts of claims are read once as long as they are among the latest. */
const CLAIM_TEXTS = new LRUCache<string, ReadClaim>({ max: 30_000 });

/** The text of a claim, as it is for each hour in which it holds. */
interface ReadClaim extends Pick<ClaimText, "held" | "stage"> {
  readonly holder: Omit<UsageHolder, "telemetry">;
}

function claimTextOf(text: string): ReadClaim {
  const known = CLAIM_TEXTS.get(text);
  if (known !== undefined) return known;
  const { held, stage, ...holder } = JSON.parse(text) as ClaimText;
  const read = { held, stage, holder };
  CLAIM_TEXTS.set(text, read);
  return read;
}

function hourOf(row: UsageRow, texts: Texts): UsageHour {
  const [
    cluster,
    node,
    slot,
    fromMillis,
    untilMillis,
    gpuKey,
    gpuAt,
    place,
    unavailableBecause,
    isCordoned,
    busyMillis,
    millijoules,
    coveredMillis,
    claimRows,
  ] = row;
  const claims: UsageClaim[] = [];
  const holders: UsageHolder[] = [];
  for (const claim of claimRows) {
    const { held, stage, holder } = claimTextOf(claim[1]);
    claims.push({ claim: { holder: claim[0], held }, stage, measured: measuredOf(claim) });
    holders.push({ ...holder, telemetry: telemetryOf(claim) });
  }
  const energy = { millijoules: BigInt(millijoules), coveredMillis };
  const gpu = texts.gpu(gpuAt);
  const segment = { fromMillis, untilMillis, gpu, unavailableBecause, isCordoned, busyMillis, energy, claims };
  return { cluster, node, slot, gpuKey, segment, place: texts.place(place), holders };
}

function telemetryOf([, , samples, firstAt, lastAt, , , , , activityMaxPpm, memoryMaxMiB]: ClaimRow): Telemetry {
  return { samples, firstAt, lastAt, activityMaxPpm, memoryMaxMiB };
}

function measuredOf(row: ClaimRow): Measured {
  const [, , , , , coveredMillis, busyMillis, activity, atClaims, , , hasProcess, ofClaim, ofOccupant, ofUsage] = row;
  const measured = {
    coveredMillis,
    busyMillis,
    activityPpmMillis: BigInt(activity),
    activityAtClaimsPpmMillis: BigInt(atClaims),
  };
  if (!hasProcess) return measured;
  const process = {
    atClaimPpmMillis: BigInt(ofClaim),
    atOccupantPpmMillis: BigInt(ofOccupant),
    atUsagePpmMillis: BigInt(ofUsage),
  };
  return { ...measured, process };
}
