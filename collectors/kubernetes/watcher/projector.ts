import type { FactEnd } from "../../../domain/fact.ts";
import type { Sight } from "./fact-registry.ts";
import { takeNode } from "./project-nodes.ts";
import { endOther, takeOther, withBudgets } from "./project-others.ts";
import { endPod, takePod } from "./project-pods.ts";
import { createProjectorState, type ProjectorOptions } from "./projector-state.ts";
import type { SeenObject } from "./seen-object.ts";

/** Projects objects to facts and writes them into the registries. */
export interface Projector {
  /** Takes the current state of an object. Resolves when its fact is in the registries. `resource` is the name in kubectl. */
  take(resource: string, object: SeenObject, sight: Sight): Promise<void> | undefined;
  /** Records that an object no longer exists. */
  gone(resource: string, uid: string, end: FactEnd, sight: Sight): void;
  /** Records that all objects of a resource have been taken. */
  listed(resource: string, atMillis: number): void;
}

/** The PodDisruptionBudgets. Without their list, a pod without a budget and a pod with an unknown one are the same. */
const BUDGETS = "poddisruptionbudgets.policy";

/** Creates a projector for one term. The remarks on an object are reported once for each fact of it. */
export function createProjector(options: ProjectorOptions): Projector {
  const state = createProjectorState(options);
  const { registries, pulls, machines, budgets } = state;
  return {
    take(resource, object, sight) {
      if (resource === "pods") return takePod(state, object, sight);
      if (resource === "events") {
        const uid = pulls.take(object);
        if (uid !== undefined) registries.workloads.amend(uid, sight.atMillis, (body) => pulls.addTo(body));
        return undefined;
      }
      if (resource === "nodes") takeNode(state, object, sight);
      else takeOther(state, resource, object, sight);
      return undefined;
    },
    gone(resource, uid, end, sight) {
      if (resource === "pods") endPod(state, uid, end, sight);
      else if (resource === "nodes") {
        machines.dropNode(uid);
        registries.inventory.end(uid, end, sight);
      } else if (resource !== "events") endOther(state, uid, end, sight);
    },
    listed(resource, atMillis) {
      if (resource === "pods") state.arePodsListed = true;
      if (resource === BUDGETS) withBudgets(state, budgets.setKnown(), atMillis);
    },
  };
}
