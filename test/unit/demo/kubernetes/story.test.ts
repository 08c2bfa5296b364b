import { describe, expect, test } from "vitest";
import { createFleet } from "../../../../demo/fleet/fleet.ts";
import { RESIDENTS } from "../../../../demo/fleet/residents.ts";
import { isExporterAway } from "../../../../demo/fleet/troubles.ts";
import { amountsOf } from "../../../../demo/kubernetes/cluster/gpu-resources.ts";
import { objectsAt } from "../../../../demo/kubernetes/cluster/objects.ts";
import { outagesBetween } from "../../../../demo/kubernetes/cluster/outages.ts";
import type { KubernetesObject } from "../../../../demo/kubernetes/server/object.ts";
import { gpuLimits, ofKind, podsOf, type PodView } from "../../../support/cluster-objects.ts";
import { podsAt } from "../../../support/fleet-pods.ts";
import { rounds } from "../../../support/rounds.ts";
import { DAY_MILLIS as DAY, MINUTE_MILLIS as MINUTE } from "../../../../domain/time.ts";

const FROM = Date.UTC(2026, 6, 8);
const fleet = createFleet({ seed: 1, gpus: 96 });
/** A day in steps that are not on round times. */
const LENGTH = rounds(360);
const moments = Array.from({ length: LENGTH }, (_, i) => FROM + (i * DAY) / LENGTH + 7_531);
const day = moments.map((at) => ({ at, objects: objectsAt(fleet, at) }));

const keyOf = ({ metadata }: KubernetesObject): string => `${metadata.namespace ?? ""}/${metadata.name}`;
const isBound = (pod: PodView): boolean => pod.spec.nodeName !== undefined;
const isOver = (pod: PodView): boolean => ["Succeeded", "Failed"].includes(pod.status.phase);

describe("pods, nodes and the exporters' labels", () => {
  test("are consistent: each pod that an exporter names exists, is bound there, runs and requests the devices that it holds", () => {
    let compared = 0;
    for (const { at, objects } of day) {
      const pods = new Map(podsOf(objects).map((pod) => [keyOf(pod), pod]));
      for (const { pod: named, slots } of podsAt(fleet, at)) {
        const { node } = slots[0]!;
        if (isExporterAway(node, at)) continue;
        const pod = pods.get(`${named.namespace}/${named.name}`)!;
        expect(pod.spec.nodeName).toBe(node.name);
        expect(pod.status.phase).toBe("Running");
        expect(gpuLimits(pod)).toEqual(amountsOf(slots));
        expect(pod.spec.containers[0]!.name).toBe(named.container);
        const { uid, labels } = pod.metadata;
        expect(node.make.podUid === "filled" ? uid : named.uid).toBe(named.uid);
        expect(labels).toMatchObject(node.make.hasPodLabels ? named.labels : {});
        compared += 1;
      }
    }
    expect(compared).toBeGreaterThan(27 * LENGTH);
  });

  test("keep the fleet's UID, except where the node was taken away meanwhile", () => {
    const others = new Set<string>();
    for (const { at, objects } of day) {
      const uids = new Set(podsOf(objects).map(({ metadata }) => metadata.uid));
      for (const { pod } of podsAt(fleet, at)) if (!uids.has(pod.uid)) others.add(pod.node);
    }
    const spot = fleet.nodes.filter((node) => node.capacityType === "spot" && node.troubles.has("exporter-away"));
    expect([...others]).toEqual(spot.map(({ name }) => name));
  });

  test("never have more bound on a node than its capacity", () => {
    for (const { objects } of day) {
      const nodes = new Map(ofKind(objects, "Node").map((node) => [node.metadata.name, node]));
      const held = new Map<string, number>();
      for (const pod of podsOf(objects).filter((each) => isBound(each) && !isOver(each))) {
        for (const [resource, count] of Object.entries(gpuLimits(pod))) {
          const key = `${pod.spec.nodeName} ${resource}`;
          held.set(key, (held.get(key) ?? 0) + count);
        }
      }
      for (const [key, count] of held) {
        const [name, resource] = key.split(" ");
        const { capacity } = nodes.get(name!)!["status"] as { readonly capacity: Readonly<Record<string, string>> };
        expect(count).toBeLessThanOrEqual(Number(capacity[resource!]));
      }
    }
  });

  test("have one object for each name and each UID, and every owner that a pod refers to", () => {
    for (const { objects } of day.filter((_, i) => i % 10 === 0)) {
      expect(new Set(objects.map((object) => `${object.apiVersion} ${object.kind} ${keyOf(object)}`)).size).toBe(
        objects.length,
      );
      const uids = new Map(objects.map(({ metadata, kind }) => [metadata.uid, kind]));
      expect(uids.size).toBe(objects.length);
      const references = objects.flatMap(({ metadata }) => metadata.ownerReferences ?? []);
      expect(references.length).toBeGreaterThan(50);
      for (const { uid, kind } of references) expect(uids.get(uid)).toBe(kind);
    }
  });
});

describe("the demo's day", () => {
  const all = day.flatMap(({ objects }) => objects);

  test("shows every stage of a pod, and no condition from the future", () => {
    const stages = new Set<string>();
    for (const { at, objects } of day) {
      for (const pod of podsOf(objects)) {
        stages.add(
          `${pod.status.phase}${isBound(pod) ? " bound" : ""}${pod.metadata.deletionTimestamp === undefined ? "" : " ending"}`,
        );
        expect(Date.parse(pod.metadata.creationTimestamp!)).toBeLessThanOrEqual(at);
        for (const { lastTransitionTime } of pod.status.conditions) {
          expect(Date.parse(lastTransitionTime)).toBeLessThanOrEqual(at + 1000);
        }
      }
    }
    for (const stage of ["Pending", "Pending bound", "Running bound", "Succeeded bound"])
      expect(stages).toContain(stage);
  });

  test("has chains of owners for jobs, sweeps, gangs, services and notebooks", () => {
    const above = new Map<string, string>();
    for (const { kind, metadata } of all) {
      for (const owner of metadata.ownerReferences ?? []) above.set(`${kind} ${metadata.uid}`, owner.kind);
    }
    const links = new Set([...above].map(([key, owner]) => `${key.split(" ")[0]} < ${owner}`));
    const wanted = ["Pod < Job", "Job < JobSet", "Pod < PyTorchJob", "Pod < ReplicaSet", "ReplicaSet < Deployment"];
    for (const link of [...wanted, "Pod < StatefulSet", "StatefulSet < Notebook", "Pod < DaemonSet"]) {
      expect(links).toContain(link);
    }
  });

  test("has a gang with one GPU whose other members cannot be scheduled", () => {
    const waiting = day.filter(({ objects }) => {
      const gangs = new Map<string, PodView[]>();
      for (const pod of podsOf(objects)) {
        const name = pod.metadata.annotations?.["scheduling.k8s.io/group-name"];
        if (name !== undefined) gangs.set(name, [...(gangs.get(name) ?? []), pod]);
      }
      return [...gangs.values()].some((pods) => pods.some(isBound) && pods.some((pod) => !isBound(pod)));
    });
    expect(waiting.length).toBeGreaterThan(0);
    const groups = ofKind(all, "PodGroup");
    expect(groups.length).toBeGreaterThan(0);
  });

  test("has a reason for each unscheduled pod, in every regime", () => {
    const pods = podsOf(day[Math.floor((LENGTH * 5) / 9)]!.objects).filter(
      (pod) => pod.status.phase === "Pending" && !isBound(pod),
    );
    for (const pod of pods) {
      const scheduled = pod.status.conditions.find(({ type }) => type === "PodScheduled");
      expect(scheduled).toMatchObject({ status: "False", reason: "Unschedulable" });
      expect(scheduled!.message).toMatch(/^0\/19 nodes are available: 19 /);
    }
    expect(new Set(pods.map(({ spec }) => spec.schedulerName))).toEqual(
      new Set(["default-scheduler", "hami-scheduler", "kai-scheduler", "volcano"]),
    );
    expect(pods.some(({ metadata }) => metadata.annotations?.["gpu-fraction"] === "0.5")).toBe(true);
    expect(pods.some((pod) => gpuLimits(pod)["nvidia.com/gpumem"] === 8000)).toBe(true);
  });

  test("loses a spot node, which comes back as another machine; its pods come back under their names as other pods", () => {
    const uids: (string | undefined)[] = [];
    const node = fleet.nodes.find(({ troubles }) => troubles.has("exporter-away"))!;
    const { name } = node;
    const [outage] = outagesBetween(node, FROM, FROM + DAY);
    const podUids = new Map<string, Set<string>>();
    for (let at = outage!.fromMillis - MINUTE; at < outage!.untilMillis + MINUTE; at += 5000) {
      const objects = objectsAt(fleet, at);
      const uid = ofKind(objects, "Node").find(({ metadata }) => metadata.name === name)?.metadata.uid;
      if (uid !== uids.at(-1)) uids.push(uid);
      for (const pod of podsOf(objects).filter((each) => each.spec.nodeName === name)) {
        podUids.set(keyOf(pod), (podUids.get(keyOf(pod)) ?? new Set()).add(pod.metadata.uid));
      }
    }
    expect(uids).toHaveLength(3);
    expect(uids[1]).toBeUndefined();
    expect(uids[2]).not.toBe(uids[0]);
    expect([...podUids.values()].some(({ size }) => size === 2)).toBe(true);
  });

  test("keeps a forgotten notebook throughout", () => {
    const forgotten = fleet.nodes
      .flatMap(({ gpus }) => gpus)
      .flatMap(({ slots }) => slots)
      .filter(({ resident }) => resident?.plan === RESIDENTS.jupyterGus);
    const names = podsAt(fleet, FROM).filter(({ slots }) => slots.some((slot) => forgotten.includes(slot)));
    expect(names.length).toBeGreaterThan(0);
    for (const { objects } of day) {
      const pods = new Set(podsOf(objects).map(({ metadata }) => metadata.uid));
      for (const { pod } of names) expect(pods).toContain(pod.uid);
    }
  });
});

describe("other objects of the demo's cluster", () => {
  test("one namespace changes its team at the given hour, and no other does", () => {
    const teamChange = { namespace: "vision-serve", atMillis: FROM + 60 * MINUTE, team: "nlp", costCenter: "CC-1102" };
    const labelsAt = (at: number): Map<string, string | undefined> =>
      new Map(
        ofKind(objectsAt(fleet, at, { teamChange }), "Namespace").map(({ metadata }) => [
          metadata.name,
          metadata.labels?.["team"],
        ]),
      );
    const [before, after] = [labelsAt(teamChange.atMillis - 1), labelsAt(teamChange.atMillis)];
    expect(before.get("vision-serve")).toBe("vision");
    expect([...after].filter(([name, team]) => before.get(name) !== team)).toEqual([["vision-serve", "nlp"]]);
  });

  test("each node has its exporter's pod while the exporter answers", () => {
    const exporters = fleet.nodes.map(({ name }, i) => ({ node: name, url: `http://127.0.0.1:${9000 + i}/metrics` }));
    const pods = podsOf(objectsAt(fleet, FROM, { exporters })).filter(
      ({ metadata }) => metadata.ownerReferences?.[0]?.kind === "DaemonSet",
    );
    expect(
      pods.map((pod) => [pod.spec.nodeName, pod.status.podIP, pod.spec.containers[0]!.ports![0]!.containerPort]),
    ).toEqual(fleet.nodes.map(({ name }, i) => [name, "127.0.0.1", 9000 + i]));
  });

  test("nodes have the labels of each way of sharing and each cloud", () => {
    const labels = new Map(ofKind(day[0]!.objects, "Node").map(({ metadata }) => [metadata.name, metadata.labels!]));
    expect(labels.get("gpu-t4-01")).toMatchObject({
      "nvidia.com/gpu.product": "Tesla-T4-SHARED",
      "nvidia.com/gpu.replicas": "4",
      "nvidia.com/gpu.sharing-strategy": "time-slicing",
      "karpenter.sh/capacity-type": "spot",
    });
    expect(labels.get("gpu-h100mig-01")).toMatchObject({
      "nvidia.com/mig.strategy": "mixed",
      "nvidia.com/mig-1g.10gb.me.count": "1",
      "nvidia.com/mig-3g.40gb.count": "3",
    });
    expect(labels.get("gpu-a100-01")).toMatchObject({ "eks.amazonaws.com/capacityType": "ON_DEMAND" });
    expect(labels.get("gpu-mi300x-01")).toMatchObject({ "kubernetes.azure.com/agentpool": "mi300x-training" });
  });

  test("queues count the admitted pods, and quotas the requests of pods", () => {
    for (const { objects } of day.filter((_, i) => i % 40 === 0)) {
      const admitted = ofKind(objects, "ClusterQueue").map(
        (queue) => (queue["status"] as { admittedWorkloads: number }).admittedWorkloads,
      );
      const running = ofKind(objects, "Workload").filter((workload) => {
        const { conditions } = workload["status"] as { conditions: readonly { type: string; status: string }[] };
        const has = (type: string): boolean => conditions.some((each) => each.type === type && each.status === "True");
        return has("Admitted") && !has("Finished");
      });
      expect(admitted.reduce((sum, n) => sum + n, 0)).toBe(running.length);
      for (const quota of ofKind(objects, "ResourceQuota")) {
        const asked = podsOf(objects)
          .filter((pod) => pod.metadata.namespace === quota.metadata.namespace && !isOver(pod))
          .reduce((sum, pod) => sum + (gpuLimits(pod)["nvidia.com/gpu"] ?? 0), 0);
        expect((quota["status"] as { used: Record<string, string> }).used["requests.nvidia.com/gpu"]).toBe(
          String(asked),
        );
      }
    }
  });
});
