import { SEVERITIES, type Check, type Finding } from "./check.ts";
import { cpuOrMemoryGone } from "./checks/cpu-and-memory.ts";
import { withoutDisruptionBudget } from "./checks/disruption.ts";
import { migLayoutStrands } from "./checks/mig-layout.ts";
import { neverScalesDown, poolUnused } from "./checks/pools.ts";
import { samePriority, withoutPriorityClass } from "./checks/priorities.ts";
import { queueUnused, starvingQueue } from "./checks/queues.ts";
import { namespaceWithoutLimitRange, namespaceWithoutQuota, quotaAboveCapacity, quotaUnused } from "./checks/quotas.ts";
import { imageNotPinned, requestsUnlikeLimits, withoutCpuAndMemory } from "./checks/requests.ts";
import { trainingOnTimeSlices, wholeGpuNotebook } from "./checks/sharing.ts";
import { overTooManyNodes } from "./checks/spread.ts";
import { gpuNodeWithoutTaint, podsWithoutGpu, toleratesEverything } from "./checks/taints.ts";
import { nodeWithoutExporter, withoutProfiling } from "./checks/telemetry.ts";
import { acrossRacks, halfPlaced, spotWithoutCheckpoints } from "./checks/training.ts";
import { timeLimitFarAboveNeed } from "./checks/time-limits.ts";
import { devicePluginsMixed, driverEndOfLife, driversMixed, exportersMixed } from "./checks/versions.ts";
import type { PracticeFacts } from "./facts.ts";

/** Every check, in the order of the documentation. */
export const CHECKS: readonly Check[] = [
  gpuNodeWithoutTaint,
  podsWithoutGpu,
  cpuOrMemoryGone,
  toleratesEverything,
  namespaceWithoutQuota,
  quotaAboveCapacity,
  quotaUnused,
  queueUnused,
  starvingQueue,
  namespaceWithoutLimitRange,
  withoutPriorityClass,
  samePriority,
  withoutCpuAndMemory,
  requestsUnlikeLimits,
  imageNotPinned,
  trainingOnTimeSlices,
  wholeGpuNotebook,
  migLayoutStrands,
  spotWithoutCheckpoints,
  halfPlaced,
  acrossRacks,
  overTooManyNodes,
  timeLimitFarAboveNeed,
  withoutDisruptionBudget,
  neverScalesDown,
  poolUnused,
  nodeWithoutExporter,
  withoutProfiling,
  driverEndOfLife,
  driversMixed,
  devicePluginsMixed,
  exportersMixed,
];

/** The names of all checks. */
export const CHECK_NAMES: readonly string[] = CHECKS.map(({ name }) => name);

/** Returns the findings of all checks that are not switched off: most urgent first, then most money at stake, then by name. */
export function findingsOf(facts: PracticeFacts, off: readonly string[] = []): readonly Finding[] {
  return CHECKS.filter(({ name }) => !off.includes(name))
    .flatMap(({ check }) => check(facts))
    .toSorted(byUrgency);
}

function byUrgency(a: Finding, b: Finding): number {
  if (a.severity !== b.severity) return SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity);
  const [stake, others] = [a.atStake ?? -1n, b.atStake ?? -1n];
  if (stake !== others) return stake < others ? 1 : -1;
  const [one, other] = [a, b].map(({ check, cluster, team }) => JSON.stringify([check, cluster, team]));
  return one! < other! ? -1 : 1;
}
