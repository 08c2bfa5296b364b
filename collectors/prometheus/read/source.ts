import type { Span, OnSeries } from "./samples.ts";
import { LRUCache } from "lru-cache";
import type { Series } from "../target-series.ts";
import type { PrometheusClient } from "./client.ts";
import { readByQuery } from "./query.ts";
import { readChunks } from "./remote-read.ts";
import { SourceError } from "./source-error.ts";
import type { Matcher } from "./wire.ts";

/** The stored samples of a server with Prometheus' API. */
export interface SampleSource {
  readonly way: "remote read" | "queries";
  /**
   * Reads the raw samples of the series that all matchers find, with the times that the server stored. A sample can come twice, and samples
   * before and after the span can come. Fails with a {@link SourceError}.
   */
  read(matchers: readonly Matcher[], span: Span, onSeries: OnSeries): Promise<void>;
}

/** The most series that a source remembers. */
const MOST_SERIES = 100_000;

/** The ways in which raw samples are read, the fast one first. */
const WAYS = { "remote read": readChunks, queries: readByQuery } as const;

/**
 * Opens the samples of a server: by remote read with chunks if the server has it, otherwise by queries. `at` is a time for the trial.
 * Fails with a {@link SourceError}.
 */
export async function openSource(client: PrometheusClient, at: number): Promise<SampleSource> {
  const way = (await hasChunks(client, at)) ? "remote read" : "queries";
  const known = new LRUCache<string, Series>({ max: MOST_SERIES });
  return {
    way,
    read: (matchers, span, onSeries) =>
      WAYS[way](
        client,
        matchers,
        span,
        (key, make) => {
          const found = known.get(key) ?? make();
          known.set(key, found);
          return found;
        },
        onSeries,
      ),
  };
}

async function hasChunks(client: PrometheusClient, at: number): Promise<boolean> {
  const trial = [{ label: "__name__", is: "=", value: "up" }] as const;
  try {
    await readChunks(
      client,
      trial,
      { fromMillis: at - 1, untilMillis: at },
      (_, make) => make(),
      () => () => {},
    );
    return true;
  } catch (error) {
    // A server without remote read answers in many ways. Queries show whether the server itself is at fault.
    if (error instanceof SourceError && error.kind !== "unavailable" && error.kind !== "refused") return false;
    throw error;
  }
}
