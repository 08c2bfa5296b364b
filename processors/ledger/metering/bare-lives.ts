import { IMPORT_COLLECTOR } from "../../../domain/scrape.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { together } from "../../../runtime/store/in-step.ts";
import type { Span } from "../plan/node-record.ts";
import type { SampleMoment } from "../plan/samples.ts";
import { AROUND_SPANS, bySpan, IN_SPANS, spanParameters } from "../runs/spans-sql.ts";

const IMPORT_ENDS = `
SELECT span, node, toFloat64(toUnixTimestamp64Milli(max(scraped_at))) AS end
FROM scrapes
${IN_SPANS}
WHERE cluster = {cluster:String} AND node IN {nodes:Array(String)} AND ${AROUND_SPANS}
GROUP BY span, node HAVING argMax(collector, scraped_at) = '${IMPORT_COLLECTOR}'`;

interface ImportEnd {
  readonly node: string;
  readonly end: number;
}

interface AskedEnds {
  readonly cluster: string;
  readonly nodes: readonly string[];
  readonly span: Span;
}

/**
 * Reads when the import of some nodes ended, in milliseconds since the epoch: the last attempt to scrape each in a span. Nodes that a collector
 * scraped later are left out. Fails with a `StoreError`.
 */
export async function readImportEnds(
  store: StoreClient,
  cluster: string,
  nodes: readonly string[],
  span: Span,
): Promise<ReadonlyMap<string, number>> {
  if (nodes.length === 0) return new Map();
  const rows = await together(store, readEnds, { cluster, nodes, span });
  return new Map(rows.map(({ node, end }) => [node, end]));
}

async function readEnds(store: StoreClient, all: readonly AskedEnds[]): Promise<readonly (readonly ImportEnd[])[]> {
  const spans = all.map(({ span }) => span);
  const nodes = [...new Set(all.flatMap((asked) => asked.nodes))];
  return bySpan<ImportEnd>(
    await store.query(IMPORT_ENDS, { cluster: all[0]!.cluster, nodes, ...spanParameters(spans) }),
    all,
  );
}

/** The time after the moments of a GPU, milliseconds since the epoch. */
export interface AfterMoments {
  /** The next sample after the window; undefined if there is none. */
  readonly next: number | undefined;
  /** The time up to which all reports are complete. */
  readonly asOf: number;
  readonly absentAfterMillis: number;
  /** The end of the import that has read the samples; undefined if collectors read the last ones. */
  readonly importEnd: number | undefined;
}

/**
 * Returns when a GPU existed that is known only from samples: from its first sample, through gaps of up to `absentAfterMillis`. A longer
 * gap ends it at the end of the time that its last sample covers. So does the end of an import: nobody looks for the GPU after it.
 */
export function livesOf(
  moments: readonly SampleMoment[],
  { next, asOf, absentAfterMillis, importEnd }: AfterMoments,
): readonly Span[] {
  const lives: { from: number; until: number }[] = [];
  let last: SampleMoment | undefined;
  for (const moment of moments) {
    if (last === undefined || moment.at - last.at > absentAfterMillis) {
      if (last !== undefined) lives.at(-1)!.until = last.at + last.reachMillis;
      lives.push({ from: moment.at, until: Infinity });
    }
    last = moment;
  }
  if (last === undefined) return lives;
  const covered = last.at + last.reachMillis;
  if ((next ?? asOf) - last.at > absentAfterMillis) lives.at(-1)!.until = covered;
  else if (next === undefined && importEnd !== undefined) lives.at(-1)!.until = Math.max(covered, importEnd);
  return lives;
}
