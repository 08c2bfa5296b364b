import { NO_ENERGY } from "../../../domain/allocation/segment.ts";
import type { UsageHour, UsagePlace } from "../../../domain/allocation/usage-hour.ts";
import type { OwnedEntry, PriceBook } from "../../../domain/price/book.ts";
import { isGlob } from "../../../domain/price/glob.ts";
import type { SlotSpan } from "./standing.ts";

interface Span {
  readonly from: number;
  readonly until: number;
}

/** A machine that a price book lists, and what is known of it from outside the hour. */
export interface ListedMachine {
  readonly node: string;
  /** Where it was seen; undefined where it never was. */
  readonly seen: { readonly cluster: string; readonly gpus: number } | undefined;
}

/** The names of all machines that owned entries list. */
export function listedMachines({ prices }: Pick<PriceBook, "prices">): readonly string[] {
  return [...new Set(prices.flatMap((entry) => (entry.per === "owned" ? entry.owned.machines : [])))];
}

/**
 * Rows for the times of an hour in which a listed machine is in service and in no cluster: its slots are unavailable, because
 * `absent` (ledger, "Prices"). It has the GPUs that its entry says, else those that were ever seen of it, else one, so
 * that its cost is somewhere.
 */
export function absentHours(
  { prices }: Pick<PriceBook, "prices">,
  machines: readonly ListedMachine[],
  slots: readonly SlotSpan[],
  hour: Span,
): readonly UsageHour[] {
  return machines.flatMap(({ node, seen }) => {
    const entries = prices.filter(
      (entry): entry is OwnedEntry => entry.per === "owned" && entry.owned.machines.includes(node),
    );
    const there = slots.filter((slot) => slot.node === node && slot.slot === 0);
    const inService = entries.map(serviceOf);
    const gaps = without(within(union(inService), hour), union(there));
    return gaps.flatMap((gap) => {
      const entry = entries.find((one) => serviceOf(one).from <= gap.from && gap.from < serviceOf(one).until)!;
      const cluster = there[0]?.cluster ?? seen?.cluster ?? entry.match.cluster ?? "";
      const delivered = entry.delivered ?? (seen === undefined || seen.gpus === 0 ? 1 : seen.gpus);
      return Array.from({ length: delivered }, (_, slot) => absentHour(entry, { cluster, node, slot, delivered }, gap));
    });
  });
}

function serviceOf({ owned, fromMillis, untilMillis }: OwnedEntry): Span {
  return { from: Math.max(owned.inServiceMillis, fromMillis), until: Math.min(owned.retiredMillis, untilMillis) };
}

function absentHour(
  { match, owned }: OwnedEntry,
  { cluster, node, slot, delivered }: { cluster: string; node: string; slot: number; delivered: number },
  { from, until }: Span,
): UsageHour {
  const { model, instanceType, region, zone, pool } = match;
  const place: UsagePlace = {
    appearedAt: owned.inServiceMillis,
    since: owned.inServiceMillis,
    delivered,
    capacityType: match.capacityType ?? "owned",
    ...(instanceType === undefined ? {} : { instanceType }),
    ...(region === undefined ? {} : { region }),
    ...(zone === undefined ? {} : { zone }),
    ...(pool === undefined ? {} : { pool }),
    labels: match.nodeLabels,
  };
  return {
    cluster,
    node,
    slot,
    gpuKey: "",
    segment: {
      fromMillis: from,
      untilMillis: until,
      gpu: { ...(model === undefined || isGlob(model) ? {} : { model }), layout: { kind: "whole" } },
      unavailableBecause: "absent",
      isCordoned: false,
      busyMillis: 0,
      energy: NO_ENERGY,
      claims: [],
    },
    place,
    holders: [],
    telemetry: [],
  };
}

/** Spans as one after the other, those that touch made one. */
function union(spans: readonly Span[]): readonly Span[] {
  const joined: { from: number; until: number }[] = [];
  for (const { from, until } of spans.toSorted((a, b) => a.from - b.from)) {
    const last = joined.at(-1);
    if (from >= until) continue;
    if (last !== undefined && from <= last.until) last.until = Math.max(last.until, until);
    else joined.push({ from, until });
  }
  return joined;
}

function within(spans: readonly Span[], { from, until }: Span): readonly Span[] {
  return spans
    .map((span) => ({ from: Math.max(span.from, from), until: Math.min(span.until, until) }))
    .filter((span) => span.from < span.until);
}

/** What spans leave of others; both in order. */
function without(spans: readonly Span[], taken: readonly Span[]): readonly Span[] {
  return spans.flatMap(({ from, until }) => {
    const inside = within(taken, { from, until });
    const edges = [from, ...inside.flatMap((one) => [one.from, one.until]), until];
    return edges
      .flatMap((at, index) => (index % 2 === 0 ? [{ from: at, until: edges[index + 1]! }] : []))
      .filter((gap) => gap.from < gap.until);
  });
}
