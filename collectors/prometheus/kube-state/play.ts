import type { FactEnd } from "../../../domain/fact.ts";
import type { Sight } from "../../kubernetes/watcher/fact-registry.ts";
import type { Projector } from "../../kubernetes/watcher/projector.ts";
import type { SeenObject } from "../../kubernetes/watcher/seen-object.ts";
import type { Life } from "./lives.ts";

/** A life of an object, ready to be projected. */
export interface Played {
  /** The name of the resource in kubectl. */
  readonly resource: string;
  readonly uid: string;
  readonly life: Life;
  /** Times of the object itself, in addition to those of samples; milliseconds since the epoch. */
  readonly moments: readonly number[];
  /** Returns the object at a time. */
  readonly objectAt: (atMillis: number) => SeenObject;
  /**
   * The object ends with the import even if it still exists, because its UID is made up: the watcher's fact of the same object has another
   * key, and both would count as existing.
   */
  readonly endsWithImport?: boolean;
}

/**
 * Projects an object at each time at which it or its series change, and its end. No fact is before `fromMillis`, the beginning of the
 * import. The version of a fact is its time, so that a repeated import is identical.
 */
export async function play(projector: Projector, played: Played, fromMillis: number): Promise<void> {
  const { resource, uid, life, objectAt, endsWithImport = false } = played;
  const { firstMillis, lastMillis } = life.states;
  const moments = new Set([firstMillis, ...played.moments, ...life.states.changes()]);
  const inLife = [...moments].filter((at) => at >= fromMillis && at <= lastMillis);
  for (const at of inLife.toSorted((a, b) => a - b)) await projector.take(resource, objectAt(at), sightAt(at));
  const goneMillis = life.goneMillis ?? (endsWithImport ? lastMillis : undefined);
  if (goneMillis === undefined) return;
  const end: FactEnd = { atMillis: goneMillis, inferred: true };
  projector.gone(resource, uid, end, sightAt(goneMillis));
}

function sightAt(atMillis: number): Sight {
  return { resourceVersion: String(Math.round(atMillis)), atMillis };
}
