import type { UsageHour } from "../../domain/allocation/usage-hour.ts";
import { approximate } from "../../domain/exact/rational.ts";
import { decodeClusterFact, decodeInventory, decodeWorkload } from "../../domain/messages/fact-message.ts";
import { createScrapeDecoder } from "../../domain/messages/scrape-message.ts";
import { INVENTORY_TOPIC, SAMPLES_TOPIC, SERVING_TOPIC, WORKLOADS_TOPIC } from "../../domain/messages/topics.ts";
import { gpuShares } from "../../domain/share/gpu-shares.ts";
import type { Scenario } from "../../scenarios/files.ts";
import { gpuWorld } from "./gpu-world.ts";
import { messagesOf } from "./play.ts";

/** The GPUs of each workload, by namespace and name. */
type Shares = Readonly<Record<string, number>>;

/** The moments that are compared, as parts of the period. Each is just after a scrape: a holder of that sample holds until the next one. */
const MOMENTS = [0.27, 0.52, 0.92];
const AFTER_SCRAPE_MILLIS = 1_000;

/** The GPUs of each workload on the page of live series at a moment of a scenario, and the nodes that the page has. */
async function liveShares(
  scenario: Scenario,
  at: number,
): Promise<{ readonly shares: Shares; readonly nodes: ReadonlySet<string | undefined> }> {
  const world = gpuWorld();
  const decoder = createScrapeDecoder();
  for (const { topic, value, atMillis } of messagesOf(scenario)) {
    if (atMillis > at || topic === SERVING_TOPIC) continue;
    world.now = atMillis;
    if (topic === SAMPLES_TOPIC) world.take(valid(decoder.decode(value)));
    else if (topic === WORKLOADS_TOPIC) world.facts.workload(valid(decodeWorkload(value)));
    else if (topic === INVENTORY_TOPIC) world.facts.inventory(valid(decodeInventory(value)));
    else world.facts.clusterFact(valid(decodeClusterFact(value)));
  }
  world.now = at;
  const held = await world.series("gpu_workload_gpus");
  return {
    shares: summed(held.map(([{ namespace = "", workload = "" }, value]) => [`${namespace}/${workload}`, value])),
    nodes: new Set((await world.series("gpu_device_holders")).map(([{ node }]) => node)),
  };
}

/** The GPUs of each workload in the ledger's rows at a moment. */
function bookedShares(usage: readonly UsageHour[], at: number): Shares {
  const measures = { migShare: "max", sharedBy: "replica" } as const;
  const rows = usage.filter(({ segment: { fromMillis, untilMillis } }) => fromMillis <= at && at < untilMillis);
  return summed(
    rows.flatMap(({ segment: { gpu, claims }, holders }) => {
      const { held } = gpuShares(
        gpu,
        claims.map(({ claim }) => claim),
        measures,
      );
      return held.map(({ share }, index): [string, number] => {
        const { namespace, workload } = holders[index]!;
        return [`${namespace}/${workload}`, approximate(share)];
      });
    }),
  );
}

function summed(entries: readonly (readonly [string, number])[]): Shares {
  const sums = new Map<string, number>();
  for (const [key, value] of entries) sums.set(key, (sums.get(key) ?? 0) + value);
  const shown = [...sums].filter(([, value]) => value > 0).map(([key, value]) => [key, Number(value.toFixed(6))]);
  return Object.fromEntries(shown) as Shares;
}

function valid<Message extends object>(message: Message | { readonly invalid: string }): Message {
  if ("invalid" in message) throw new Error(message.invalid);
  return message;
}

/** The GPUs of workloads at some moments of a scenario: on the page of live series, and in the ledger's rows of the nodes that the page has. */
export async function liveAndBooked(
  scenario: Scenario,
  usage: readonly UsageHour[],
): Promise<{ readonly live: readonly Shares[]; readonly booked: readonly Shares[] }> {
  const { start, end } = scenario.period;
  const live: Shares[] = [];
  const booked: Shares[] = [];
  for (const part of MOMENTS) {
    const at = Math.floor((start + (end - start) * part) / 30_000) * 30_000 + AFTER_SCRAPE_MILLIS;
    const { shares, nodes } = await liveShares(scenario, at);
    live.push(shares);
    booked.push(
      bookedShares(
        usage.filter(({ node }) => nodes.has(node)),
        at,
      ),
    );
  }
  return { live, booked };
}
