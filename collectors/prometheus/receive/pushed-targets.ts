import type { MomentHold } from "./moment-hold.ts";
import { createPods, podOf } from "./pods.ts";
import type { Pods } from "./model.ts";
import { createPushedTarget } from "./pushed-target.ts";
import type { PushedTarget, SavedTarget } from "./model.ts";
import type { PlaceSeries } from "./model.ts";

/** The labels that a Prometheus adds to all of its series. */
export interface SenderLabels {
  /** Labels that name a Prometheus: equal targets of two of them are two targets. */
  readonly externalLabels: readonly string[];
  /** Labels that name one of several Prometheus with the same targets. */
  readonly replicaLabels: readonly string[];
}

/** The part of the targets that outlives a process. */
export interface SavedTargets {
  readonly targets: Readonly<Record<string, SavedTarget>>;
  /** The nodes of pods that targets asked for, by sender. */
  readonly pods: Readonly<Record<string, readonly (readonly [pod: string, node: string])[]>>;
}

/** The targets of all senders. */
export interface PushedTargets {
  readonly all: ReadonlyMap<string, PushedTarget>;
  readonly place: PlaceSeries;
  /** Forgets the targets without a sample since a time. */
  forget(sinceMillis: number): void;
}

/** Creates targets. Each series is placed by its job, its instance and the external labels. */
export function createPushedTargets(options: {
  readonly cluster: string;
  readonly intervalMillis: number;
  readonly labels: SenderLabels;
  readonly mostTargets: number;
  readonly saved: SavedTargets;
  readonly hold: MomentHold;
  readonly onElected: () => void;
  /** Returns whether there is room for one more series. */
  readonly hasRoom: () => boolean;
}): PushedTargets {
  const { cluster, intervalMillis, saved, hold, onElected, hasRoom, mostTargets } = options;
  const { externalLabels, replicaLabels } = options.labels;
  const ofSender = new Set([...externalLabels, ...replicaLabels]);
  const targets = new Map<string, PushedTarget>();
  const podsOf = new Map<string, Pods>();
  const replicas = new Map<string, string>();

  function targetOf(labels: ReadonlyMap<string, string>): PushedTarget | undefined {
    const sender = JSON.stringify(externalLabels.map((label) => labels.get(label) ?? ""));
    const [job, instance] = [labels.get("job") ?? "", labels.get("instance") ?? ""];
    const key = JSON.stringify([sender, job, instance]);
    const known = targets.get(key);
    if (known !== undefined) return known;
    if (targets.size >= mostTargets) return undefined;
    const pods = podsOf.get(sender) ?? createPods(saved.pods[sender] ?? []);
    podsOf.set(sender, pods);
    const own = labels.get("cluster");
    const identity = {
      key,
      cluster: externalLabels.includes("cluster") && own !== undefined ? own : cluster,
      sender,
      job,
      instance,
      pods,
    };
    const target = createPushedTarget(identity, { hold, intervalMillis, saved: saved.targets[key], onElected });
    targets.set(key, target);
    return target;
  }

  /** Returns the replica of a series. Equal replicas are one text, so that their comparison is fast. */
  function replicaOf(labels: ReadonlyMap<string, string>): string {
    const given = replicaLabels.map((label) => labels.get(label) ?? "").join("/");
    const known = replicas.get(given);
    if (known === undefined) replicas.set(given, given);
    return known ?? given;
  }

  return {
    all: targets,
    place(role, labels) {
      if (!hasRoom()) return undefined;
      const target = targetOf(labels);
      if (target === undefined) return undefined;
      const replica = replicaOf(labels);
      const own = new Map([...labels].filter(([label]) => label !== "__name__" && !ofSender.has(label)));
      const { layout } = target;
      if (role === "up" && !isEqual(target.upLabels, own)) target.upLabels = own;
      const slot = role === "gpu" ? layout.slotOf({ name: labels.get("__name__")!, labels: own }) : -1;
      const pod = role === "pod" ? podOf(labels) : undefined;
      return { role, target, layout, slot, replica, pod: pod && { ...pod, pods: target.pods } };
    },
    forget(sinceMillis) {
      for (const [key, { arrivedMillis, seenMillis }] of targets)
        if (Math.max(arrivedMillis, seenMillis) < sinceMillis) targets.delete(key);
    },
  };
}

function isEqual(left: ReadonlyMap<string, string> | undefined, right: ReadonlyMap<string, string>): boolean {
  return left?.size === right.size && [...right].every(([label, value]) => left.get(label) === value);
}

/** Returns the part of the targets that outlives the process. Targets of former processes stay until a time. */
export function saveTargets(
  targets: ReadonlyMap<string, PushedTarget>,
  former: SavedTargets,
  sinceMillis: number,
): SavedTargets {
  const saved = Object.entries(former.targets).filter(
    ([key, { forgottenMillis }]) => !targets.has(key) && forgottenMillis >= sinceMillis,
  );
  const pods = new Map(Object.entries(former.pods));
  const current = new Set<string>();
  for (const [key, target] of targets) {
    if (target.layout.slots.length > 0 || target.savedNodes.length > 0) saved.push([key, target.save()]);
    if (current.has(target.sender)) continue;
    current.add(target.sender);
    pods.set(target.sender, target.pods.asked());
  }
  return { targets: Object.fromEntries(saved), pods: Object.fromEntries(pods) };
}
