import { readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { resourceNamesOf, type ResourceNames } from "../collectors/kubernetes/projection/gpu-resource.ts";
import { millisOf } from "../collectors/kubernetes/projection/time.ts";
import { nameOfObject, type KubeObject } from "../collectors/kubernetes/projection/kube-object.ts";
import { readManifest } from "../collectors/kubernetes/manifest.ts";
import type { FileProblem } from "../runtime/config/file-problem.ts";
import { uuidOf } from "./play/identity.ts";
import type { WrittenScenario } from "./shape.ts";

/** The size limit of a scenario's files, its own file included. */
const MOST_FILE_BYTES = 64_000_000;

/** A Kubernetes object with its UID, in its state from a time on. */
export interface DatedObject {
  readonly atMillis: number;
  readonly object: KubeObject & { readonly metadata: { readonly uid: string } };
  /** True if the object is gone from this time on. */
  readonly isGone?: true;
}

/** An exporter with its pages in order; undefined while it does not answer. */
export interface PageSource {
  /** The node that the scenario names for it; undefined if the page itself names its hosts. */
  readonly node: string | undefined;
  readonly states: readonly { readonly from: number; readonly page: Buffer | undefined }[];
}

/** The content of the files that a scenario names. */
export interface ScenarioFiles {
  /** The cluster of the objects and pages. */
  readonly cluster: string;
  /** The order is by time. */
  readonly objects: readonly DatedObject[];
  readonly pages: readonly PageSource[];
  /** The scenario's meanings of resource names. */
  readonly resourceNames: ResourceNames;
}

const CLUSTER = "default";

/**
 * Reads the files that a scenario names, from the folder of its own file. A text of several lines is not a name but the content of a file.
 */
export function readScenarioFiles(
  scenario: WrittenScenario,
  source: string,
): { readonly files: ScenarioFiles } | { readonly problems: readonly FileProblem[] } {
  const problems: FileProblem[] = [];
  const read = (key: string, name: string): Buffer | undefined => {
    if (name.includes("\n")) return Buffer.from(name);
    const file = readWithin(resolve(dirname(source), name));
    if ("bytes" in file) return file.bytes;
    problems.push({ key, allowed: `${name} ${file.why}` });
    return undefined;
  };
  const objects = readObjects(scenario, read, problems);
  const pages = scenario.pages.map(({ node, states }, index): PageSource => ({
    node,
    states: states
      .map(({ from = -Infinity, file }, position) => ({
        from,
        page:
          file === null ? undefined : read(`pages${node === undefined ? `[${index}]` : `.${node}`}[${position}]`, file),
      }))
      .toSorted((a, b) => a.from - b.from),
  }));
  if (problems.length > 0) return { problems };
  const { gpuResources, hami } = scenario.kubernetes;
  return { files: { cluster: CLUSTER, objects, pages, resourceNames: resourceNamesOf(gpuResources, hami) } };
}

/** Returns a file's bytes, or the reason of a failure, as the end of a sentence about the file. */
export function readWithin(path: string): { readonly bytes: Buffer } | { readonly why: string } {
  try {
    if (statSync(path).size > MOST_FILE_BYTES) return { why: `is larger than ${MOST_FILE_BYTES / 1e6} MB` };
    return { bytes: readFileSync(path) };
  } catch (error) {
    return { why: `cannot be read: ${error instanceof Error ? error.message : String(error)}` };
  }
}

function readObjects(
  { objects, period }: WrittenScenario,
  read: (key: string, name: string) => Buffer | undefined,
  problems: FileProblem[],
): readonly DatedObject[] {
  const dated: DatedObject[] = [];
  for (const [index, entry] of objects.entries()) {
    const key = `objects[${index}]`;
    if ("gone" in entry) {
      for (const name of entry.gone) {
        const last = dated.findLast(({ object }) => nameOfObject(object) === name);
        if (last === undefined)
          problems.push({
            key: `${key}.gone`,
            value: name,
            allowed: "an object of the files before, such as Pod ml/train-0",
          });
        else dated.push({ ...last, atMillis: entry.from, isGone: true });
      }
      continue;
    }
    const text = read(key, entry.file);
    if (text === undefined) continue;
    const manifest = readManifest(text.toString("utf8"));
    for (const { what, why } of manifest.ignored)
      problems.push({ key, allowed: `Kubernetes objects; ${what} is not a Kubernetes object: ${why}` });
    for (const object of manifest.objects) {
      const created = millisOf(object.metadata?.creationTimestamp) ?? period.start;
      dated.push({ atMillis: Math.max(entry.from ?? created, created), object: withUid(object) });
    }
  }
  return dated.toSorted((a, b) => a.atMillis - b.atMillis);
}

/** Returns an object with a UID. Written objects can lack one. Then those of one kind and name are the same object. */
export function withUid(object: KubeObject): DatedObject["object"] {
  const { metadata } = object;
  return { ...object, metadata: { ...metadata, uid: metadata?.uid ?? uuidOf("object", nameOfObject(object)) } };
}

/** A scenario with what stands in the files that it names. */
export type Scenario = WrittenScenario & { readonly files?: ScenarioFiles };
