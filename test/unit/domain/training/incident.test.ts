import { describe, expect, it } from "vitest";
import { lastUnits } from "../../../../domain/exact/units.ts";
import { amountsOf, type RunAmounts } from "../../../../domain/training/bill.ts";
import {
  incidentGroups,
  incidentsOf,
  signalsOfBlocked,
  type AffectedRun,
  type BlockedCharge,
} from "../../../../domain/training/incident.ts";
import type { RunPhase } from "../../../../domain/training/phases.ts";
import {
  conditionSignal,
  mainSignal,
  signalText,
  unavailableSignal,
  xidSignal,
  type NodeSignal,
} from "../../../../domain/training/signals.ts";
import { clock, fault } from "../../../support/training/pods.ts";

const money = (units: number): RunAmounts => amountsOf([0n, 0n, 0n, 0n, BigInt(units), 0n, 0n, 0n]);

function blocked(
  node: string,
  gpu: number,
  from: string,
  until: string,
  units: number,
  because = "xid-79",
): BlockedCharge {
  return { cluster: "c", node, gpu, because, from: clock(from), until: clock(until), amounts: money(units) };
}

/** A stop of a run with costs of its phases. */
function stopped(
  at: string,
  node: string,
  phases: Partial<Record<RunPhase, number>>,
  more: { readonly cause?: NodeSignal["kind"]; readonly fault?: NodeSignal } = {},
): AffectedRun {
  return {
    report: { run: { cluster: "c" } },
    cost: {
      stop: { at: clock(at), cause: more.cause ?? "failed", pod: { uid: "", name: "w-0", node }, ...more },
      phases: new Map(Object.entries(phases).map(([phase, units]) => [phase as RunPhase, money(units)])),
      total: money(0),
    },
  } as unknown as AffectedRun;
}

const words = (incidents: ReturnType<typeof incidentsOf>) =>
  incidents.map(({ node, at, main, parts, total }) => {
    const costs = Object.entries(parts).flatMap(([part, { effective }]) =>
      effective === 0n ? [] : [`${part} ${effective}`],
    );
    return `${new Date(at).toISOString().slice(11, 16)} ${node} ${signalText(main)}: ${costs.join(", ")} = ${total.effective}`;
  });

describe("an incident", () => {
  it("has all signals of a node with at most ten minutes between them, and is named by the most telling one", () => {
    const signals = [
      conditionSignal({ cluster: "c", node: "a", at: clock("10:09") }, "GpuNvlinkWatch"),
      fault("a", "10:19", { kind: "not-ready", code: "", gpu: undefined }),
      fault("a", "10:00", { code: "48" }),
      fault("a", "10:05", { code: "48" }),
      fault("a", "10:29:01", { code: "13", isBlocking: false }),
      fault("b", "10:00"),
    ];
    const found = incidentsOf(signals, [], []);
    expect(words(found)).toEqual([
      "10:00 a XID 48 on GPU 0:  = 0",
      "10:00 b XID 79 on GPU 0:  = 0",
      "10:29 a XID 13 on GPU 0:  = 0",
    ]);
    expect(found[0]!.signals.map(signalText)).toEqual([
      "XID 48 on GPU 0",
      "GpuNvlinkWatch (NVSentinel)",
      "node not ready",
    ]);
  });

  it("costs what it blocked, and what the runs waited, recovered and lost by it", () => {
    const xid = fault("a", "10:00");
    const runs = [
      stopped("10:00", "a", { waiting: 1, recovering: 20, lost: 300 }, { fault: xid }),
      stopped("10:01", "b", { recovering: 4_000, "lost-estimated": 50_000 }, { fault: xid }),
    ];
    const lines = [
      blocked("a", 0, "10:00", "11:00", 600_000),
      blocked("a", 0, "11:00", "11:30", 7_000_000),
      // Cordoned while GPU 0 is still broken.
      blocked("a", 1, "11:20", "12:00", 80_000_000, "cordoned"),
      // Long after the incident, and of another node.
      blocked("a", 0, "13:00", "14:00", 1, "cordoned"),
      blocked("b", 0, "10:00", "11:00", 1),
    ];
    expect(words(incidentsOf([xid], runs, lines))).toEqual([
      "10:00 a XID 79 on GPU 0: blocked 87600000, waiting 1, recovering 4020, lost 300, lost-estimated 50000 = 87654321",
    ]);
  });

  it("is a stop without a fault itself, on the node of the pod that ended first", () => {
    const runs = [
      stopped("10:00", "a", { recovering: 5 }, { cause: "preempted" }),
      stopped("10:04", "a", { recovering: 6 }, { cause: "evicted" }),
      stopped("12:00", "a", { recovering: 7 }),
    ];
    expect(words(incidentsOf([], runs, []))).toEqual([
      "10:00 a preempted: recovering 11 = 11",
      "12:00 a failed: recovering 7 = 7",
    ]);
  });

  it("has its fault also if the fault was read only with the run", () => {
    const runs = [stopped("10:00", "a", { recovering: 5 }, { fault: fault("b", "09:50") })];
    expect(words(incidentsOf([], runs, []))).toEqual(["09:50 b XID 79 on GPU 0: recovering 5 = 5"]);
  });

  it("keeps the charges of its own GPU when another GPU of the node fails", () => {
    const signals = [fault("a", "10:00"), fault("a", "11:00", { gpu: 3 })];
    const lines = [
      blocked("a", 0, "10:00", "11:00", 1),
      blocked("a", 0, "11:00", "12:00", 20),
      blocked("a", 3, "11:00", "12:00", 300),
    ];
    expect(words(incidentsOf(signals, [], lines))).toEqual([
      "10:00 a XID 79 on GPU 0: blocked 21 = 21",
      "11:00 a XID 79 on GPU 3: blocked 300 = 300",
    ]);
  });
});

describe("GPUs that become unavailable", () => {
  it("are a signal for each time without a gap that begins in the span", () => {
    const lines = [
      blocked("a", 0, "09:00", "10:00", 1),
      blocked("a", 0, "10:00", "10:30", 1),
      blocked("a", 0, "10:40", "11:00", 1),
      blocked("a", 1, "10:10", "11:00", 1, "cordoned"),
      blocked("a", 2, "10:20", "11:00", 1, "taint gpu.example/ecc"),
      blocked("b", 0, "10:00", "11:00", 1, "not-ready"),
      blocked("b", 1, "10:00", "11:00", 1, "not-ready"),
    ];
    const found = signalsOfBlocked(lines, clock("10:00")).map((signal) => [
      new Date(signal.at).toISOString().slice(11, 16),
      signalText(signal),
      signal.isBlocking,
    ]);
    expect(found).toEqual([
      ["10:00", "node not ready", true],
      ["10:00", "node not ready", true],
      ["10:20", "device taint gpu.example/ecc on GPU 2", false],
      ["10:40", "XID 79 on GPU 0", true],
    ]);
  });

  it("have no signal if the reason is no fault", () => {
    const of = { cluster: "c", node: "a", at: 0 };
    for (const because of ["cordoned", "absent", "mig-without-instances", ""])
      expect(unavailableSignal(of, 0, because)).toBeUndefined();
    expect(signalText(unavailableSignal(of, 0, "unhealthy")!)).toBe("device unhealthy on GPU 0");
    expect(signalText(unavailableSignal(of, 0, "withdrawn")!)).toBe("device withdrawn on GPU 0");
  });

  it("block by XIDs of the hardware class only", () => {
    const of = { cluster: "c", node: "a", at: 0 };
    expect([79, 48, 31, 63].map((code) => xidSignal(of, 0, code).isBlocking)).toEqual([true, true, false, false]);
    expect(mainSignal([xidSignal(of, 0, 31), xidSignal(of, 0, 79)]).code).toBe("79");
  });
});

describe("groups of incidents", () => {
  it("have the mean time between starts and the cost, highest first", () => {
    const at = (node: string, time: string) => fault(node, time);
    const incidents = incidentsOf(
      [at("a", "08:00"), at("a", "10:00"), at("a", "14:00"), at("b", "09:00")],
      [],
      [blocked("b", 0, "09:00", "10:00", 9)],
    );
    const groups = incidentGroups(incidents, ({ node }) => node);
    // Six hours from the first to the last of three.
    expect(groups).toEqual([
      { key: "b", incidents: 1, meanMillisBetween: undefined, total: money(9) },
      { key: "a", incidents: 3, meanMillisBetween: 3 * 3_600_000, total: money(0) },
    ]);
    expect(lastUnits(groups[0]!.total.effective)).toBe(9n);
  });
});
