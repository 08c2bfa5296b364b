import { MINUTE_MILLIS } from "../time.ts";
import { sumAmounts, type RunAmounts } from "./bill.ts";
import type { ProgressPoint } from "./progress.ts";
import { checkpointsOf, meanGapMillis } from "./progress.ts";
import type { RunPhase } from "./phases.ts";
import type { RunReport } from "./report.ts";
import { signalText } from "./signals.ts";
import type { Straggler } from "./stragglers.ts";

/** The one suggestion of a run's report: the largest part of the bill that a change can make smaller. */
export interface Suggestion {
  readonly about: RunPhase | "node" | "straggler";
  /** A sentence or two. */
  readonly text: string;
  /** The part of the bill that it is about. It is at stake; a change does not save all of it. */
  readonly atStake: RunAmounts;
}

/** A part of the bill below this part of the total is no reason for a suggestion. */
const LEAST_PERCENT = 1n;

/**
 * Returns the suggestion for a run: about the highest effective cost, otherwise the most GPU-hours, of the phases, of one node with several
 * stops, and of stragglers. Undefined if each is below 1 % of the total.
 */
export function suggestionOf(
  report: RunReport,
  points: readonly ProgressPoint[],
  slow?: { readonly slowest: Straggler; readonly cost: RunAmounts },
): Suggestion | undefined {
  const candidates: readonly Suggestion[] = [
    ...ofNodes(report),
    ...(slow === undefined
      ? []
      : [{ about: "straggler", text: stragglerText(slow.slowest), atStake: slow.cost } as const]),
    ...Object.entries(TEXTS).flatMap(([phase, text]): readonly Suggestion[] => {
      const atStake = report.phases.get(phase as RunPhase);
      return atStake === undefined ? [] : [{ about: phase as RunPhase, text: text(report, points), atStake }];
    }),
  ];
  const measure = report.total.effective === 0n ? "gpuHours" : "effective";
  const worth = candidates.filter(
    ({ atStake }) => atStake[measure] * 100n >= report.total[measure] * LEAST_PERCENT && atStake[measure] > 0n,
  );
  return worth.reduce<Suggestion | undefined>(
    (best, each) => (best === undefined || each.atStake[measure] > best.atStake[measure] ? each : best),
    undefined,
  );
}

const TEXTS: Readonly<Partial<Record<RunPhase, (report: RunReport, points: readonly ProgressPoint[]) => string>>> = {
  lost: checkpointText,
  "lost-estimated": () =>
    "Report checkpoints with the annotation gpu-ledger/checkpoint-at, so that lost progress is measured and not estimated. Then choose the interval.",
  recovering: ({ stops }) =>
    `Make the return after a stop faster: the run stopped ${times(stops.length)}. Keep a spare node, keep images on the nodes, and load the checkpoint in parallel.`,
  waiting: () =>
    "Admit the gang as a whole, with Kueue, a PodGroup or Volcano, so that no pod holds GPUs while others wait for theirs.",
  starting: () => "Make the start faster: keep the image on the nodes, and prepare the data before the pods hold GPUs.",
  checkpointing: () => "Write checkpoints asynchronously, so that training goes on meanwhile.",
  idle: () =>
    "GPUs were idle while the run trained. Look at the input pipeline, at the time between steps, and at evaluation on fewer GPUs.",
  unobserved: () => "No sample has this time. Look at the exporters of the run's nodes.",
};

/**
 * Returns the advice on the interval of checkpoints: √(2 × duration of a checkpoint × mean time between stops) costs least (Young, 1974), if
 * both are known.
 */
function checkpointText({ run, stops, total }: RunReport, points: readonly ProgressPoint[]): string {
  const checkpoints = checkpointsOf(points);
  const everyMillis = meanGapMillis(checkpoints);
  const costMillis = checkpoints.reduce((most, { millis }) => Math.max(most, millis), 0);
  const trained = checkpoints.at(-1)?.at ?? run.begun;
  if (everyMillis === undefined)
    return "Write checkpoints, and report them with gpu-ledger/checkpoint-at: each stop lost all work.";
  const has = `Checkpoints came every ${minutes(everyMillis)}`;
  if (costMillis === 0 || total.gpuHours === 0n)
    return `${has}. Write them more often: half of the time between two is lost at each stop.`;
  const between = (Math.max(trained, stops.at(-1)!.stop.at) - run.begun) / stops.length;
  const best = Math.sqrt(2 * costMillis * between);
  return best < everyMillis
    ? `${has}, and the run stopped every ${minutes(between)}. Checkpoints of ${Math.round(costMillis / 1000)} s cost least every ${minutes(best)} (Young's formula).`
    : `${has}, which fits the stops of this run. Make the stops rarer.`;
}

/** Returns a suggestion for each node on which more than one stop of the run began. */
function ofNodes({ stops }: RunReport): readonly Suggestion[] {
  const nodes = [...new Set(stops.map(({ stop }) => stop.fault?.node ?? ""))].filter((node) => node !== "");
  return nodes.flatMap((node): readonly Suggestion[] => {
    const own = stops.filter(({ stop }) => stop.fault?.node === node);
    if (own.length < 2) return [];
    const causes = [...new Set(own.map(({ stop }) => signalText(stop.fault!)))].join(", ");
    const text = `Take the node ${node} out of service: it stopped the run ${times(own.length)} (${causes}).`;
    return [{ about: "node", text, atStake: sumAmounts(own.map(({ total }) => total)) }];
  });
}

function stragglerText({ node, gpu, measure, ofMedian }: Straggler): string {
  const slower = Math.round((1 - ofMedian) * 100);
  const what = measure === "clock" ? "clock" : "activity";
  return `Look at GPU ${gpu} of ${node}: its ${what} is ${slower} % below the median of the gang, and the gang waits for it.`;
}

function times(count: number): string {
  return count === 1 ? "once" : `${count} times`;
}

function minutes(millis: number): string {
  const all = Math.max(1, Math.round(millis / MINUTE_MILLIS));
  return all < 120 ? `${all} min` : `${(all / 60).toFixed(1)} h`;
}
