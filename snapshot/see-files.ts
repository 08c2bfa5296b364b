import { readManifest } from "../collectors/kubernetes/manifest.ts";
import { nameOfObject } from "../collectors/kubernetes/projection/kube-object.ts";
import { readWithin, withUid } from "../scenarios/files.ts";
import type { Seen, SeenExporter, SeenObject } from "./seen.ts";

/** The files of a cluster. */
export interface SeenFiles {
  /** Paths of Kubernetes objects in YAML or JSON, such as the output of `kubectl get -A -o yaml`. */
  readonly objects: readonly string[];
  /** Paths of exporters' pages, each alone or as `NODE=PATH`. */
  readonly pages: readonly string[];
  /** The time to which the files belong, milliseconds since the epoch. */
  readonly atMillis: number;
}

/** Returns what files show of a cluster, or a sentence about each mistake. */
export function seeFiles({ objects, pages, atMillis }: SeenFiles): Seen | { readonly problems: readonly string[] } {
  const problems: string[] = [];
  const read = (option: string, path: string): Buffer | undefined => {
    const file = readWithin(path);
    if ("bytes" in file) return file.bytes;
    problems.push(`${option} ${path}: the file ${file.why}`);
    return undefined;
  };
  const found = new Map<string, SeenObject>();
  for (const path of objects) {
    const text = read("--objects", path);
    if (text === undefined) continue;
    const manifest = readManifest(text.toString("utf8"));
    for (const { what, why } of manifest.ignored)
      problems.push(`--objects ${path}: ${what} is not a Kubernetes object: ${why}`);
    for (const object of manifest.objects) found.set(nameOfObject(object), withUid(object));
  }
  const exporters = pages.flatMap((given): readonly SeenExporter[] => {
    const [, node, path] = /^(?:([a-z0-9][a-z0-9.-]*)=)?(.*)$/s.exec(given)! as unknown as [string, string?, string?];
    const page = read("--pages", path!);
    return page === undefined ? [] : [{ target: path!, node, readings: [{ atMillis, page: () => page }] }];
  });
  return problems.length > 0 ? { problems } : { atMillis, objects: [...found.values()], exporters, unseen: [] };
}
