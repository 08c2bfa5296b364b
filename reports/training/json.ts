import { exactDecimal, rational, roundedDecimal } from "../../domain/exact/rational.ts";
import { formatAmount } from "../../domain/exact/units.ts";
import { HOUR_MILLIS, isoText } from "../../domain/time.ts";
import { sumAmounts, type RunAmounts } from "../../domain/training/bill.ts";
import type { Collective } from "../../domain/training/collectives.ts";
import type { Efficiency } from "../../domain/training/efficiency.ts";
import { incidentGroups, INCIDENT_PARTS, type IncidentGroup } from "../../domain/training/incident.ts";
import type { PhaseAmounts, StopCost } from "../../domain/training/report.ts";
import { signalText } from "../../domain/training/signals.ts";
import type { RunDetail } from "./read-detail.ts";
import { INCIDENT_GROUPS, type NodeIncident } from "./read-incidents.ts";
import type { ChargedRun } from "./read-reports.ts";
import { progressRatio, stopText } from "./words.ts";

/** The digits of ratios in JSON. */
const RATIO_DIGITS = 6;

/** Returns a run as JSON, without its stops. */
export function runJson(run: ChargedRun): object {
  const { run: of, team, outcome, models, queuedMillis, total, phases, stops } = run;
  const { id, cluster, namespace, kind, name, begun, ended, isGang, pods } = of;
  return {
    id,
    cluster,
    namespace,
    kind,
    name,
    team,
    outcome,
    isGang,
    from: isoText(begun),
    until: ended === Infinity ? null : isoText(ended),
    pods: pods.length,
    models: models.map(({ model, gpuHours }) => ({ model, gpuHours: formatAmount(gpuHours) })),
    queuedSeconds: Math.round(queuedMillis / 1000),
    ...amountsJson(total),
    progress: progressRatio(run),
    phases: phasesJson(phases),
    stops: stops.length,
    metricsFailure: run.metricsFailure ?? null,
  };
}

/** Returns the whole report of a run as JSON. */
export function runDetailJson({ run, efficiency, slow, collectives, metricsFailure, suggestion }: RunDetail): object {
  return {
    run: runJson(run),
    stops: run.stops.map(stopJson),
    efficiency: efficiency === undefined ? null : efficiencyJson(efficiency),
    stragglers: slow === undefined ? null : { ...slow, cost: amountsJson(slow.cost) },
    collectives: collectives.map(collectiveJson),
    metricsFailure: metricsFailure ?? null,
    suggestion:
      suggestion === undefined
        ? null
        : { about: suggestion.about, text: suggestion.text, atStake: amountsJson(suggestion.atStake) },
  };
}

function collectiveJson({ lowest, ...collective }: Collective): object {
  return { ...collective, lowest: { from: isoText(lowest.hour), gbs: lowest.gbs } };
}

/** Returns an incident as JSON. */
export function incidentJson(incident: NodeIncident): object {
  const { cluster, node, at, main, signals, model, driver, recovery, affected, parts, total } = incident;
  return {
    at: isoText(at),
    cluster,
    node,
    model,
    driver,
    kind: main.kind,
    text: signalText(main),
    signals: signals.map(({ at: seenAt, kind, code, gpu, isBlocking }) => ({
      at: isoText(seenAt),
      kind,
      code,
      gpu: gpu ?? null,
      isBlocking,
    })),
    recoveryAction: recovery ?? null,
    runs: [...new Set(affected.map(({ report }) => report.run.id))],
    ...amountsJson(total),
    parts: INCIDENT_PARTS.map((part) => ({ part, ...amountsJson(parts[part]) })),
  };
}

/** Returns the sums of incidents as JSON: of all, and by node, GPU model and driver. */
export function incidentSumsJson(incidents: readonly NodeIncident[]): object {
  const groups = INCIDENT_GROUPS.map(({ field, keyOf }) => [field, incidentGroups(incidents, keyOf).map(groupJson)]);
  return {
    total: amountsJson(sumAmounts(incidents.map(({ total }) => total))),
    ...(Object.fromEntries(groups) as object),
  };
}

function groupJson({ key, incidents, meanMillisBetween, total }: IncidentGroup): object {
  const hours = meanMillisBetween === undefined ? null : roundedDecimal(rational(meanMillisBetween, HOUR_MILLIS), 3);
  return {
    key,
    incidents,
    meanHoursBetween: hours,
    gpuHours: formatAmount(total.gpuHours),
    cost: formatAmount(total.effective),
  };
}

function stopJson({ stop, phases, total }: StopCost): object {
  const { at, until, isRestarted, cause, pod, loss, fault } = stop;
  return {
    at: isoText(at),
    until: isRestarted ? isoText(until) : null,
    cause,
    text: stopText(stop),
    pod: pod.name,
    node: fault?.node ?? pod.node,
    lostSince: loss === undefined || loss.from === -Infinity ? null : isoText(loss.from),
    lostBy: loss?.by ?? null,
    ...amountsJson(total),
    phases: phasesJson(phases),
  };
}

function phasesJson(phases: PhaseAmounts): readonly object[] {
  return [...phases].map(([phase, amounts]) => ({
    phase,
    isEstimate: phase === "lost-estimated",
    ...amountsJson(amounts),
  }));
}

function efficiencyJson({ basis, flops, costPerExaflop, ofPeak, tokens }: Efficiency): object {
  return {
    basis,
    flops: String(flops),
    costPerExaflop: formatAmount(costPerExaflop),
    ofPeak: ofPeak === undefined ? null : roundedDecimal(ofPeak, RATIO_DIGITS),
    tokens: tokens === undefined ? null : String(tokens),
  };
}

/** Returns amounts as exact decimal texts: GPU-hours, the currency, joules and grams. */
function amountsJson({ millijoules, ...amounts }: RunAmounts): object {
  return {
    gpuHours: formatAmount(amounts.gpuHours),
    unpricedGpuHours: formatAmount(amounts.unpricedGpuHours),
    list: formatAmount(amounts.list),
    contracted: formatAmount(amounts.contracted),
    cost: formatAmount(amounts.effective),
    powerCost: formatAmount(amounts.power),
    joules: exactDecimal(rational(millijoules, 1000n), 3),
    carbonGrams: formatAmount(amounts.carbon),
  };
}
