import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { NO_METRICS } from "../../domain/training/metrics.ts";
import { HOUR_MILLIS } from "../../domain/time.ts";
import type { Run } from "../../domain/training/identity.ts";
import { signalText } from "../../domain/training/signals.ts";
import { readIncidents } from "../../reports/training/read-incidents.ts";
import { readFaults, type FaultScope } from "../../reports/training/read-signals.ts";
import { readDeviceHours, readTensorTime } from "../../reports/training/read-speed.ts";
import { parseConfig } from "../../runtime/config/load.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { createTestDatabase } from "../support/database.ts";
import { clock, runPod } from "../support/training/pods.ts";

const QUESTION = { policy: "default", where: [] };
const RUN = "00000000-0000-0000-0000-0000000000b1";

/** A row of `gpu_samples` of GPU 0 of gpu-a in the cluster c; a pod w-0 of ml holds it. */
function sample(at: string, more: Readonly<Record<string, unknown>> = {}): object {
  return {
    cluster: "c",
    node: "gpu-a",
    gpu_key: "GPU-0",
    gpu: "0",
    scraped_at: new Date(clock(at)).toISOString(),
    interval_ms: 30_000,
    holder_namespace: "ml",
    holder_pod: "w-0",
    holders: 1,
    xid_code: 0,
    ...more,
  };
}

/** A row of `gpu_hours` in the published run. */
function rollup(hour: string, more: Readonly<Record<string, unknown>> = {}): object {
  return {
    run_id: RUN,
    cluster: "c",
    node: "gpu-a",
    gpu_key: "GPU-0",
    bucket: clock(hour) / 1000,
    holder_namespace: "ml",
    holder_pod: "w-0",
    ...more,
  };
}

describe("signals in samples", () => {
  let store: StoreClient;

  beforeAll(async () => {
    store = await createTestDatabase("training_signals");
    await store.insertJson("gpu_samples", [
      // The last XID is shown until the next: 31 from before is no news, 79 at 10:30 and 13 at 11:10 are.
      ...["09:55", "10:00", "10:29:30"].map((at) => sample(at, { xid_code: 31 })),
      ...["10:30", "10:59", "11:05"].map((at) => sample(at, { xid_code: 79 })),
      sample("11:10", { xid_code: 13, other: { DCGM_FI_DEV_GPU_RECOVERY_ACTION: 2 } }),
      // A GPU without a value of XIDs at first, and one that is seen for the first time with an XID.
      ...["10:10", "10:20"].map((at) => sample(at, { gpu_key: "GPU-1", gpu: "1", xid_code: null })),
      sample("10:21", { gpu_key: "GPU-1", gpu: "1", xid_code: 48 }),
      sample("10:40", { gpu_key: "GPU-2", gpu: "2", xid_code: 79 }),
      // More than an hour of silence before a change.
      sample("08:00", { gpu_key: "GPU-3", gpu: "3" }),
      sample("10:45", { gpu_key: "GPU-3", gpu: "3", xid_code: 79 }),
      // A row that repeats the GPU's values, and another node.
      sample("10:50", { gpu_key: "GPU-4", gpu: "4", xid_code: 0, repeats_gpu: true }),
      sample("10:51", { gpu_key: "GPU-4", gpu: "4", xid_code: 79, repeats_gpu: true }),
      ...[0, 74].map((code, index) => sample(`10:0${index}`, { node: "gpu-b", gpu_key: "GPU-9", xid_code: code })),
    ]);
    const hours = ["10:00", "11:00"];
    await store.insertJson("gpu_hours", [
      ...hours.flatMap((hour) =>
        [0, 1, 2, 3, 4].map((gpu) => rollup(hour, { gpu_key: `GPU-${gpu}`, xid_codes: [79] })),
      ),
      rollup("10:00", { node: "gpu-b", gpu_key: "GPU-9", xid_codes: [74] }),
      rollup("10:00", { gpu_key: "GPU-0", tensor_ms: 3_000_000, tensor_ppm_ms: 1_500_000_000_000 }),
      rollup("11:00", { gpu_key: "GPU-0", tensor_ms: 1_000_000, tensor_ppm_ms: 250_000_000_000 }),
      rollup("11:00", { gpu_key: "GPU-0", holder_pod: "other", tensor_ms: 9, tensor_ppm_ms: 9_000_000 }),
      rollup("11:00", { gpu_key: "GPU-5", shared: true, tensor_ms: 9, tensor_ppm_ms: 9_000_000 }),
    ]);
    await store.insertJson("runs", [
      {
        kind: "rollup",
        cluster: "c",
        window_start: clock("10:00") / 1000,
        window_end: clock("11:00") / 1000,
        run_id: RUN,
        generation: 1,
        published_at: new Date(clock("12:00")).toISOString(),
      },
    ]);
  });
  afterAll(() => store.close());

  const seen = async (scope: Partial<FaultScope>): Promise<readonly string[]> => {
    const hours = [clock("10:00"), clock("11:00")];
    const { signals } = await readFaults(store, { clusters: "all", nodes: "all", hours, ...scope }, QUESTION);
    return signals.map(
      (signal) => `${new Date(signal.at).toISOString().slice(11, 16)} ${signal.node} ${signalText(signal)}`,
    );
  };

  it("are XIDs that a GPU begins to show, of all nodes or of some", async () => {
    const ofA = ["10:21 gpu-a XID 48 on GPU 1", "10:30 gpu-a XID 79 on GPU 0", "11:10 gpu-a XID 13 on GPU 0"];
    expect(await seen({})).toEqual(["10:01 gpu-b XID 74 on GPU 0", ...ofA]);
    expect(await seen({ nodes: ["gpu-a"] })).toEqual(ofA);
    expect(await seen({ clusters: ["other"] })).toEqual([]);
  });

  it("are of the given hours only", async () => {
    expect(await seen({ nodes: ["gpu-a"], hours: [clock("11:00")] })).toEqual(["11:10 gpu-a XID 13 on GPU 0"]);
  });

  it("have DCGM's recovery action around an incident", async () => {
    const { training } = parseConfig("{}", { source: "the test", folder: ".", env: {} });
    const span = { from: clock("10:00"), until: clock("12:00") };
    const incidents = await readIncidents(store, span, {
      ...QUESTION,
      training,
      metrics: NO_METRICS,
      now: clock("12:00"),
    });
    expect(incidents.map(({ node, main, recovery }) => [node, signalText(main), recovery])).toEqual([
      ["gpu-b", "XID 74 on GPU 0", undefined],
      // The signals of 10:21 and 10:30 are one incident; the action of 11:10 is in the next hour.
      ["gpu-a", "XID 48 on GPU 1", "reboot the node"],
      ["gpu-a", "XID 13 on GPU 0", "reboot the node"],
    ]);
  });

  describe("of a run's GPUs", () => {
    const run: Run = {
      cluster: "c",
      namespace: "ml",
      kind: "JobSet",
      name: "train",
      id: "",
      begun: clock("10:00"),
      ended: clock("13:00"),
      isGang: true,
      object: { apiVersion: "jobset.x-k8s.io/v1alpha2", kind: "JobSet", name: "train", uid: "job" },
      owners: new Set(),
      marks: {},
      pods: [runPod("w-0", ["10:00", "10:00", "13:00", "completed"], { node: "gpu-a" })],
    };

    it("have the time in which tensor pipes were busy", async () => {
      // Half of 3,000 s and a quarter of 1,000 s.
      expect(await readTensorTime(store, run, clock("14:00"))).toEqual({
        coveredMillis: 4_000_000n,
        busyMillis: 1_750_000n,
      });
      expect(await readTensorTime(store, { ...run, cluster: "other" }, clock("14:00"))).toBeUndefined();
    });

    it("have the mean clock and activity of each hour in which they were active", async () => {
      await store.insertJson("gpu_samples", [
        ...[1_000, 2_000].map((mhz, index) =>
          sample(`12:1${index}`, { sm_clock_hertz: mhz * 1e6, activity_ppm: 800_000 + index * 100_000 }),
        ),
        sample("12:20", { sm_clock_hertz: 345e6, activity_ppm: 0 }),
        sample("12:21", { sm_clock_hertz: 345e6, activity_ppm: 500_000, holder_pod: "other" }),
        sample("12:22", { sm_clock_hertz: 345e6, activity_ppm: 500_000, holders: 2 }),
        sample("12:23", { gpu: "7", gpu_key: "GPU-7", activity_ppm: 500_000 }),
      ]);
      const device = { hour: clock("12:00"), node: "gpu-a", pod: "w-0" };
      expect(await readDeviceHours(store, run, clock("13:00"))).toEqual([
        { ...device, gpu: "0", clock: 1.5e9, activity: 0.85 },
        { ...device, gpu: "7", clock: undefined, activity: 0.5 },
      ]);
      // Only the last seven days of a run are read.
      expect(await readDeviceHours(store, { ...run, ended: clock("13:00") + 8 * 24 * HOUR_MILLIS }, Infinity)).toEqual(
        [],
      );
    });
  });
});
