import { uuidInKey } from "../../../domain/device.ts";
import { namesPod } from "../../../domain/holder.ts";
import { holdsAt, type Holding } from "../../../domain/holding.ts";
import { isHardwareXid } from "../../../domain/xid/xid.ts";
import type { SeenFault, SeenGpu, SeenLabel, SeenPart, SeenStranger, Span } from "./node-record.ts";
import type { SampleGroup, SampleMoment } from "./samples.ts";

/** A GPU's rows of a window: groups, and single rows if the groups are not enough. */
export interface GpuRows {
  readonly groups: readonly SampleGroup[];
  /** In order of time, beginning with the last moment before the window; undefined if the groups are enough. */
  readonly moments: readonly SampleMoment[] | undefined;
}

/** Returns the pods that a label can mean: the bound pods of its name, with past pods and pods of other nodes. */
export type Namesakes = (namespace: string, pod: string) => readonly Holding[];

/**
 * Returns whether the groups are not enough: an instance was created or deleted, a job or a pod without a fact was present, the GPU is
 * under an XID, or the GPU had no sample when the span began, so that its previous state counts.
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

/** Returns whether a label names an unknown pod. A pod that has ended, or is on another node, means a misleading label. */
function isStranger(
  { node, namespace, pod, podUid, lastAt }: SampleGroup | (SampleMoment & { readonly lastAt: number }),
  namesakes: Namesakes,
): boolean {
  if (pod === "" || !namesPod({ pod })) return false;
  const known = namesakes(namespace, pod).filter(({ uid }) => podUid === "" || uid === podUid);
  const isHere = known.some((one) => one.node === node && one.from <= lastAt);
  return !isHere && !known.some((one) => one.node !== node && holdsAt(one, lastAt));
}

/**
 * Returns a GPU as its rows show it over a window. `bare` is the time of its existence, for a node that Kubernetes never reported.
 * Undefined without the index of the GPU.
 */
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

/** The span of a thing in rows, with the last moment that shows it. */
interface Spell<Shown> extends Span {
  readonly lastAt: number;
  readonly value: Shown;
}

/** Returns the spans of things in rows, from the first moment that shows a thing to the first that does not. */
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

/** Returns the spans of instances. Instances of the first sample existed before it. */
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
