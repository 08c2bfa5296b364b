import type { Fleet } from "../../fleet/fleet.ts";
import type { KubernetesObject } from "../server/object.ts";
import type { ApiServer } from "../server/server.ts";
import { objectsAt, type ClusterOptions } from "./objects.ts";

/** Keeps a server's objects equal to the fleet's cluster. */
export interface ClusterDriver {
  /** Applies all changes up to a time, which may not go back. Returns the number of changes. */
  moveTo(timeMillis: number): number;
  /** Moves on with the clock from now on, until it is stopped. */
  start(): void;
  stop(): void;
}

/** The functions of a server that the driver needs. */
export type DrivenServer = Pick<ApiServer, "put" | "delete">;

/**
 * Creates a driver of a server by a fleet and a clock. Ended objects are deleted first, so that their names are free for new ones. An
 * object with a new UID is deleted and created, as the API requires.
 */
export function createClusterDriver(
  fleet: Fleet,
  server: DrivenServer,
  clock: () => number,
  options: ClusterOptions & { readonly stepMillis?: number } = {},
): ClusterDriver {
  let known = new Map<string, { readonly object: KubernetesObject; readonly text: string }>();
  let timer: NodeJS.Timeout | undefined;
  let last = -Infinity;

  function moveTo(timeMillis: number): number {
    if (timeMillis < last) throw new RangeError("a cluster's time does not go back");
    last = timeMillis;
    const next: typeof known = new Map();
    for (const object of objectsAt(fleet, timeMillis, options))
      next.set(nameOf(object), { object, text: JSON.stringify(object) });
    let changes = 0;
    for (const [name, { object }] of known) {
      if (next.get(name)?.object.metadata.uid === object.metadata.uid) continue;
      server.delete(object);
      changes += 1;
    }
    for (const [name, { object, text }] of next) {
      if (known.get(name)?.text === text) continue;
      server.put(object);
      changes += 1;
    }
    known = next;
    return changes;
  }

  return {
    moveTo,
    start() {
      moveTo(clock());
      timer ??= setInterval(() => moveTo(Math.max(last, clock())), options.stepMillis ?? 1000).unref();
    },
    stop() {
      clearInterval(timer);
      timer = undefined;
    },
  };
}

function nameOf({ apiVersion, kind, metadata: { namespace = "", name } }: KubernetesObject): string {
  return `${apiVersion} ${kind} ${namespace}/${name}`;
}
