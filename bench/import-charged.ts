import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseExposition } from "../collectors/exporters/exposition/parse.ts";
import { HOUR_MILLIS, hourOf } from "../domain/time.ts";
import type { SystemStatus } from "../services/system.ts";
import { getJson } from "../test/support/command.ts";
import { startWritablePrometheus } from "../test/support/prometheus-server.ts";
import { writeSamples, type WrittenSeries } from "../test/support/prometheus-writer.ts";
import { defineBench, report } from "./frame.ts";
import { kubeState } from "./kube-state.ts";
import { createMovingPage, nameOf } from "./page.ts";
import { commandFolder } from "./parts.ts";

const GPUS_OF_NODE = 8;
const HOURS_OF_MONTH = 30 * 24;
const QUIET_MILLIS = 5_000;
const INTERVAL_MILLIS = 30_000;
const SCRAPES_OF_WRITE = 10;

/**
 * An import of a fleet with its pods into `up` on embedded parts, until its last hour is charged: from a real Prometheus, with all of
 * them on this machine.
 */
export const importCharged = defineBench({
  name: "import-charged",
  about: "a fleet imported from a real Prometheus, until the last hour is charged",
  options: { gpus: 1_000, hours: 12 },
  async run({ gpus, hours }, kit) {
    const server = await startWritablePrometheus();
    kit.atEnd(() => server.stop());
    const until = hourOf(Date.now()) - HOUR_MILLIS;
    const from = until - hours * HOUR_MILLIS;
    await fillPast(server.url, gpus / GPUS_OF_NODE, from, until);
    const folder = commandFolder(kit);
    const config = folder.write("gpu-ledger.yaml", {
      data: join(folder.path, "data"),
      demo: { enabled: false },
      server: { listen: "127.0.0.1:0" },
      currency: "USD",
      prices: [{ match: {}, from: "2026-01-01", per: "gpu-hour", effective: "3.60" }],
    });
    const up = folder.start(["up", "--log", "json", "--config", config]);
    const address = await up.address();
    await pause(QUIET_MILLIS);
    const begun = performance.now();
    const span = ["--from", new Date(from).toISOString(), "--until", new Date(until).toISOString()];
    const { code, stderr } = await folder.run([
      "import",
      "prometheus",
      "--url",
      server.url,
      ...span,
      "--config",
      config,
    ]);
    if (code !== 0) throw new Error(stderr);
    const imported = (performance.now() - begun) / 1000;
    const charged = ((await untilCharged(address)) - begun) / 1000;
    report(`${hours} h of ${gpus} GPUs imported`, imported, "s");
    report("  until the last hour is charged", charged, "s");
    const ofMonth = (seconds: number): number => (seconds / 60) * (HOURS_OF_MONTH / hours);
    report(`a month of ${gpus} GPUs imported and charged, from ${hours} h`, ofMonth(charged), "min", { atMost: 10 });
    report("  of which after the import", ofMonth(charged - imported), "min", { atMost: 4 });
    await up.end("SIGINT");
  },
});

/** Returns when no hour waits any more. An hour that another one reopens waits again within a few seconds. */
async function untilCharged(address: string): Promise<number> {
  let since: number | undefined;
  for (;;) {
    await pause(200);
    const { processor } = await getJson<SystemStatus>(`${address}/api/status`);
    const isDone = processor?.hoursWaiting?.length === 0 && processor.lagMessages === 0;
    since = isDone ? (since ?? performance.now()) : undefined;
    if (since !== undefined && performance.now() - since > QUIET_MILLIS) return since;
  }
}

/** Fills a server with the scrapes of nodes, every 30 s, and with the series of kube-state-metrics every minute. */
async function fillPast(url: string, nodes: number, from: number, until: number): Promise<void> {
  const names = Array.from({ length: nodes }, (_, number) => nameOf(number));
  const state = kubeState(names, GPUS_OF_NODE, from);
  const targets = names.map((node, index) => {
    const page = createMovingPage(node, GPUS_OF_NODE);
    const added = { job: "dcgm", instance: `10.0.${index >> 8}.${index & 255}:9400` };
    const series = parseExposition(page.bytes).samples.map(({ name, labels }) => ({
      labels: { ...Object.fromEntries(labels), ...added, __name__: name },
      times: [] as number[],
      values: [] as number[],
    }));
    return { page, series };
  });
  const step = SCRAPES_OF_WRITE * INTERVAL_MILLIS;
  for (let begin = from; begin < until; begin += step) {
    for (let at = begin; at < begin + step; at += INTERVAL_MILLIS)
      for (const [index, { page, series }] of targets.entries()) {
        page.collect();
        const lines = page.bytes.toString("latin1").split("\n");
        for (const [row, line] of lines.filter((each) => each !== "" && !each.startsWith("#")).entries()) {
          series[row]!.times.push(at + index * 200);
          series[row]!.values.push(Number(line.slice(line.lastIndexOf(" ") + 1)));
        }
      }
    const all = targets.flatMap(({ series }) => series);
    await writeSamples(url, all);
    await writeSamples(
      url,
      state.map((each) => ofState(each, begin, begin + step)),
    );
    for (const { times, values } of all) times.length = values.length = 0;
  }
}

/** Returns a series of kube-state-metrics with a sample a minute. */
function ofState(
  [name, labels, value]: ReturnType<typeof kubeState>[number],
  from: number,
  until: number,
): WrittenSeries {
  const times = Array.from({ length: (until - from) / 60_000 }, (_, minute) => from + minute * 60_000);
  const target = { job: "kube-state-metrics", instance: "10.1.0.1:8080" };
  return { labels: { __name__: name, ...target, ...labels }, times, values: times.map(() => value) };
}
