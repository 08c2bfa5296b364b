import { approximate } from "../../domain/exact/rational.ts";
import { formatAmount } from "../../domain/exact/units.ts";
import { incidentGroups, INCIDENT_PARTS } from "../../domain/training/incident.ts";
import { PHASE_TITLES, type RunPhase } from "../../domain/training/phases.ts";
import type { StopCost } from "../../domain/training/report.ts";
import { signalText } from "../../domain/training/signals.ts";
import { percent } from "../format/percent.ts";
import { minorUnitOf, roundedColumn, roundedMoney, roundedTo, unitOf } from "../format/rounded.ts";
import { formatTable } from "../format/table.ts";
import type { RunDetail } from "./read-detail.ts";
import { INCIDENT_GROUPS, type NodeIncident } from "./read-incidents.ts";
import type { ChargedRun } from "./read-reports.ts";
import { durationText, lateText, LOSS_SOURCES, PART_TITLES, progressRatio, stopText } from "./words.ts";

const HOUR_DIGITS = 2;

/** Returns runs as a table for people, with the command for the first one's report. Ends with a line break. */
export function runsText(runs: readonly ChargedRun[], currency: string): string {
  const [first] = runs;
  if (first === undefined) return "no training runs with charges\n";
  const costs = roundedColumn(
    runs.map(({ total }) => total.effective),
    minorUnitOf(currency),
  );
  const costOf = (run: ChargedRun, ...phases: readonly RunPhase[]): string => {
    const sum = phases.reduce((all, phase) => all + (run.phases.get(phase)?.effective ?? 0n), 0n);
    return roundedMoney(formatAmount(sum as typeof run.total.effective), currency);
  };
  const table = formatTable(
    [
      "run",
      "team",
      "outcome",
      "from",
      "GPU-hours",
      currency,
      "progress",
      "recovering",
      "lost",
      "estimated lost",
      "stops",
    ],
    runs.map((run, index) => [
      { text: run.run.id },
      { text: run.team },
      { text: run.outcome },
      { text: timeText(run.run.begun) },
      { number: roundedTo(formatAmount(run.total.gpuHours), HOUR_DIGITS) },
      { number: costs[index]! },
      { text: shareText(progressRatio(run)) },
      { number: costOf(run, "recovering") },
      { number: costOf(run, "lost") },
      { number: costOf(run, "lost-estimated") },
      { number: String(run.stops.length) },
    ]),
  );
  const failures = new Set(runs.flatMap(({ metricsFailure }) => metricsFailure ?? []));
  const missing = [...failures].map((failure) => `the metrics could not be read: ${failure}\n`).join("");
  return `${table}\n${missing}the report of a run: gpu-ledger runs ${first.run.id}\n`;
}

/** Returns the report of a run for people: what it cost, how much was progress, what went wrong, one suggestion. Ends with a line break. */
export function runText(detail: RunDetail, currency: string): string {
  const { run, suggestion } = detail;
  const { run: of, total, outcome, team, queuedMillis } = run;
  const until = of.ended === Infinity ? "now" : timeText(of.ended);
  const ratio = progressRatio(run);
  const unpriced =
    total.unpricedGpuHours === 0n ? [] : [`without a price: ${formatAmount(total.unpricedGpuHours)} GPU-hours`];
  return [
    `${of.kind} ${of.namespace}/${of.name} in ${of.cluster}, of ${team}: ${outcome}, ${timeText(of.begun)} to ${until}`,
    `cost: ${formatAmount(total.effective)} ${currency} for ${formatAmount(total.gpuHours)} GPU-hours`,
    ...unpriced,
    ...(ratio === null ? [] : [`progress: ${percent(ratio)} of the cost`]),
    ...(queuedMillis === 0 ? [] : [`waited without GPUs, and without cost: ${durationText(queuedMillis)}`]),
    "",
    phasesTable(run, currency),
    ...stopsTable(run.stops, currency),
    ...speedLines(detail, currency),
    ...collectiveLines(detail),
    suggestion === undefined
      ? "Suggestion: none; no part of the cost beside progress is 1 % of it."
      : `Suggestion (${roundedMoney(formatAmount(suggestion.atStake.effective), currency)} ${currency} at stake): ${suggestion.text}`,
    "",
  ].join("\n");
}

/** Returns incidents as tables for people, with the mean time between them by node, model and driver. Ends with a line break. */
export function incidentsText(incidents: readonly NodeIncident[], currency: string): string {
  if (incidents.length === 0) return "no incidents\n";
  const money = (amount: NodeIncident["total"]): string => roundedMoney(formatAmount(amount.effective), currency);
  const table = formatTable(
    [
      "at",
      "node",
      "incident",
      "DCGM recommends",
      ...INCIDENT_PARTS.map((part) => PART_TITLES[part]),
      currency,
      "GPU-hours",
      "runs",
    ],
    incidents.map(({ at, node, main, recovery, parts, total, affected }) => [
      { text: timeText(at) },
      { text: node },
      { text: signalText(main) },
      { text: recovery ?? "" },
      ...INCIDENT_PARTS.map((part) => ({ number: money(parts[part]) })),
      { number: money(total) },
      { number: roundedTo(formatAmount(total.gpuHours), HOUR_DIGITS) },
      { text: [...new Set(affected.map(({ report }) => report.run.name))].join(", ") },
    ]),
  );
  const groups = INCIDENT_GROUPS.map(({ title, keyOf }) =>
    formatTable(
      [title, "incidents", "mean time between", currency],
      incidentGroups(incidents, keyOf).map(({ key, incidents: count, meanMillisBetween, total }) => [
        { text: key },
        { number: String(count) },
        { text: meanMillisBetween === undefined ? "" : durationText(meanMillisBetween) },
        { number: money(total) },
      ]),
    ),
  );
  return [table, ...groups].join("\n");
}

function phasesTable({ phases, total }: ChargedRun, currency: string): string {
  const all = [...phases];
  const costs = roundedColumn(
    all.map(([, { effective }]) => effective),
    minorUnitOf(currency),
  );
  const hours = roundedColumn(
    all.map(([, { gpuHours }]) => gpuHours),
    unitOf(HOUR_DIGITS),
  );
  const rows = [...all.map(([phase]) => PHASE_TITLES[phase]), "sum"];
  const exact = [...all.map(([, amounts]) => amounts), total];
  return formatTable(
    ["part", "GPU-hours", currency, "exactly"],
    rows.map((title, index) => [
      { text: title },
      { number: hours[index]! },
      { number: costs[index]! },
      { number: formatAmount(exact[index]!.effective) },
    ]),
  );
}

function stopsTable(stops: readonly StopCost[], currency: string): readonly string[] {
  if (stops.length === 0) return ["No stops.", ""];
  const costOf = ({ phases }: StopCost, phase: RunPhase): string =>
    roundedMoney(formatAmount(phases.get(phase)?.effective ?? (0n as never)), currency);
  const table = formatTable(
    ["stop", "cause", "pod", "back after", "waiting", "recovering", "lost", "lost by"],
    stops.map((cost) => {
      const { stop } = cost;
      const lost = stop.loss?.by === "estimate" ? "lost-estimated" : "lost";
      return [
        { text: timeText(stop.at) },
        { text: stopText(stop) },
        { text: stop.pod.name },
        { text: stop.isRestarted ? durationText(stop.until - stop.at) : "never" },
        { number: costOf(cost, "waiting") },
        { number: costOf(cost, "recovering") },
        { number: costOf(cost, lost) },
        { text: stop.loss === undefined ? "nothing known" : LOSS_SOURCES[stop.loss.by] },
      ];
    }),
  );
  return [table];
}

function speedLines({ efficiency, slow }: RunDetail, currency: string): readonly string[] {
  const lines: string[] = [];
  if (efficiency !== undefined) {
    const { basis, costPerExaflop, ofPeak } = efficiency;
    const price = `${roundedMoney(formatAmount(costPerExaflop), currency)} ${currency} for 10^18`;
    const share =
      ofPeak === undefined
        ? ""
        : `, ${percent(approximate(ofPeak).toFixed(6))} of the dense BF16 peak while it trained`;
    lines.push(
      basis === "tokens"
        ? `useful operations: ${price}${share}`
        : `upper bound by the tensor pipes: at least ${price} operations${share === "" ? "" : share.replace(", ", ", at most ")}`,
      "",
    );
  }
  if (slow === undefined) return lines;
  const named = slow.stragglers.map(
    ({ node, gpu, measure, ofMedian, slowHours, hours }) =>
      `  GPU ${gpu} of ${node}: ${measure} at ${percent(ofMedian.toFixed(6))} of the median in ${slowHours} of ${hours} h`,
  );
  const cost = roundedMoney(formatAmount(slow.cost.effective), currency);
  return [...lines, `stragglers in the last 7 days, which cost the gang ${cost} ${currency}:`, ...named, ""];
}

function collectiveLines({ collectives, metricsFailure }: RunDetail): readonly string[] {
  const missing = metricsFailure === undefined ? [] : [`the metrics could not be read: ${metricsFailure}`, ""];
  if (collectives.length === 0) return missing;
  const table = formatTable(
    ["collective", "size", "nodes", "ranks", "GPUs", "GB/s", "lowest", "at"],
    collectives.map(({ operation, size, nodes, ranks, gpus, gbs, lowest }) => [
      { text: operation },
      { text: size },
      ...[nodes, ranks, gpus].map((count) => ({ number: String(count) })),
      ...[gbs, lowest.gbs].map((value) => ({ number: value.toFixed(1) })),
      { text: timeText(lowest.hour) },
    ]),
  );
  const late = collectives.flatMap(({ operation, size, late: gpus }) =>
    gpus.map((gpu) => `  ${lateText(gpu)} of ${operation} ${size}`),
  );
  return [
    ...missing,
    "collectives in the last 7 days, as NCCL Inspector measured them:",
    table,
    ...(late.length === 0
      ? []
      : ["the others wait for these GPUs, which have the least time in a collective:", ...late, ""]),
  ];
}

function shareText(ratio: string | null): string {
  return ratio === null ? "" : `${roundedTo((Number(ratio) * 100).toFixed(6), 1)} %`;
}

function timeText(millis: number): string {
  return new Date(millis)
    .toISOString()
    .replace(/:\d{2}\.\d{3}Z$/, "Z")
    .replace("T", " ");
}
