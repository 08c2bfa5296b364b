import { HOUR_MILLIS, hourOf } from "../../../domain/time.ts";
import type { CollectiveHour } from "../../../domain/training/collectives.ts";
import type { Run } from "../../../domain/training/identity.ts";
import { queryRange, type QueriedSeries } from "../read/query.ts";
import { isOneOf, selectorFor, valueOf, type TrainingServer } from "./server.ts";

/** The label of NCCL Inspector with the name of the host: in a container, the pod's. A target can have another node. */
const HOST = ["exported_node", "node"] as const;

/** The bus bandwidths of collectives and of point-to-point operations. */
export const BANDWIDTHS = ["nccl_bus_bandwidth_gbs", "nccl_p2p_bus_bandwidth_gbs"];
/** Means in text files, and medians in the streaming format of later releases. */
const TIMES = [
  "nccl_collective_exec_time_microseconds",
  "nccl_p2p_exec_time_microseconds",
  "nccl_collective_exec_time_p50_microseconds",
  "nccl_p2p_exec_time_p50_microseconds",
];
const KIND = ["gpu", "collective", "p2p_operation", "message_size", "n_nodes", "nranks"];

/** Reads the hourly means of the collectives of a run. */
export async function collectiveHours(
  asked: TrainingServer,
  run: Run,
  { from, until }: { readonly from: number; readonly until: number },
): Promise<readonly CollectiveHour[]> {
  const hosts = run.pods.flatMap(({ name, node }) => (node === "" ? [] : [name, node]));
  if (hosts.length === 0) return [];
  const span = { fromMillis: hourOf(from) + HOUR_MILLIS, untilMillis: hourOf(until - 1) + HOUR_MILLIS + 1 };
  const found = new Map<string, CollectiveHour>();
  for (const [measure, names] of [
    ["gbs", BANDWIDTHS],
    ["micros", TIMES],
  ] as const)
    for (const name of names)
      for (const label of HOST) {
        // The label of a target counts only without a label of the series itself.
        const others = HOST.slice(0, HOST.indexOf(label)).map(
          (other) => ({ label: other, is: "=", value: "" }) as const,
        );
        const selector = selectorFor(asked, run, name, [isOneOf(label, hosts), ...others]);
        const means = `avg by (${[label, ...KIND].join(", ")}) (avg_over_time(${selector}[1h]))`;
        for (const { metric, values = [] } of await queryRange(asked.client, means, span, HOUR_MILLIS))
          for (const [seconds, text] of values) {
            const one = hourOfCollective(metric, metric[label]!, run, seconds * 1000 - HOUR_MILLIS);
            const value = Number(text);
            if (one === undefined || !Number.isFinite(value)) continue;
            const key = JSON.stringify(one);
            const known = found.get(key) ?? { ...one, gbs: undefined, micros: undefined };
            found.set(key, { ...known, [measure]: known[measure] ?? value });
          }
      }
  return [...found.values()].toSorted((a, b) => a.hour - b.hour);
}

/** Returns the identity of an hour of a collective; undefined if no pod of the run was on the host in this hour. */
function hourOfCollective(
  metric: QueriedSeries["metric"],
  host: string,
  { pods }: Run,
  hour: number,
): Omit<CollectiveHour, "gbs" | "micros"> | undefined {
  const there = pods.filter(({ created, end }) => created < hour + HOUR_MILLIS && (end?.at ?? Infinity) > hour);
  const pod = there.findLast(({ name }) => name === host) ?? there.find(({ node }) => node === host);
  if (pod === undefined) return undefined;
  return {
    hour,
    node: pod.node,
    pod: pod.name === host ? host : "",
    gpu: metric["gpu"] ?? "",
    operation: valueOf(metric, ["collective", "p2p_operation"]),
    size: metric["message_size"] ?? "",
    nodes: Number(metric["n_nodes"] ?? 0),
    ranks: Number(metric["nranks"] ?? 0),
  };
}
