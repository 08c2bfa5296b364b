import { expect, it } from "vitest";
import { unplayable } from "../../../scenarios/play/unplayable.ts";
import { minute, scenarioWith } from "../../support/played.ts";

const NODE = { name: "gpu-a", model: "NVIDIA-L4", gpus: 2 };
const POD = { name: "p-0", namespace: "vision", node: "gpu-a", holds: { gpus: 1 }, devices: [0] };

function problemsOf(given: Readonly<Record<string, unknown>>): readonly string[] {
  return unplayable(scenarioWith({ nodes: [NODE], ...given })).map(({ key, allowed }) => `${key}: ${allowed}`);
}

it("a scenario can be played if it has only facts that collectors can see", () => {
  const unavailable = [
    { from: minute(1), until: minute(2), because: "cordoned" },
    { gpus: [0, 1], from: minute(1), until: minute(2), because: "not-ready" },
    { gpus: [1], from: minute(1), until: minute(2), because: "xid-79" },
  ];
  expect(problemsOf({ nodes: [{ ...NODE, unavailable }], pods: [POD] })).toEqual([]);
  const shared = { ...NODE, sharing: { strategy: "time-slicing", replicas: 4 } };
  expect(problemsOf({ nodes: [shared], pods: [{ ...POD, holds: { replicas: 2 }, devices: [0, 1] }] })).toEqual([]);
});

it.each([
  [
    "one GPU is cordoned",
    { nodes: [{ ...NODE, unavailable: [{ gpus: [1], because: "cordoned" }] }] },
    "nodes[0].unavailable[0].gpus: no value: a node is cordoned with all its GPUs",
  ],
  [
    "a job and a pod are on one node",
    { pods: [POD, { ...POD, name: "4711", hpcJob: "4711" }] },
    "pods[0].hpcJob: given for all pods of a node, or for none: with Kubernetes, Kubernetes identifies the pods",
  ],
  [
    "a pod has whole GPUs of a node that shares them",
    { nodes: [{ ...NODE, sharing: { strategy: "mps", replicas: 2 } }], pods: [POD] },
    "pods[0].holds: { replicas }: its node shares its GPUs, so a request for a GPU gets a replica",
  ],
  [
    "a pod has several replicas of a GPU that is not shared",
    { pods: [{ ...POD, holds: { replicas: 2 } }] },
    "pods[0].holds.replicas: on a node that shares its GPUs: on other nodes a request for a GPU gets the whole GPU",
  ],
  [
    "replicas do not divide by the devices",
    {
      nodes: [{ ...NODE, sharing: { strategy: "mps", replicas: 2 } }],
      pods: [{ ...POD, holds: { replicas: 3 }, devices: [0, 1] }],
    },
    "pods[0].holds.replicas: a multiple of the 2 devices: the exporter names a pod once for each replica",
  ],
  [
    "processes have values of their own on an unknown device",
    { pods: [{ ...POD, devices: undefined, processActivity: true }] },
    "pods[0].devices: given, because with processActivity the exporter names the pods on their devices",
  ],
  [
    "a pod has a whole GPU that is divided into partitions",
    { nodes: [{ ...NODE, partitions: { 0: 4 } }], pods: [POD] },
    "pods[0].devices[0]: { gpu, instance }: the GPU has partitions, and the exporter reports each one",
  ],
  [
    "a gang is in two namespaces",
    { pods: ["a", "b"].map((namespace) => ({ ...POD, namespace, gang: { group: "g", size: 2 } })) },
    "pods[1].gang.group: a group whose pods are in one namespace of one cluster, as a PodGroup is",
  ],
])("a scenario cannot be played if %s, and the key is reported", (_, given, problem) => {
  expect(problemsOf(given)).toEqual([problem]);
});
