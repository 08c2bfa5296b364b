import { stripVTControlCharacters } from "node:util";
import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import type { SystemStatus } from "../../../services/system.ts";
import { renderView, startView } from "../../../cli/up-view.ts";

const STATUS: SystemStatus = {
  version: "1.2.3",
  address: "http://127.0.0.1:8080",
  demo: undefined,
  store: { url: "http://127.0.0.1:8123", kind: "embedded" },
  collector: {
    targets: { total: 12, up: 11 },
    gpus: 96,
    valuesPerSecond: 12_345.6,
    dropped: {},
    failing: [{ url: "http://a:9400/metrics", node: "gpu-a", reason: "timeout", detail: "no answer in 10 s" }],
    spool: { messages: 0, bytes: 0, dropped: 0 },
    kubernetes: [
      {
        cluster: "prod",
        watching: true,
        objects: { pods: 1234, nodes: 12 },
        missing: [{ verb: "list", resource: "nodes", without: "…" }],
        clockSkewMillis: 0,
        silentMillis: 0,
        failure: undefined,
      },
    ],
  },
  processor: {
    rowsStored: 1_234_567,
    rowsPerSecond: 100,
    lagMessages: 3,
    freshnessSeconds: { p50: 2.26, p99: 5 },
    deadLetters: 0,
    pausedPartitions: [],
    leader: undefined,
    queue: {
      pending: [
        {
          cluster: "prod",
          team: "vision",
          queue: "research",
          priorityClass: "batch",
          reason: "Unschedulable",
          pods: 2,
          devices: 9,
          oldestSeconds: 754,
        },
      ],
      longest: [],
      gangs: [],
      quotas: [],
      queues: [],
    },
    rollups: { windows: 0, lastSeconds: undefined, dirty: 0 },
    hoursWaiting: [],
    month: undefined,
  },
  processes: { store: { id: 1, restarts: 0 }, collector: { id: 2, restarts: 0 } },
  notReady: [],
};

const view = (changed: Partial<SystemStatus> = {}): string =>
  stripVTControlCharacters(renderView({ ...STATUS, ...changed }, "data/gpu-ledger.log"));

describe("the view of `up`", () => {
  it("shows its address, the scraped and stored numbers, their freshness, and the key to stop it", () => {
    const text = view();
    expect(text).toMatch(/^gpu-ledger 1\.2\.3 {2}http:\/\/127\.0\.0\.1:8080$/m);
    expect(text).toMatch(/^ {2}targets up +11 of 12$/m);
    expect(text).toMatch(/^ {2}samples +12,346 \/ s$/m);
    expect(text).toMatch(/^ {2}left out +nothing$/m);
    expect(text).toMatch(/^ {2}freshness +2\.3 s \(99 % within 5\.0 s\)$/m);
    expect(text).toMatch(/^ {2}rows stored +1,234,567$/m);
    expect(text).toMatch(/api\/status .* log data\/gpu-ledger\.log .* Ctrl-C stops$/);
    expect(text).not.toMatch(/demo|spool|dead letters|restarted/);
  });

  it("shows the cost of the month so far, the cost per hour, and the projected cost of the month", () => {
    const amounts = { gpuHours: "1", unpricedGpuHours: "0", perHour: "2.5", forecast: "1500" };
    const month = {
      month: "2026-03",
      total: { team: "", cost: "1234.567", ...amounts },
      teams: [{ team: "nlp", cost: "1000", ...amounts }],
    };
    expect(view({ processor: { ...STATUS.processor!, month } })).toMatch(
      /^ {2}cost of 2026-03 +1,234\.57, 2\.50 per hour, forecast 1,500\.00; nlp 1,000\.00$/m,
    );
  });

  it("shows the objects that the watchers have, or why they have none", () => {
    expect(view()).toMatch(/^ {2}cluster prod +1,234 pods, 12 nodes, 1 permission missing$/m);
    const [state] = STATUS.collector!.kubernetes;
    const seen = (changed: object): string =>
      view({ collector: { ...STATUS.collector!, kubernetes: [{ ...state!, ...changed }] } });
    expect(seen({ watching: false })).toMatch(/^ {2}cluster prod +watched by another collector$/m);
    expect(seen({ failure: "connect ECONNREFUSED" })).toMatch(/^ {2}cluster prod +connect ECONNREFUSED$/m);
  });

  it("shows how many hours are not charged yet, and no forecast until all are charged", () => {
    const amounts = { gpuHours: "1", unpricedGpuHours: "0", perHour: "2.5", forecast: null };
    const total = { team: "", cost: "10", ...amounts };
    const month = { month: "2026-03", total, teams: [{ ...total, team: "nlp" }] };
    const text = view({
      processor: {
        ...STATUS.processor!,
        hoursWaiting: Array.from({ length: 70 }, (_, hour) => hour * 3_600_000),
        month,
      },
    });
    expect(text).toMatch(/^ {2}to be charged +70 hours that have ended$/m);
    expect(text).toMatch(/^ {2}cost of 2026-03 +10\.00, 2\.50 per hour; nlp 10\.00$/m);
    const before = { month: "2026-03", total, teams: [] };
    expect(view({ processor: { ...STATUS.processor!, month: before } })).toMatch(
      /^ {2}cost of 2026-03 +no charges yet$/m,
    );
  });

  it("shows the waiting pods, their longest wait, and the GPUs of waiting gangs", () => {
    expect(view()).toMatch(/^ {2}waiting +2 pods for 9 GPUs, oldest 12 min; waiting gangs hold 0 GPUs$/m);
    const { queue } = STATUS.processor!;
    const gang = { cluster: "prod", namespace: "ml", kind: "PodGroup", name: "g", team: "vision", size: 4 };
    const gangs = [{ ...gang, holdingPods: 2, heldDevices: 16, holdingSeconds: 60 }];
    const holding = view({ processor: { ...STATUS.processor!, queue: { ...queue!, gangs } } });
    expect(holding).toContain("waiting gangs hold 16 GPUs");
    const none = view({ processor: { ...STATUS.processor!, queue: { ...queue!, pending: [] } } });
    expect(none).toMatch(/^ {2}waiting +no pods$/m);
  });

  it("shows each failing target with the reason", () => {
    expect(view()).toContain("\n  ! gpu-a: timeout: no answer in 10 s\n");
  });

  it("shows warnings only if there are any", () => {
    const text = view({
      collector: {
        ...STATUS.collector!,
        dropped: { "malformed-line": 1200 },
        spool: { messages: 7, bytes: 900, dropped: 0 },
      },
      processor: { ...STATUS.processor!, deadLetters: 2, freshnessSeconds: undefined },
      processes: { store: { id: 1, restarts: 2 }, collector: { id: 2, restarts: 0 } },
      notReady: ["the processor has not reported"],
    });
    expect(text).toMatch(/^ {2}left out +malformed-line 1,200$/m);
    expect(text).toMatch(/^ {2}spool +7 messages for the bus$/m);
    expect(text).toMatch(/^ {2}dead letters +2$/m);
    expect(text).toMatch(/^ {2}freshness +nothing stored yet$/m);
    expect(text).toMatch(/^ {2}restarted +store 2×$/m);
    expect(text).toMatch(/^ {2}! the processor has not reported$/m);
  });

  it("shows that a fleet is a demo, and how much of its history is complete", () => {
    const demo = { targets: [], gpus: 96, history: { sent: 1, total: 4 } };
    expect(view({ demo })).toContain("Demo fleet: no real GPU is measured.");
    expect(view({ demo })).toMatch(/^ {2}history +█{6}░{18} 25 %$/m);
    expect(view({ demo: { ...demo, history: { sent: 4, total: 4 } } })).toMatch(/^ {2}history +complete$/m);
    expect(view({ demo: { ...demo, history: { sent: 0, total: 0 } } })).toMatch(/^ {2}history +complete$/m);
  });

  it("appears before any part has reported", () => {
    const text = view({ collector: undefined, processor: undefined, notReady: ["the collector has not reported"] });
    expect(text).toContain("gpu-ledger 1.2.3");
    expect(text).toMatch(/^ {2}! the collector has not reported$/m);
  });

  it("is drawn immediately and in place, and not after it was stopped", async () => {
    const terminal = new PassThrough();
    const { stop } = startView(terminal, () => STATUS, "x.log");
    stop();
    await new Promise((settle) => setTimeout(settle, 1200));
    const drawn = String(terminal.read());
    expect(drawn.startsWith("\u001b[H\u001b[J")).toBe(true);
    expect(drawn.split("gpu-ledger 1.2.3")).toHaveLength(2);
  });
});
