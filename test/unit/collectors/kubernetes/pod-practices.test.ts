import { describe, expect, it } from "vitest";
import { readPodCompute } from "../../../../collectors/kubernetes/projection/pod/compute.ts";
import { checkpointsOf } from "../../../../collectors/kubernetes/projection/pod/checkpoints.ts";
import { unpinnedImages } from "../../../../collectors/kubernetes/projection/pod/images.ts";
import type { ContainerObject, PodSpecObject } from "../../../../collectors/kubernetes/projection/pod-object.ts";
import { projectPod } from "../../../../collectors/kubernetes/projection/pod.ts";
import { ALONE, pod } from "../../../support/kube-objects.ts";

const asking = (requests: object, limits: object = {}): ContainerObject => ({
  resources: { requests, limits } as NonNullable<ContainerObject["resources"]>,
});
const gpuPod = (spec: Partial<PodSpecObject>, metadata = {}) =>
  pod({
    metadata,
    spec: { containers: [{ name: "main", resources: { limits: { "nvidia.com/gpu": 1 } } }], ...spec },
  });

describe("the CPU and memory of a pod", () => {
  it.each<readonly [string, PodSpecObject, object]>([
    ["are absent if no container asks", { containers: [{}] }, {}],
    [
      "are the sums of the containers",
      { containers: [asking({ cpu: "500m", memory: "1Gi" }), asking({ cpu: 2, memory: "512Mi" })] },
      { cpuRequestMillicores: 2_500, memoryRequestBytes: 1_610_612_736 },
    ],
    [
      "are those of the largest init container if it asks for more",
      { initContainers: [asking({ cpu: "8" })], containers: [asking({ cpu: "2" })] },
      { cpuRequestMillicores: 8_000 },
    ],
    [
      "have no limit if one container has none",
      { containers: [asking({}, { cpu: "4", memory: "8Gi" }), asking({}, { cpu: "1" })] },
      { cpuLimitMillicores: 5_000 },
    ],
    [
      "are those of the whole pod if it has some",
      { resources: { requests: { cpu: "3" } }, containers: [asking({ cpu: "1", memory: "1Ki" })] },
      { cpuRequestMillicores: 3_000, memoryRequestBytes: 1_024 },
    ],
    ["are absent if they are no quantities", { containers: [asking({ cpu: "many", memory: {} })] }, {}],
    ["are absent if they are too large for a number", { containers: [asking({ cpu: "9Ei", memory: "9E99" })] }, {}],
  ])("%s", (_, spec, expected) => {
    expect(readPodCompute(spec)).toEqual(expected);
  });
});

describe("images that are not pinned", () => {
  it("are those without a digest and without a tag other than latest", () => {
    const images = [
      "a/b",
      "a/b:latest",
      "a/b:1.2",
      "host:5000/a",
      "host:5000/a:2",
      "a/b@sha256:00",
      "a:latest@sha256:1",
    ];
    expect(unpinnedImages({ containers: images.map((image) => ({ image })) })).toEqual([
      "a/b",
      "a/b:latest",
      "host:5000/a",
    ]);
  });

  it("are at most five, with at most 256 characters each, and init containers count", () => {
    const long = "x".repeat(100_000);
    const spec = {
      initContainers: [{ image: long }],
      containers: Array.from({ length: 50 }, (_, index) => ({ image: `a/${index}` })),
    };
    expect(unpinnedImages(spec)).toHaveLength(5);
    expect(unpinnedImages({ initContainers: [{ image: long }] })[0]).toHaveLength(256);
  });
});

describe("the evidence of checkpoints", () => {
  it.each<readonly [string, Parameters<typeof checkpointsOf>[0]]>([
    ["argument", gpuPod({ containers: [{ args: ["--save-dir", "/data/Checkpoints"] }] })],
    ["argument", gpuPod({ containers: [{ command: ["python", "train.py", "--ckpt-every=100"] }] })],
    ["environment", gpuPod({ containers: [{ env: [{ name: "CHECKPOINT_PATH", value: "s3://bucket" }] }] })],
    ["environment", gpuPod({ initContainers: [{ env: [{ name: "OUT", value: "/ckpt" }] }] })],
    ["mount", gpuPod({ containers: [{ volumeMounts: [{ name: "data", mountPath: "/checkpoints" }] }] })],
    ["mount", gpuPod({ volumes: [{ name: "v", persistentVolumeClaim: { claimName: "llm-checkpoints" } }] })],
    ["mark", gpuPod({}, { annotations: { "training.example/checkpoint-uri": "" } })],
    ["none", gpuPod({ containers: [{ args: ["--epochs", "3"], env: [{ name: "OUT", value: "/data" }] }] })],
  ])("is %s", (expected, object) => {
    expect(checkpointsOf(object)).toBe(expected);
  });

  it("is read from the beginning of a text that is a whole program", () => {
    const object = gpuPod({ containers: [{ args: [`${"x".repeat(100_000)} checkpoint`] }] });
    expect(checkpointsOf(object)).toBe("none");
  });
});

describe("the deadline of a pod", () => {
  const job = { apiVersion: "batch/v1", kind: "Job", name: "train", uid: "job-1", controller: true };
  const owned = (spec: Partial<PodSpecObject>) => gpuPod(spec, { ownerReferences: [job] });
  const deadlineOf = (object: ReturnType<typeof owned>, ofJob?: number): number | undefined =>
    projectPod(object, {
      ...ALONE,
      lookup: () => (ofJob === undefined ? {} : { deadlineSeconds: ofJob }),
    })!.fact.deadlineSeconds;

  it("is the pod's own, or else that of its Job", () => {
    expect(deadlineOf(owned({ activeDeadlineSeconds: 60 }), 3_600)).toBe(60);
    expect(deadlineOf(owned({}), 3_600)).toBe(3_600);
    expect(deadlineOf(owned({}))).toBeUndefined();
  });
});

it("keeps exemptions from practices and the mark of restartable trainings, whatever labels the configuration names", () => {
  const marks = { "gpu-ledger/exempt": "image-not-pinned", "gpu-ledger/restartable": "true" };
  const { labels, annotations } = projectPod(gpuPod({}, { labels: { ...marks, app: "x" } }), ALONE)!.fact;
  expect({ labels, annotations }).toEqual({ labels: marks, annotations: {} });
});
