import { parseExposition } from "../collectors/exporters/exposition/parse.ts";
import { createPrometheusClient } from "../collectors/prometheus/read/client.ts";
import { openSource } from "../collectors/prometheus/read/source.ts";
import { findNames, named } from "../collectors/prometheus/import/discover.ts";
import { importSamples } from "../collectors/prometheus/import/samples.ts";
import { createImportedScrapes } from "../collectors/prometheus/import/scrapes.ts";
import { writeSamples } from "../test/support/prometheus-writer.ts";
import { startWritablePrometheus } from "../test/support/prometheus-server.ts";
import { createMovingPage, valuesOfPage } from "./page.ts";
import { cpuSeconds, ownMegabytes } from "./process.ts";
import { report } from "./report.ts";

const NODES = Number(process.env["NODES"] ?? 125);
const GPUS = 8;
const HOURS = Number(process.env["HOURS"] ?? 3);
const INTERVAL = 30_000;
const STEPS_OF_REQUEST = 10;
const FROM = Date.UTC(2026, 8, 1);

async function fill(url: string): Promise<void> {
  const pages = Array.from({ length: NODES }, (_, index) =>
    createMovingPage(`gpu-node-${String(index).padStart(5, "0")}`, GPUS),
  );
  const targets = pages.map((page, index) => {
    const { samples } = parseExposition(page.bytes);
    return samples.map(({ name, labels }) => ({
      labels: {
        ...Object.fromEntries(labels),
        __name__: name,
        job: "dcgm",
        instance: `10.0.${index >> 8}.${index & 255}:9400`,
      },
      times: new Array<number>(),
      values: new Array<number>(),
    }));
  });
  const steps = (HOURS * 3_600_000) / INTERVAL;
  for (let step = 0; step < steps; step++) {
    for (const [index, page] of pages.entries()) {
      page.collect();
      const text = page.bytes.toString("latin1");
      let at = 0;
      const series = targets[index]!;
      let row = 0;
      for (const line of text.split("\n")) {
        if (line === "" || line.startsWith("#")) continue;
        const one = series[row++]!;
        one.times.push(FROM + step * INTERVAL + index * 200);
        one.values.push(Number(line.slice(line.lastIndexOf(" ") + 1)));
      }
      at += 1;
    }
    if ((step + 1) % STEPS_OF_REQUEST === 0 || step + 1 === steps) {
      await writeSamples(url, targets.flat());
      for (const one of targets.flat()) {
        one.times.length = 0;
        one.values.length = 0;
      }
    }
  }
}

export async function benchImport(): Promise<void> {
  const server = await startWritablePrometheus();
  try {
    const begun = performance.now();
    await fill(server.url);
    console.log(
      "filled",
      (performance.now() - begun) / 1000,
      "values",
      NODES * valuesOfPage(GPUS) * HOURS * 120,
      ownMegabytes(server.processId),
    );
    for (let run = 0; run < 2; run++) {
      const client = createPrometheusClient({
        url: server.url,
        headers: {},
        maxLoad: 1,
        patienceMillis: 0,
        timeoutMillis: 60_000,
        onRetry: console.log,
      });
      const span = { fromMillis: FROM, untilMillis: FROM + HOURS * 3_600_000 };
      const source = await openSource(client, FROM);
      const names = await findNames(client, span);
      const cpu = cpuSeconds(process.pid);
      const serverCpu = cpuSeconds(server.processId);
      const at = performance.now();
      let bytes = 0;
      const counts = await importSamples(
        {
          client,
          source,
          scrapes: createImportedScrapes({ cluster: "bench", families: new Map(), nodeOfPod: () => undefined }),
          matchers: [named([...names.gpu, "up"])],
          expected: { series: NODES * valuesOfPage(GPUS), samplesPerMinute: 2 },
          collected: () => Promise.resolve({ has: () => false }),
          send: (messages) => {
            for (const { value } of messages) bytes += value!.length;
            return Promise.resolve();
          },
          onReached: () => {},
          signal: new AbortController().signal,
        },
        span,
      );
      const seconds = (performance.now() - at) / 1000;
      console.log(
        counts,
        "bytes",
        bytes,
        "s",
        seconds,
        "own cpu",
        cpuSeconds(process.pid) - cpu,
        "server cpu",
        cpuSeconds(server.processId) - serverCpu,
        "rss",
        ownMegabytes(process.pid),
      );
      report("million values per second", [counts.values / seconds / 1e6], "", { atLeast: 2.4 });
      await client.close();
    }
  } finally {
    await server.stop();
  }
}
