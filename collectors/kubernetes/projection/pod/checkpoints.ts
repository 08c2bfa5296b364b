import type { CheckpointEvidence } from "../../../../domain/workload.ts";
import type { PodObject } from "../pod-object.ts";
import { objects, text, texts } from "../wire.ts";

const NAMES = /checkpoint|ckpt/i;
/** The most characters of a text that are searched. An argument can be a whole program. */
const MOST_CHARACTERS = 64 * 1024;

/**
 * Returns where a pod names checkpoints: in an argument, an environment variable, a mount or volume, or a label or annotation; `none` if
 * nowhere. It is evidence and no proof: a program can write checkpoints that its pod does not name.
 */
export function checkpointsOf({ metadata, spec }: PodObject): CheckpointEvidence | "none" {
  const containers = [...objects(spec?.initContainers), ...objects(spec?.containers)];
  if (containers.some(({ command, args }) => names([...listOf(command), ...listOf(args)]))) return "argument";
  if (containers.some(({ env }) => names(objects(env).flatMap(({ name, value }) => [name, value]))))
    return "environment";
  const mounts = containers.flatMap(({ volumeMounts }) => objects(volumeMounts));
  const volumes = objects(spec?.volumes);
  const places = [
    ...mounts.flatMap(({ name, mountPath }) => [name, mountPath]),
    ...volumes.flatMap(({ name, persistentVolumeClaim }) => [name, persistentVolumeClaim?.claimName]),
  ];
  if (names(places)) return "mount";
  const marks = [texts(metadata?.labels), texts(metadata?.annotations)];
  return marks.some((map) => names(Object.keys(map))) ? "mark" : "none";
}

function names(values: readonly unknown[]): boolean {
  return values.some((value) => NAMES.test(text(value)?.slice(0, MOST_CHARACTERS) ?? ""));
}

function listOf(value: readonly string[] | null | undefined): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
