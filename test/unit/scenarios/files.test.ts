import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { readScenario, ScenarioError } from "../../../scenarios/read.ts";
import { decodedFacts, decodedScrapes } from "../../support/played.ts";

const folder = mkdtempSync(join(tmpdir(), "scenario-files-"));
afterAll(() => rmSync(folder, { recursive: true }));

const HEAD = `title: files
period: { start: 2026-03-01T00:00:00Z, end: 2026-03-01T01:00:00Z }
scrapeInterval: 20m
`;
const NODE = (gpus: number): string => `apiVersion: v1
kind: Node
metadata: { name: gpu-a, uid: n-1, creationTimestamp: "2026-02-01T00:00:00Z", labels: { nvidia.com/gpu.count: "${gpus}" } }
status: { capacity: { nvidia.com/gpu: "${gpus}" } }
`;
const POD = `apiVersion: v1
kind: Pod
metadata:
  name: train-0
  namespace: ml
  creationTimestamp: "2026-03-01T00:10:00Z"
  ownerReferences: [{ apiVersion: batch/v1, kind: Job, name: train, controller: true }]
spec: { nodeName: gpu-a, containers: [{ name: c, resources: { limits: { nvidia.com/gpu: 1 } } }] }
`;
const JOB = `apiVersion: batch/v1
kind: Job
metadata: { name: train, namespace: ml, creationTimestamp: "2026-03-01T00:20:00Z", labels: { team: vision } }
`;
const PAGE = (host: string): string => `DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-${host}",Hostname="${host}"} 50\n`;
const at = (minutes: number): number => Date.UTC(2026, 2, 1, 0, minutes);

function write(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return name;
}

const scenarioOf = (text: string) => readScenario(HEAD + text, join(folder, "scenario.yaml"));

function problemsOf(text: string): readonly string[] {
  try {
    scenarioOf(text);
  } catch (error) {
    if (error instanceof ScenarioError) return error.problems.map(({ key, allowed }) => `${key}: ${allowed}`);
    throw error;
  }
  return [];
}

describe("objects of files", () => {
  it("are facts from their creation on, by the watcher's projection, with the owners in the same files", () => {
    write("node.yaml", NODE(2));
    write("work.yaml", `${POD}---\n${JOB}`);
    const facts = decodedFacts(scenarioOf("objects: [work.yaml, node.yaml]"));
    expect(facts).toMatchObject([
      {
        of: "inventory",
        fact: { node: "gpu-a", uid: "n-1", seenAtMillis: Date.UTC(2026, 1, 1), gpus: [{ count: 2 }] },
      },
      {
        of: "workload",
        fact: {
          name: "train-0",
          seenAtMillis: at(10),
          workload: { kind: "Job", name: "train" },
          labels: { team: "vision" },
        },
      },
    ]);
  });

  it("change at the times of dated files, and end when they are missing", () => {
    write("before.yaml", NODE(2));
    write("after.yaml", NODE(1));
    const { files, ...scenario } = scenarioOf(`objects:
  - { from: 2026-03-01T00:40:00Z, file: after.yaml }
  - before.yaml
  - { from: 2026-03-01T00:50:00Z, gone: [Node gpu-a] }
`);
    const facts = decodedFacts({ ...scenario, files: files! }).map(({ fact }) => fact);
    expect(facts.map(({ seenAtMillis, end }) => [seenAtMillis, end?.atMillis])).toEqual([
      [Date.UTC(2026, 1, 1), undefined],
      [at(40), undefined],
      [at(50), at(50)],
    ]);
    expect(facts.map((fact) => "gpus" in fact && fact.gpus[0]!.count)).toEqual([2, 1, 1]);
  });

  it("can be in the scenario itself, and are the same object by their name if they have no UID", () => {
    const text = NODE(4).replace("uid: n-1, ", "");
    const block = (each: string): string => `|\n${each.replaceAll(/^/gm, "      ")}`;
    const facts = decodedFacts(
      scenarioOf(
        `objects:\n  - file: ${block(text)}\n  - from: 2026-03-01T00:30:00Z\n    file: ${block(text.replaceAll('"4"', '"8"'))}`,
      ),
    );
    expect(new Set(facts.map(({ fact }) => fact.uid)).size).toBe(1);
    expect(facts).toMatchObject([{ fact: { gpus: [{ count: 4 }] } }, { fact: { gpus: [{ count: 8 }] } }]);
  });
});

describe("pages of files", () => {
  it("are scraped at each interval as their node's, with any host in them, and change at the times of dated ones", () => {
    write("page.prom", PAGE("some-pod"));
    const scrapes = decodedScrapes(
      scenarioOf("pages: { gpu-a: [{ file: page.prom }, { from: 2026-03-01T00:20:00Z, file: null }] }"),
    );
    expect(scrapes).toMatchObject([
      { node: "gpu-a", sequence: 0, shape: { devices: [{ gpu: "0" }] }, scrapedAtMillis: at(0) },
      { node: "gpu-a", sequence: 1, failure: { reason: "timeout" } },
      { node: "gpu-a", sequence: 2, failure: { reason: "timeout" } },
    ]);
  });

  it("belong to the hosts in them if no node is given, and to none before their first page", () => {
    write("federated.prom", PAGE("gpu-a") + PAGE("gpu-b"));
    write("one.prom", PAGE("gpu-c"));
    const scrapes = decodedScrapes(
      scenarioOf("pages: [federated.prom, [{ from: 2026-03-01T00:40:00Z, file: one.prom }]]"),
    );
    expect(scrapes.map(({ node, scrapedAtMillis }) => [node, scrapedAtMillis])).toEqual([
      ...[0, 20, 40].flatMap((minute) => [
        ["gpu-a", at(minute)],
        ["gpu-b", at(minute)],
      ]),
      ["gpu-c", at(40)],
    ]);
  });
});

describe("invalid files", () => {
  it("are reported with their keys: missing, without objects, or with an object that is gone before it existed", () => {
    write("wrong.yaml", "name: nothing\n---\n- 7\n");
    expect(
      problemsOf(`objects: [absent.yaml, wrong.yaml, { from: 2026-03-01, gone: [Pod ml/x] }]
pages: { gpu-a: nowhere.prom }`),
    ).toEqual([
      expect.stringMatching(/^objects\[0\]: absent\.yaml cannot be read: ENOENT/),
      "objects[1]: Kubernetes objects; document 1 is not a Kubernetes object: it has no kind",
      "objects[1]: Kubernetes objects; document 2, entry 1 is not a Kubernetes object: it is not an object",
      "objects[2].gone: an object of the files before, such as Pod ml/train-0",
      expect.stringMatching(/^pages\.gpu-a\[0\]: nowhere\.prom cannot be read: ENOENT/),
    ]);
  });
});
