import { uuidInKey } from "../../../domain/device.ts";
import { namesPod } from "../../../domain/holder.ts";
import { holdsAt, type Holding } from "../../../domain/holding.ts";
import { isHardwareXid } from "../../../domain/xid/xid.ts";
import type { SeenFault, SeenGpu, SeenLabel, SeenPart, SeenStranger, Span } from "./node-record.ts";
import type { SampleGroup, SampleMoment } from "./samples.ts";

/** A GPU's rows of a window: groups of them, and each of them where that is not enough. */
export interface GpuRows {
  readonly groups: readonly SampleGroup[];
  /** In the order of time, those of the last moment before the window first; undefined where groups tell all. */
  readonly moments: readonly SampleMoment[] | undefined;
}

/** Who a label can mean: the bound pods of its name, past ones and those of other nodes included. */
export type Namesakes = (namespace: string, pod: string) => readonly Holding[];

/**
 * Whether more than groups must be looked at: an instance came or went, a job or a pod without a fact was there, the GPU is
 * under an XID, or nothing was seen of it as the span began, so that what held by then is what was seen before.
 */
export function needsMoments(groups: readonly SampleGroup[], namesakes: Namesakes, span: Span): boolean {
  const first = Math.min(...groups.map(({ firstAt }) => firstAt));
  const last = Math.max(...groups.map(({ lastAt }) => lastAt));
  const parts = partsOf(groups);
  const isPartial = parts.some(({ from, until }) => from !== first || until !== last);
  const isLate = groups.every(({ firstAt, reachMillis }) => firstAt > span.from + reachMillis);
  return (
    isPartial ||
    isLate ||
    groups.some((group) => group.hasHardwareXid || group.hpcJob !== "" || isStranger(group, namesakes))
  );
}

function partsOf(groups: readonly SampleGroup[]): readonly SeenPart[] {
  const parts = new Map<string, SeenPart>();
  for (const { part, profile, firstAt, lastAt } of groups) {
    if (part === "") continue;
    const key = `${part} ${profile}`;
    const known = parts.get(key);
    const [from, until] = [Math.min(firstAt, known?.from ?? firstAt), Math.max(lastAt, known?.until ?? lastAt)];
    parts.set(key, { part, profile, from, until, lastAt: until });
  }
  return [...parts.values()];
}

/** Whether a label names a pod of which nothing is known; one that is over, or elsewhere, misleads. */
function isStranger(
  { node, namespace, pod, podUid, lastAt }: SampleGroup | (SampleMoment & { readonly lastAt: number }),
  namesakes: Namesakes,
): boolean {
  if (pod === "" || !namesPod({ pod })) return false;
  const known = namesakes(namespace, pod).filter(({ uid }) => podUid === "" || uid === podUid);
  const isHere = known.some((one) => one.node === node && one.from <= lastAt);
  return !isHere && !known.some((one) => one.node !== node && holdsAt(one, lastAt));
}

/** A GPU as its rows show it over a window. `bare` is when it was there, for a node that no Kubernetes tells of. */
export function seenGpu(
  { groups, moments }: GpuRows,
  namesakes: Namesakes,
  bare: Span | undefined,
): SeenGpu | undefined {
  const [group] = groups;
  const index = Number(group?.gpu);
  if (group === undefined || !Number.isSafeInteger(index) || group.gpu === "") return undefined;
  const { gpuKey, pciBusId, model } = group;
  const uuid = uuidInKey(gpuKey);
  const memoryMiB = Math.max(...groups.map((each) => each.memoryMiB));
  const parts = partsOf(groups).map((part): SeenPart => ({ ...part, from: -Infinity, until: Infinity }));
  return {
    gpuKey,
    index,
    ...(uuid === undefined ? {} : { uuid }),
    ...(pciBusId === "" ? {} : { pciBusId }),
    ...(model === "" ? {} : { model }),
    ...(memoryMiB === 0 ? {} : { memoryMiB }),
    ...(bare ?? { from: Math.min(...groups.map(({ firstAt }) => firstAt)), until: Infinity }),
    parts: moments === undefined ? parts : partSpells(moments),
    labels: labelsOf(groups),
    strangers: moments === undefined ? [] : strangerSpells(moments, namesakes),
    faults: moments === undefined ? [] : faultSpells(moments),
    hasProcesses: groups.some((each) => each.hasProcesses),
  };
}

function labelsOf(groups: readonly SampleGroup[]): readonly SeenLabel[] {
  return groups
    .filter(({ pod }) => pod !== "" && namesPod({ pod }))
    .map(({ part, namespace, pod, podUid, firstAt, lastAt }) => ({
      part,
      namespace,
      pod,
      firstAt,
      lastAt,
      ...(podUid === "" ? {} : { podUid }),
    }));
}

/** The span of a thing that rows show, and the last moment that shows it. */
interface Spell<Shown> extends Span {
  readonly lastAt: number;
  readonly value: Shown;
}

/** A thing that rows show, from the first moment that does to the first that does not. */
function spells<Shown>(
  moments: readonly SampleMoment[],
  shown: (rows: readonly SampleMoment[]) => ReadonlyMap<string, Shown>,
): readonly Spell<Shown>[] {
  const done: Spell<Shown>[] = [];
  const open = new Map<string, { readonly from: number; readonly value: Shown }>();
  let before = -Infinity;
  const times = new Map<number, SampleMoment[]>();
  for (const moment of moments) times.set(moment.at, [...(times.get(moment.at) ?? []), moment]);
  for (const [at, rows] of times) {
    const now = shown(rows);
    for (const [key, { from, value }] of open) {
      if (now.has(key)) continue;
      done.push({ from, until: at, lastAt: before, value });
      open.delete(key);
    }
    for (const [key, value] of now) if (!open.has(key)) open.set(key, { from: at, value });
    before = at;
  }
  const lasting = [...open.values()].map(({ from, value }) => ({ from, until: Infinity, lastAt: before, value }));
  return [...done, ...lasting];
}

/** Instances are known from the first sample on; what it shows was there before. */
function partSpells(moments: readonly SampleMoment[]): readonly SeenPart[] {
  const first = moments[0]?.at;
  return spells(
    moments,
    (rows) =>
      new Map(
        rows
          .filter(({ part }) => part !== "")
          .map(({ part, profile }) => [`${part} ${profile}`, { part, profile }] as const),
      ),
  ).map(({ from, until, lastAt, value }) => ({ ...value, from: from === first ? -Infinity : from, until, lastAt }));
}

function strangerSpells(moments: readonly SampleMoment[], namesakes: Namesakes): readonly SeenStranger[] {
  return spells(moments, (rows) => {
    const strangers = rows.flatMap((row): readonly Omit<SeenStranger, "from" | "until">[] => {
      const { part, namespace, pod, hpcJob } = row;
      if (isStranger({ ...row, lastAt: row.at }, namesakes)) return [{ part, kind: "pod", namespace, name: pod }];
      return hpcJob === "" ? [] : [{ part, kind: "job", namespace: "", name: hpcJob }];
    });
    return new Map(strangers.map((one) => [JSON.stringify(one), one]));
  }).map(({ from, until, value }) => ({ ...value, from, until }));
}

function faultSpells(moments: readonly SampleMoment[]): readonly SeenFault[] {
  const faults = spells(
    moments,
    (rows) => new Map(rows.filter(({ xid }) => isHardwareXid(xid)).map(({ xid }) => [String(xid), xid])),
  );
  return faults.map(({ from, until, value: code }) => {
    const active = moments.filter(({ at, isActive }) => isActive && from < at && at < until).map(({ at }) => at);
    return { code, from, until, activeAt: [...new Set(active)] };
  });
}
