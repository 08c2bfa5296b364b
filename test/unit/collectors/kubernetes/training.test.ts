import { expect, it } from "vitest";
import { projectClusterObject } from "../../../../collectors/kubernetes/projection/cluster-fact.ts";
import { projectPod } from "../../../../collectors/kubernetes/projection/pod.ts";
import { decodeClusterFact, decodeWorkload } from "../../../../domain/messages/fact-message.ts";
import { objectFacts } from "../../../../scenarios/play/object-facts.ts";
import { ALONE, container, pod } from "../../../support/kube-objects.ts";

const spec = { nodeName: "gpu-a", containers: [container({ "nvidia.com/gpu": 1 })] };

/** A pod whose training reports itself in annotations. */
const reporting = (annotations: Readonly<Record<string, string>>, metadata = {}) =>
  pod({ spec, metadata: { annotations, ...metadata } });

it("a report of a training is in the fact of its pod, and apart from the kept annotations", () => {
  const { fact } = projectPod(reporting({ "gpu-ledger/step": "10" }), ALONE)!;
  expect(fact.training).toEqual({ step: 10 });
  expect(fact.annotations).toEqual({});
  expect(projectPod(reporting({}), ALONE)!.fact).not.toHaveProperty("training");
});

it("a pod's own report comes before that of its owner", () => {
  const owner = { apiVersion: "batch/v1", kind: "Job", name: "train", uid: "job-1" };
  const annotations = { "gpu-ledger/step": "1", "gpu-ledger/parameters": "7e9" };
  const { fact } = projectPod(reporting({ "gpu-ledger/step": "10" }, { ownerReferences: [owner] }), {
    ...ALONE,
    lookup: () => ({ annotations }),
  })!;
  expect(fact.training).toEqual({ step: 10, parameters: 7_000_000_000 });
});

it("each change of a report is a fact", () => {
  const objects = ["1", "1", "2"].map((step, index) => ({
    atMillis: 1000 * (index + 1),
    object: reporting({ "gpu-ledger/step": step }) as never,
  }));
  const { messages } = objectFacts({ cluster: "test", objects, resourceNames: new Map() }, 1);
  const facts = messages.map(({ value }) => decodeWorkload(value));
  expect(facts).toMatchObject([
    { training: { step: 1 }, seenAtMillis: 1000 },
    { training: { step: 2 }, seenAtMillis: 3000 },
  ]);
});

/** A TrainJob with a status of Kubeflow Trainer. */
const trainJob = (trainerStatus: object) => ({
  apiVersion: "trainer.kubeflow.org/v1alpha1",
  kind: "TrainJob",
  metadata: { name: "llama", namespace: "ml", uid: "t-1" },
  status: { trainerStatus },
});

it("a TrainJob has a fact for each percentage, with the time of its first report", () => {
  const reports = [
    ["40", 40],
    ["41", 40],
    ["42", 35],
  ].map(([minute, progressPercentage]) => ({
    progressPercentage,
    lastUpdatedTime: `2026-03-02T08:${minute}:00Z`,
  }));
  const objects = reports.map((status, index) => ({ atMillis: 1000 * (index + 1), object: trainJob(status) as never }));
  const { messages } = objectFacts({ cluster: "test", objects, resourceNames: new Map() }, 1);
  expect(messages.map(({ value }) => decodeClusterFact(value))).toMatchObject([
    { kind: "TrainJob", uid: "t-1", body: { progress: 40, since: Date.parse("2026-03-02T08:40:00Z") } },
    { kind: "TrainJob", uid: "t-1", body: { progress: 35, since: Date.parse("2026-03-02T08:42:00Z") } },
  ]);
});

it("a TrainJob without progress, or with another than a percentage, has no fact", () => {
  for (const status of [{}, { progressPercentage: 101 }, { progressPercentage: -1 }, { progressPercentage: "40" }])
    expect(projectClusterObject(trainJob(status) as never)).toBeUndefined();
});
