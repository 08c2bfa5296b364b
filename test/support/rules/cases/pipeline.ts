import { fires, silent, type ExpectedAlert, type InputSeries, type RuleCase } from "../case.ts";
import { series } from "../fleet.ts";

const JOB = "gpu-ledger-processor";
const TARGET = { job: JOB, instance: "processor-0:8080" } as const;
const own = (name: string, values: string, labels: Readonly<Record<string, string>> = {}): InputSeries =>
  series(`gpu_ledger_${name}`, values, { ...TARGET, ...labels });
const warning = { severity: "warning", notify: "ticket" } as const;
const critical = { severity: "critical", notify: "page" } as const;
const alert = (labels: Readonly<Record<string, string>>, description: string): ExpectedAlert => ({
  labels,
  annotations: { description },
});

/** A condition that holds for a time: silent before it, firing from `from` on, silent after it. */
function whileTrue(
  name: string,
  sentence: string,
  input: readonly InputSeries[],
  times: { readonly silent: readonly string[]; readonly firing: readonly string[] },
  expected: ExpectedAlert,
): RuleCase {
  return {
    name: `${name} ${sentence}`,
    input,
    expect: [...silent(name, ...times.silent), ...fires(name, expected, ...times.firing)],
  };
}

/** Alerts about gpu-ledger itself: data that is incomplete, late or wrong. */
export const PIPELINE_CASES: readonly RuleCase[] = [
  whileTrue(
    "GPULedgerDown",
    "fires five minutes after a part stopped answering",
    [series("up", "1x9 0x19 1x20", TARGET), series("up", "0x60", { job: "other", instance: "x" })],
    { silent: ["9m30s", "15m"], firing: ["10m", "14m30s"] },
    alert({ ...TARGET, ...warning }, `Prometheus gets no page from processor-0:8080 (job ${JOB}).`),
  ),
  whileTrue(
    "GPULedgerScrapesFailing",
    "fires where more than a tenth of a job's scrapes fail for a quarter of an hour",
    [
      ...["gpu-nodes", "edge"].map((job, index) =>
        own("scrapes_total", "0+88x20 1760+88x200", { scrape_job: job, outcome: "ok", instance: `c-${index}` }),
      ),
      own("scrapes_total", "0x20 0+12x60 720x200", { scrape_job: "gpu-nodes", outcome: "timeout", instance: "c-0" }),
      own("scrapes_total", "0x20 0+8x60 480x200", { scrape_job: "edge", outcome: "timeout", instance: "c-1" }),
    ],
    { silent: ["20m", "1h30m"], firing: ["36m", "40m"] },
    alert(
      { job: JOB, scrape_job: "gpu-nodes", ...warning },
      "12% of the scrapes of gpu-nodes fail. Held time without samples is charged as unobserved.",
    ),
  ),
  whileTrue(
    "GPULedgerScrapesFailing",
    "fires a quarter of an hour after a little more than a tenth fails, and not at exactly a tenth",
    [
      ...["gpu-nodes", "edge"].map((job) => own("scrapes_total", "0+540x100", { scrape_job: job, outcome: "ok" })),
      own("scrapes_total", "0+63.75x100", { scrape_job: "gpu-nodes", outcome: "timeout" }),
      own("scrapes_total", "0+60x100", { scrape_job: "edge", outcome: "timeout" }),
    ],
    { silent: ["15m"], firing: ["15m30s", "40m"] },
    alert(
      { job: JOB, scrape_job: "gpu-nodes", ...warning },
      "10.56% of the scrapes of gpu-nodes fail. Held time without samples is charged as unobserved.",
    ),
  ),
  whileTrue(
    "GPULedgerStale",
    "fires where the slowest hundredth of scrapes takes more than two minutes for ten",
    [
      own("freshness_seconds_bucket", "0+100x100", { le: "60" }),
      own("freshness_seconds_bucket", "0+100x19 2000+102x80", { le: "300" }),
      own("freshness_seconds_bucket", "0+100x19 2000+102x80", { le: "+Inf" }),
    ],
    { silent: ["9m", "14m"], firing: ["30m", "40m"] },
    alert(warning, "The slowest 1 % of scrapes takes 2m 57s until queries can see it."),
  ),
  whileTrue(
    "GPULedgerStale",
    "fires ten minutes after the slowest hundredth takes a little more than two minutes",
    [
      own("freshness_seconds_bucket", "0+98x100", { le: "60" }),
      own("freshness_seconds_bucket", "0+100x100", { le: "190" }),
      own("freshness_seconds_bucket", "0+100x100", { le: "+Inf" }),
    ],
    { silent: ["10m"], firing: ["10m30s", "40m"] },
    alert(warning, "The slowest 1 % of scrapes takes 2m 5s until queries can see it."),
  ),
  {
    name: "GPULedgerStale is silent at exactly two minutes",
    input: [
      own("freshness_seconds_bucket", "0+99x100", { le: "120" }),
      own("freshness_seconds_bucket", "0+100x100", { le: "300" }),
      own("freshness_seconds_bucket", "0+100x100", { le: "+Inf" }),
    ],
    expect: silent("GPULedgerStale", "20m"),
  },
  whileTrue(
    "GPULedgerLagGrowing",
    "fires where more than ten thousand messages wait and get more for a quarter of an hour, not while they get fewer",
    [
      own("lag_messages", "0+600x60 36000-300x60", { partition: "0" }),
      own("lag_messages", "10x200", { partition: "1" }),
    ],
    { silent: ["8m", "23m", "50m"], firing: ["24m30s"] },
    alert({ job: JOB, ...warning }, "29410 messages wait on the bus, and the number grows."),
  ),
  whileTrue(
    "GPULedgerLagGrowing",
    "fires above ten thousand messages, of which one more a quarter of an hour is enough and none is not",
    [
      own("lag_messages", "0+1000x9 10000x0 10001x29 10002x29 10003x29", { partition: "0" }),
      series("gpu_ledger_lag_messages", "20000x100", { ...TARGET, job: "other-gpu-ledger-processor" }),
    ],
    { silent: ["20m"], firing: ["20m30s", "35m"] },
    alert({ job: JOB, ...warning }, "10002 messages wait on the bus, and the number grows."),
  ),
  whileTrue(
    "GPULedgerSpooling",
    "fires where a single message waits, until ten minutes after the last failure",
    [
      own("spool_messages", "1x200"),
      own("send_errors_total", "0+1x59 59x140"),
      own("spool_messages", "5x200", { instance: "processor-1:8080" }),
      own("send_errors_total", "7x200", { instance: "processor-1:8080" }),
    ],
    { silent: ["10m", "40m"], firing: ["10m30s", "39m"] },
    alert(
      { ...TARGET, ...warning },
      "1 messages of processor-0:8080 wait on its disk until the bus answers. Nothing is lost until the spool is full.",
    ),
  ),
  whileTrue(
    "GPULedgerSpooling",
    "fires where a collector's messages wait and sending fails for ten minutes",
    [own("spool_messages", "0x9 500x59 0x20"), own("send_errors_total", "0x9 0+1x59 60x60")],
    { silent: ["5m", "14m30s", "40m"], firing: ["16m", "34m"] },
    alert(
      { ...TARGET, ...warning },
      "500 messages of processor-0:8080 wait on its disk until the bus answers. Nothing is lost until the spool is full.",
    ),
  ),
  ...[
    { counter: "messages_lost_total", labels: {} },
    { counter: "messages_dropped_total", labels: { reason: "spool-full" } },
  ].map(({ counter, labels }) =>
    whileTrue(
      "GPULedgerMessagesLost",
      `fires at once where ${counter} grows, and for ten minutes`,
      [own(counter, "0x20 1x60", labels)],
      { silent: ["10m", "21m"], firing: ["10m30s", "20m"] },
      alert(
        { ...TARGET, ...labels, ...critical },
        `About 1 messages at processor-0:8080 were dropped within 10 minutes${"reason" in labels ? " (spool-full)" : ""}. Their time is charged as unobserved.`,
      ),
    ),
  ),
  whileTrue(
    "GPULedgerDeadLetters",
    "fires at once where a message could not be read, not where one is stored",
    [
      own("messages_total", "0x20 1x60", { outcome: "broken-checksum" }),
      own("messages_total", "0+10x80", { outcome: "stored" }),
      own("messages_total", "0+10x80", { outcome: "tombstone" }),
    ],
    { silent: ["10m", "21m"], firing: ["10m30s", "20m"] },
    alert(
      { job: JOB, outcome: "broken-checksum", ...warning },
      "About 1 messages were moved to gpu.dead-letter within 10 minutes (broken-checksum). gpu-ledger dead-letter list shows them.",
    ),
  ),
  whileTrue(
    "GPULedgerPartitionsPaused",
    "fires ten minutes after a partition began to wait for a newer release",
    [own("partitions_paused", "0x9 1x39 0x20")],
    { silent: ["4m", "14m30s", "26m"], firing: ["15m", "24m"] },
    alert(
      { ...TARGET, ...critical },
      "1 partitions at processor-0:8080 have messages with a schema that is too new for this release. They wait until a newer release takes over.",
    ),
  ),
  whileTrue(
    "GPULedgerStoreErrors",
    "fires where inserts fail for ten minutes",
    [own("store_retries_total", "0x9 0+1x60 60x60")],
    { silent: ["5m", "15m", "46m"], firing: ["16m"] },
    alert(
      { ...TARGET, ...warning },
      "Inserts from processor-0:8080 failed and are retried: about 20 within 10 minutes.",
    ),
  ),
  whileTrue(
    "GPULedgerWithoutLeader",
    "fires ten minutes after the last leader has gone",
    [own("leader", "1x9 0x39 0x60"), own("leader", "0x48 1x60", { instance: "processor-1:8080" })],
    { silent: ["4m", "14m30s", "25m"], firing: ["15m", "24m"] },
    alert(critical, "No processor is the leader. Rollups, usage and charges are not made."),
  ),
  whileTrue(
    "GPULedgerRunsFailing",
    "fires where runs fail for a quarter of an hour",
    [own("run_errors_total", "0x9 0+1x80 80x80")],
    { silent: ["5m", "20m", "1h5m"], firing: ["30m"] },
    alert(
      { ...TARGET, ...warning },
      "Work of the ledger at processor-0:8080 failed and is retried: about 30 times in 15 minutes.",
    ),
  ),
  whileTrue(
    "GPULedgerRunsFailing",
    "fires where a single run in each quarter of an hour fails",
    [own("run_errors_total", "0x29 1x29 2x29 3x60")],
    { silent: ["29m30s", "1h1m"], firing: ["30m", "59m30s"] },
    alert(
      { ...TARGET, ...warning },
      "Work of the ledger at processor-0:8080 failed and is retried: about 1 times in 15 minutes.",
    ),
  ),
  whileTrue(
    "GPULedgerStoreErrors",
    "fires where a single insert in each ten minutes fails",
    [own("store_retries_total", "0x19 1x19 2x19 3x60")],
    { silent: ["19m30s", "40m30s"], firing: ["20m", "39m30s"] },
    alert(
      { ...TARGET, ...warning },
      "Inserts from processor-0:8080 failed and are retried: about 1 within 10 minutes.",
    ),
  ),
  whileTrue(
    "GPULedgerInvariantBroken",
    "fires at once where charges do not sum to the cost, and for an hour after it",
    [own("invariant_breaches_total", "0x20 1x200")],
    { silent: ["10m", "1h21m"], firing: ["10m30s", "1h19m"] },
    alert(
      { ...TARGET, ...critical },
      "For about 1 GPUs or nodes the charges did not add up to their cost, or could not be computed. The hour lacks them, and its period cannot be closed. gpu-ledger check shows the node and the hour.",
    ),
  ),
  whileTrue(
    "GPULedgerUnpriced",
    "fires an hour after GPUs had no price",
    [own("unpriced_gpu_hours", "0x9 1x150 0x20", { cluster: "eu" })],
    { silent: ["4m", "1h4m30s", "1h21m"], firing: ["1h5m", "1h19m"] },
    alert(
      { ...TARGET, cluster: "eu", ...warning },
      "1 GPU-hours of the last charged hour in cluster eu have no price. gpu-ledger prices check names the nodes.",
    ),
  ),
  whileTrue(
    "GPULedgerUnownedShareHigh",
    "fires where more than a tenth of the cost has no owner for an hour",
    [
      own("team_cost_per_hour", "10x9 11x150 10x20", { team: "unowned" }),
      own("team_cost_per_hour", "90x9 89x150 90x20", { team: "vision" }),
    ],
    { silent: ["4m", "1h4m30s", "1h21m"], firing: ["1h5m", "1h19m"] },
    alert(
      { job: JOB, ...warning },
      "11% of the cost of the last day has no owner. gpu-ledger owners check lists the workloads (highest cost first).",
    ),
  ),
  whileTrue(
    "GPULedgerClusterUnwatched",
    "fires ten minutes after no collector watches a cluster",
    [
      own("kubernetes_watching", "1x9 0x39 0x60", { cluster: "eu" }),
      own("kubernetes_watching", "0x48 1x60", { cluster: "eu", instance: "collector-1:8080" }),
    ],
    { silent: ["4m", "14m30s", "25m"], firing: ["15m", "24m"] },
    alert(
      { cluster: "eu", ...warning },
      "No collector is the elected watcher of cluster eu. New pods and owners are unknown.",
    ),
  ),
  whileTrue(
    "GPULedgerForbidden",
    "fires ten minutes after a permission lacks",
    [own("kubernetes_forbidden", "0x9 1x39 0x20", { cluster: "eu", resource: "jobs", verb: "get" })],
    { silent: ["4m", "14m30s", "26m"], firing: ["15m", "24m"] },
    alert(
      { ...TARGET, cluster: "eu", resource: "jobs", verb: "get", ...warning },
      "The collector has no permission to get jobs in cluster eu. gpu-ledger check shows the effect on reports.",
    ),
  ),
  whileTrue(
    "GPULedgerApiServerSilent",
    "fires where an API server has sent no event of a kind for 15 min",
    [
      own("kubernetes_silence_seconds", "0x9 900x39 0x60", { cluster: "eu" }),
      own("kubernetes_silence_seconds", "600x100", { cluster: "us" }),
    ],
    { silent: ["4m", "9m30s", "26m"], firing: ["10m", "24m"] },
    alert(
      { cluster: "eu", ...warning },
      "The API server of cluster eu has sent no event of a kind for 15m 0s. Pods and owners of the cluster may be out of date.",
    ),
  ),
  whileTrue(
    "GPULedgerKindGone",
    "fires for an hour after a kind is no longer followed, and not in a cluster without a watcher",
    [
      own("kubernetes_objects", "3x129 _x300", { cluster: "eu", resource: "podgroups.scheduling.volcano.sh" }),
      own("kubernetes_objects", "0x430", { cluster: "eu", resource: "pods" }),
      own("kubernetes_objects", "3x129 _x300", { cluster: "us", resource: "pods" }),
      own("kubernetes_watching", "1x430", { cluster: "eu" }),
      own("kubernetes_watching", "1x129 0x300", { cluster: "us" }),
    ],
    { silent: ["1h9m", "1h15m", "2h6m"], firing: ["1h21m", "2h4m"] },
    alert(
      { cluster: "eu", resource: "podgroups.scheduling.volcano.sh", ...warning },
      "podgroups.scheduling.volcano.sh of cluster eu was followed in the last hour and is not followed now. Its objects count as gone.",
    ),
  ),
  whileTrue(
    "GPULedgerKindGone",
    "fires where the kind came and went in the hour before it was gone",
    [
      own("kubernetes_objects", "3x19 _x80 3x29 _x300", { cluster: "eu", resource: "jobsets.jobset.x-k8s.io" }),
      own("kubernetes_watching", "1x430", { cluster: "eu" }),
    ],
    { silent: ["18m", "24m", "1h", "1h15m", "2h6m"], firing: ["30m", "45m", "1h23m", "2h4m"] },
    alert(
      { cluster: "eu", resource: "jobsets.jobset.x-k8s.io", ...warning },
      "jobsets.jobset.x-k8s.io of cluster eu was followed in the last hour and is not followed now. Its objects count as gone.",
    ),
  ),
  whileTrue(
    "GPULedgerFactsWaiting",
    "fires where facts wait and none is sent for ten minutes",
    [
      own("facts_waiting", "0x9 5x49 0x60", { topic: "gpu.workloads" }),
      own("facts_sent_total", "7x130", { topic: "gpu.workloads" }),
      own("facts_waiting", "5x130", { topic: "gpu.cluster" }),
      own("facts_sent_total", "0+1x130", { topic: "gpu.cluster" }),
    ],
    { silent: ["4m", "14m30s", "31m"], firing: ["15m", "29m"] },
    alert(
      { ...TARGET, topic: "gpu.workloads", ...warning },
      "5 facts of gpu.workloads wait at processor-0:8080, and none was sent for 10 minutes. The ledger has an older state of the cluster than the API server.",
    ),
  ),
  whileTrue(
    "GPULedgerSeriesMissing",
    "fires where the series of pods are not written",
    [own("live_failures_total", "0x19 0+1x40 40x60", { view: "pods" })],
    { silent: ["10m", "14m30s", "43m"], firing: ["17m", "38m"] },
    alert(
      { ...TARGET, view: "pods", ...warning },
      "processor-0:8080 failed to write its series of pods. Dashboards and alerts that join with these series have no data of its nodes.",
    ),
  ),
  whileTrue(
    "GPULedgerScrapesUnsent",
    "fires at once where scrapes are read and not kept",
    [own("scrapes_unsent_total", "0x19 0+1x40 40x60", { scrape_job: "gpus" })],
    { silent: ["9m30s", "43m"], firing: ["10m30s", "38m"] },
    alert(
      { job: JOB, scrape_job: "gpus", ...warning },
      "Scrapes of gpus could not be stored for the bus. Their time is charged as unobserved.",
    ),
  ),
  whileTrue(
    "GPULedgerCertificateExpiring",
    "fires a quarter of an hour after a certificate has less than seven days, and not for a port without TLS",
    [
      own("tls_certificate_expiry_timestamp_seconds", "606600x159 2000000x40"),
      own("tls_certificate_expiry_timestamp_seconds", "0x200", { instance: "collector-0:8080" }),
    ],
    { silent: ["30m", "45m", "1h20m30s"], firing: ["46m", "1h19m"] },
    alert(
      { ...TARGET, ...warning },
      "The certificate that processor-0:8080 serves ends at 1970-01-08 00:30:00 +0000 UTC. Clients refuse it from then on.",
    ),
  ),
  whileTrue(
    "GPULedgerCertificateNotReloaded",
    "fires where changed files cannot be served",
    [own("tls_reload_failures_total", "0x19 0+12x40 480x60")],
    { silent: ["10m", "14m30s", "43m"], firing: ["17m", "38m"] },
    alert(
      { ...TARGET, ...warning },
      "The TLS files of processor-0:8080 have changed and cannot be served. The port keeps the old certificate until its end.",
    ),
  ),
  {
    ...whileTrue(
      "GPULedgerPeriodOverdue",
      "fires a day after a billing period was to be closed",
      [own("periods_overdue", "0x9 1x400 0x20")],
      { silent: ["30m", "24h45m", "34h20m"], firing: ["24h50m", "33h"] },
      alert(
        { ...TARGET, ...warning },
        "1 billing periods are past their closing date. gpu-ledger close --dry-run shows the figures that would be frozen.",
      ),
    ),
    every: "5m",
    evaluate: "5m",
  },
  whileTrue(
    "GPULedgerDeliveriesLate",
    "fires once, a quarter of an hour after the first of two servers reports a late delivery",
    ["server-0", "server-1"].map((instance) =>
      series("gpu_ledger_deliveries_late", "0x9 2x60 0x20", { job: "gpu-ledger-server", instance }),
    ),
    { silent: ["5m", "19m30s", "36m"], firing: ["20m", "34m"] },
    alert(
      { job: "gpu-ledger-server", ...warning },
      "2 reports were abandoned, or are overdue for more than a day. gpu-ledger deliveries lists them with the reason.",
    ),
  ),
];
