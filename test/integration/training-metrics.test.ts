import pino from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MINUTE_MILLIS } from "../../domain/time.ts";
import { runDetailSchema, runsSchema } from "../../reports/api/training-schemas.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { parseConfig } from "../../runtime/config/load.ts";
import { openTrainingMetrics, type OpenTrainingMetrics } from "../../services/training-metrics.ts";
import { createCommandFolder, type CommandFolder } from "../support/command.ts";
import { createFilledDatabase } from "../support/database.ts";
import { sharedStore } from "../support/embedded-store.ts";
import { freePort } from "../support/ports.ts";
import { startWritablePrometheus, type PrometheusServer } from "../support/prometheus-server.ts";
import { writeSamples, type WrittenSeries } from "../support/prometheus-writer.ts";
import { createReportsServer, type ReportsServer } from "../support/reports-server.ts";
import { playTrainingFleet, TRAINING_CONFIG } from "../support/training/fleet.ts";
import { clock } from "../support/training/pods.ts";

const LLAMA = "default/vision/JobSet/llama@2026-03-02T08:00:00.000Z";
const EVAL = "default/nlp/Job/eval@2026-03-02T08:00:00.000Z";
const STEP = MINUTE_MILLIS / 2;

/** Returns a series with a sample every half minute. */
function series(
  name: string,
  labels: Readonly<Record<string, string>>,
  [from, until]: readonly [string, string],
  valueAt: (at: number) => number,
): WrittenSeries {
  const times = Array.from({ length: (clock(until) - clock(from)) / STEP }, (_, index) => clock(from) + index * STEP);
  return { labels: { __name__: name, cluster: "default", ...labels }, times, values: times.map(valueAt) };
}

/** The time of the last of some checkpoints, seconds since the epoch. */
const lastOf =
  (...times: readonly string[]) =>
  (at: number): number =>
    Math.max(...times.map(clock).filter((time) => time <= at)) / 1000;

const CHECKPOINT = "gpu_ledger_training_checkpoint_timestamp_seconds";
const DURATION = "gpu_ledger_training_checkpoint_duration_seconds";
/** A series of a pod behind another target, as of a Pushgateway: the target's own labels beside the pod's. */
const X = { exported_namespace: "nlp", exported_pod: "eval-x", namespace: "monitoring", pod: "pushgateway-0" };
const Y = { k8s_namespace_name: "nlp", k8s_pod_name: "eval-y" };

/** A rank that is one step behind the other one. Their steps are never a fall. */
const stepOf =
  (rank: number) =>
  (at: number): number =>
    Math.floor((at - clock("09:15")) / 1000) - rank;

/**
 * The job eval reports: its first pod to a scrape, its second one by OpenTelemetry, from two ranks. Until its first checkpoint the gauge is 0.
 * Another cluster has a pod with the same name.
 */
const REPORTED = [
  series(CHECKPOINT, X, ["08:00", "08:20"], () => 0),
  series(CHECKPOINT, X, ["08:20", "09:00"], lastOf("08:20", "08:40")),
  series(DURATION, X, ["08:20", "09:00"], () => 60),
  series(CHECKPOINT, Y, ["09:50", "11:00"], lastOf("09:50")),
  series(CHECKPOINT, { ...X, cluster: "elsewhere" }, ["08:20", "09:00"], lastOf("08:20")),
  series("gpu_ledger_training_step", { ...Y, rank: "0" }, ["09:15", "11:00"], stepOf(0)),
  series("gpu_ledger_training_step", { ...Y, rank: "1" }, ["09:15", "11:00"], stepOf(1)),
];

/**
 * NCCL Inspector in the four pods of llama. The host of a container is its pod, and the label of the target is its node. Another run is on the
 * same node, and a program without labels is somewhere.
 */
const INSPECTED = [0, 1, 2, 3].flatMap((rank) => {
  const place = {
    exported_node: `llama-${rank}`,
    node: rank < 2 ? "gpu-a" : "gpu-b",
    gpu: "GPU0",
    n_nodes: "3",
    nranks: "4",
  };
  const reduce = { ...place, collective: "AllReduce", message_size: "134-135MB", algo_proto: "RING_SIMPLE" };
  const send = { ...place, p2p_operation: "Send", message_size: "1-2MB" };
  const isSlowHour = (at: number): boolean => at >= clock("10:00") && at <= clock("11:00");
  return [
    series("nccl_bus_bandwidth_gbs", reduce, ["08:00", "12:00"], (at) => (isSlowHour(at) ? 31 : 44) + rank / 10),
    series("nccl_collective_exec_time_microseconds", reduce, ["08:00", "12:00"], () =>
      rank === 3 ? 600 : 1000 + rank,
    ),
    series("nccl_p2p_bus_bandwidth_gbs", send, ["11:00", "12:00"], () => 19),
    series("nccl_p2p_exec_time_p50_microseconds", send, ["11:00", "12:00"], () => 92),
    series("nccl_bus_bandwidth_gbs", { ...reduce, exported_node: "other-0" }, ["08:00", "12:00"], () => 1),
    series("nccl_bus_bandwidth_gbs", { ...reduce, exported_node: "", node: "" }, ["08:00", "12:00"], () => 1),
    // After the end of the run, a run on the host network of the node.
    series("nccl_bus_bandwidth_gbs", { ...reduce, exported_node: "", node: "gpu-c" }, ["08:00", "10:00"], () => 1),
  ];
});

describe("the metrics of trainings in a Prometheus", () => {
  const logger = pino({ level: "silent" });
  const opened: OpenTrainingMetrics[] = [];
  let prometheus: PrometheusServer;
  let store: StoreClient;
  let server: ReportsServer;
  let folder: CommandFolder;

  beforeAll(async () => {
    folder = createCommandFolder();
    [prometheus, store] = await Promise.all([
      startWritablePrometheus(),
      createFilledDatabase("training_metrics", "training_fleet", playTrainingFleet),
    ]);
    await writeSamples(prometheus.url, [...REPORTED, ...INSPECTED]);
    server = await serving({ url: prometheus.url, clusterLabel: "cluster" });
  });
  afterAll(async () => {
    await server.close();
    await Promise.all(opened.map((each) => each.stop()));
    await prometheus.stop();
    await store.close();
    await folder.dispose();
  });

  /** Serves reports that read the metrics of a server. */
  async function serving(...prometheus: readonly object[]): Promise<ReportsServer> {
    const text = JSON.stringify({ training: { checkpointInterval: "30m", prometheus } });
    const { training } = parseConfig(text, { source: "the test", folder: ".", env: {} });
    const metrics = openTrainingMetrics(training, logger);
    opened.push(metrics);
    return createReportsServer(store, clock("12:30"), TRAINING_CONFIG, { trainingMetrics: metrics.metrics });
  }
  const report = async (id: string, from = server) =>
    runDetailSchema.parse((await from.get(`/api/v1/training/run?id=${encodeURIComponent(id)}`)).json());
  const partsOf = async (id: string, from = server): Promise<Readonly<Record<string, string>>> => {
    const { run } = await report(id, from);
    return Object.fromEntries(run.phases.flatMap(({ phase, cost }) => (cost === "0" ? [] : [[phase, cost]])));
  };

  it("have the checkpoints from which lost progress is known, of scraped pods and by OpenTelemetry", async () => {
    // From 08:40 to 09:00 20 min were lost. Each checkpoint took a minute before 09:00: 38 and 105 min were productive.
    expect(await partsOf(EVAL)).toEqual({ productive: "8.58", checkpointing: "0.12", recovering: "0.3", lost: "1.2" });
    const { suggestion } = await report(EVAL);
    // At 08:20, 08:40 and 09:50. The gauge at 0 is no checkpoint of 1970.
    expect(suggestion!.text).toContain("Checkpoints came every 45 min");
    expect((await report(EVAL)).stops).toEqual([
      expect.objectContaining({ lostBy: "checkpoint", lostSince: "2026-03-02T08:40:00.000Z" }),
    ]);
    const { runs } = runsSchema.parse((await server.get("/api/v1/training/runs?span=2026-03-02")).json());
    expect(runs.map(({ id, cost }) => [id, cost])).toEqual([
      [LLAMA, "57.12"],
      [EVAL, "10.2"],
    ]);
  });

  it("have the collectives of a gang, its slowest hour, and the GPU that the others wait for", async () => {
    const { collectives, metricsFailure } = await report(LLAMA);
    expect(metricsFailure).toBeNull();
    expect(collectives).toEqual([
      {
        operation: "AllReduce",
        size: "134-135MB",
        nodes: 3,
        ranks: 4,
        gpus: 5,
        gbs: expect.closeTo(44.04, 2) as number,
        lowest: { from: "2026-03-02T10:00:00.000Z", gbs: expect.closeTo(31.15, 2) as number },
        late: [
          {
            node: "gpu-b",
            pod: "llama-3",
            gpu: "GPU0",
            ofMedian: expect.closeTo(0.6, 2) as number,
            lateHours: 4,
            hours: 4,
          },
        ],
      },
      expect.objectContaining({ operation: "Send", size: "1-2MB", gbs: 19, late: [] }),
    ]);
    expect((await report(EVAL)).collectives).toEqual([]);
  });

  it("are on the page and in the text of the report", async () => {
    const page = (await server.get(`/training/run?id=${encodeURIComponent(LLAMA)}`)).body;
    expect(page).toContain("Collectives of the last seven days");
    const { url, user } = sharedStore();
    const clickhouse = { url, username: user.username, password: user.password };
    const config = folder.write("runs.yaml", {
      policies: [{ name: "default", billing: true }],
      training: { prometheus: [{ url: prometheus.url, clusters: ["default"] }] },
      store: { kind: "clickhouse", database: "training_metrics", clickhouse },
    });
    const { code, stdout } = await folder.call(["runs", LLAMA, "--config", config]);
    expect(code).toBe(0);
    expect(stdout).toContain("AllReduce   134-135MB      3      4     5  44.0    31.1  2026-03-02 10:00Z");
    expect(stdout).toContain(
      "  GPU0 of llama-3 on gpu-b: 59.97 % of the median time in 4 of 4 h of AllReduce 134-135MB",
    );
  });

  it("are counted by gpu-ledger check", async () => {
    const config = folder.write("check.yaml", { training: { prometheus: [{ url: prometheus.url }] }, data: "data" });
    const { stdout } = await folder.call(["check", "--config", config]);
    expect(stdout).toContain("ok    training.prometheus[0]: 0 series of progress and 0 of NCCL Inspector now\n");
    const server = { url: `http://127.0.0.1:${await freePort()}` };
    const away = folder.write("away.yaml", { training: { prometheus: [server] }, data: "data" });
    const failed = await folder.call(["check", "--config", away]);
    expect(failed.stdout).toContain(`FAIL  training.prometheus[0]: no answer from ${server.url}`);
  });

  it("of the clusters of the other servers are there if one server is away", async () => {
    const urls = [`http://127.0.0.1:${await freePort()}`, prometheus.url];
    const two = await serving({ url: urls[0], clusters: ["far"] }, { url: urls[1], clusters: ["default"] });
    expect(await partsOf(EVAL, two)).toMatchObject({ lost: "1.2" });
    await two.close();
  });

  it("of another cluster are not asked for", async () => {
    const other = await serving({ url: prometheus.url, clusters: ["other"] });
    expect(await partsOf(EVAL, other)).toMatchObject({ "lost-estimated": "0.9" });
    expect(await report(LLAMA, other)).toMatchObject({ collectives: [], metricsFailure: null });
    await other.close();
  });

  it("are missing in the report if the server is away, and the report has the reason", async () => {
    const away = await serving({ url: `http://127.0.0.1:${await freePort()}` });
    expect(await partsOf(EVAL, away)).toMatchObject({ "lost-estimated": "0.9" });
    expect(await report(LLAMA, away)).toMatchObject({
      collectives: [],
      metricsFailure: "Prometheus did not answer in time",
    });
    const noTls = await serving({ url: prometheus.url.replace("http:", "https:") });
    expect((await report(EVAL, noTls)).metricsFailure).toContain("its certificate was refused");
    await noTls.close();
    const page = (await away.get(`/training/run?id=${encodeURIComponent(LLAMA)}`)).body;
    expect(page).toContain("The metrics could not be read");
    const { runs } = runsSchema.parse((await away.get("/api/v1/training/runs?span=2026-03-02")).json());
    expect(new Set(runs.map(({ metricsFailure }) => metricsFailure))).toEqual(
      new Set(["Prometheus did not answer in time"]),
    );
    await away.close();
  });
});
