import { DIALECTS, dialectsOf } from "../../../domain/dialect/known.ts";
import type { FamilyMeta } from "../../exporters/exposition/parse.ts";
import type { PrometheusClient } from "../read/client.ts";
import { query, selectorOf } from "../read/query.ts";
import type { Span } from "../read/samples.ts";
import type { Matcher } from "../read/wire.ts";

/** The names of the metrics that a server has in a span. */
export interface FoundNames {
  /** The metrics of GPU exporters. */
  readonly gpu: readonly string[];
  /** The metrics of a companion whose page a collector reads together with the exporter's page. They are not imported. */
  readonly companions: readonly string[];
  readonly all: ReadonlySet<string>;
}

/** The series of gpu-ledger itself describe GPUs of which the exporters' series are read already. */
const OWN = /^gpu_ledger_/;

/** Reads the names of the metrics in a span. Fails with a `SourceError`. */
export async function findNames(client: PrometheusClient, span: Span): Promise<FoundNames> {
  const all = new Set(await client.get<readonly string[]>("/api/v1/label/__name__/values", boundsOf(span)));
  const dialects = dialectsOf(new Set([...all].filter((name) => !OWN.test(name))));
  const names = [...dialects.keys()].toSorted();
  const isCompanion = (name: string): boolean => dialects.get(name)?.isCompanion === true;
  return {
    gpu: names.filter((name) => !isCompanion(name)),
    companions: names.filter((name) => isCompanion(name)),
    all,
  };
}

/** Returns the matcher for some names. */
export function named(names: readonly string[]): Matcher {
  return { label: "__name__", is: "=~", value: names.map(escaped).join("|") };
}

/** Returns the matcher for the targets with some values of `instance`. */
export function ofInstances(instances: readonly string[]): Matcher {
  return { label: "instance", is: "=~", value: instances.map(escaped).join("|") };
}

/** Returns a text as a regular expression of RE2 that matches the text. */
function escaped(text: string): string {
  return text.replace(/[\\.+*?()|[\]{}^$]/g, "\\$&");
}

/** Returns the values of a label that some series have in a span, sorted. Series without the label are not among them. */
export async function findValues(
  client: PrometheusClient,
  label: "instance" | "job",
  matchers: readonly Matcher[],
  span: Span,
): Promise<readonly string[]> {
  const parameters = { ...boundsOf(span), "match[]": selectorOf(matchers) };
  const found = await client.get<readonly string[]>(`/api/v1/label/${label}/values`, parameters);
  return found.filter((value) => value !== "").toSorted();
}

/** Returns the number of series that matchers find at a time, by job. */
export async function countSeries(
  client: PrometheusClient,
  matchers: readonly Matcher[],
  atMillis: number,
): Promise<ReadonlyMap<string, number>> {
  const result = await query(client, `count by (job) (${selectorOf(matchers)})`, atMillis);
  return new Map(result.map(({ metric, value }) => [metric["job"] ?? "", Number(value?.[1] ?? 0)]));
}

/** Returns the metadata of metric families that the server's current targets have. A server without metadata has none. */
export async function findFamilies(client: PrometheusClient): Promise<ReadonlyMap<string, FamilyMeta>> {
  const found = await client.get<Readonly<Record<string, readonly FamilyMeta[]>>>("/api/v1/metadata", {});
  const isOfGpu = (name: string): boolean => DIALECTS.some(({ owns }) => owns(name));
  return new Map(
    Object.entries(found).flatMap(([name, [meta]]) => (meta !== undefined && isOfGpu(name) ? [[name, meta]] : [])),
  );
}

function boundsOf({ fromMillis, untilMillis }: Span): Readonly<Record<string, string>> {
  return { start: String(fromMillis / 1000), end: String((untilMillis - 1) / 1000) };
}
