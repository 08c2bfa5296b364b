import { pino } from "pino";
import { afterEach, expect, it } from "vitest";
import { startCollector, type Collector } from "../../collectors/exporters/collector.ts";
import type { ScrapeJob } from "../../collectors/exporters/collector-model.ts";
import { machineClock } from "../../collectors/exporters/loop.ts";
import { createStaticDiscovery } from "../../collectors/exporters/targets/static.ts";
import { createScrapeDecoder } from "../../domain/messages/scrape-message.ts";
import { openEmbeddedBus } from "../../runtime/bus/embedded/embedded-bus.ts";
import { createSpoolingSender } from "../../runtime/bus/spool.ts";
import { systemClock } from "../../runtime/clock.ts";
import { collector as collectMessages, newTopic } from "../support/bus/messages.ts";
import { dcgmPage } from "../support/dcgm-page.ts";
import { startExporterDouble } from "../support/exporter-double.ts";
import { temporaryFolder } from "../support/folder.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

const logger = pino({ level: "silent" });

it("a page whose message the bus refuses is a failed scrape, with the reason on its target", async () => {
  const bus = await openEmbeddedBus({
    folder: temporaryFolder("bus"),
    maxMessageBytes: 20_000,
    clock: systemClock,
    logger,
  });
  cleanups.push(() => bus.close());
  const topic = newTopic({ partitions: 1 });
  await bus.declare([topic]);
  const sender = createSpoolingSender({
    bus,
    topic: topic.name,
    folder: temporaryFolder("spool"),
    maxBytes: 1_000_000,
    logger,
  });
  cleanups.push(() => sender.close());
  let gpus = 64;
  const exporter = await startExporterDouble((_, response, double) =>
    double.page(response, dcgmPage({ gpus, host: "gpu-a", value: () => "1" })),
  );
  cleanups.push(() => exporter.close());
  const job: ScrapeJob = {
    name: "gpus",
    reads: { kind: "gpus" },
    discoveries: [createStaticDiscovery([{ url: exporter.url, labels: {} }])],
    intervalMillis: 100,
    timeoutMillis: 5_000,
    bodyLimitBytes: 1e7,
    gzip: false,
    redirects: "origin",
    credentials: {},
    tls: undefined,
  };
  const outcomes: (string | undefined)[] = [];
  const collector: Collector = startCollector({
    name: "c",
    cluster: "prod",
    jobs: [job],
    shard: { index: 0, count: 1 },
    templateBytes: 1e6,
    limits: {},
    sink: (_, message) => sender.send([message]),
    events: {
      onScrape: (_job, _target, { failure }) => void outcomes.push(failure?.reason),
      onSkipped: () => {},
      onTargets: () => {},
      onRefused: () => {},
      onDiscoveryError: () => {},
      onSinkError: (_job, _target, error) => expect.unreachable(String(error)),
    },
    startTrace: () => undefined,
    clock: machineClock,
  });
  cleanups.push(() => collector.stop());
  await expect.poll(() => outcomes.length).toBeGreaterThan(1);
  expect(outcomes).not.toContain(undefined);
  expect(outcomes[0]).toBe("too-large");
  expect(collector.targets()[0]!.failure).toMatchObject({ reason: "too-large" });
  gpus = 2;
  await expect.poll(() => collector.targets()[0]!.failure).toBeUndefined();
  await collector.stop();
  await sender.drain(20_000);

  const seen = collectMessages();
  const follower = await bus.follow(topic.name, seen.onMessages);
  await follower.caughtUp;
  await follower.close();
  const decoder = createScrapeDecoder();
  const scrapes = seen.messages.map(({ value }) => decoder.decode(value!));
  const failures = scrapes.map((scrape) => ("invalid" in scrape ? scrape.invalid : scrape.failure?.reason));
  expect(failures[0]).toBe("too-large");
  expect(failures.at(-1)).toBeUndefined();
  expect(scrapes.map((scrape) => ("invalid" in scrape ? -1 : scrape.sequence))).toEqual([...scrapes.keys()]);
});
