import type { InventoryFact } from "../../../domain/inventory.ts";
import { projectNode } from "../projection/node.ts";
import { given } from "../projection/wire.ts";
import type { FactBody, Sight } from "./fact-registry.ts";
import type { KnownNode } from "./machines.ts";
import type { ProjectorState } from "./projector-state.ts";
import type { SeenObject } from "./seen-object.ts";

/** Projects a node. */
export function takeNode(state: ProjectorState, object: SeenObject, sight: Sight): void {
  const { machines, registries, others, arePodsListed, projection, nodes, onRemarks } = state;
  const { uid } = object.metadata;
  machines.takeNode(object, sight.resourceVersion);
  const former = registries.inventory.latest(uid);
  const cordonedSeenMillis = former?.cordonedSince ?? sight.atMillis;
  const slices = machines.slicesOf(object.metadata.name ?? "");
  const ofPods = arePodsListed ? others.of(object.metadata.name ?? "", sight.atMillis) : former?.others;
  const resident = given({ others: ofPods });
  const projected = projectNode(object, { ...projection.nodes, cordonedSeenMillis, slices, ...resident });
  if (projected === undefined) {
    registries.inventory.end(uid, { atMillis: sight.atMillis, inferred: false }, sight);
    return;
  }
  if (projected.remarks.length > 0) onRemarks(object, projected.remarks);
  nodes.set(projected.fact.node, uid);
  const { devicePluginVersion, exporterVersion } = former ?? {};
  const body = { ...projected.fact, ...given({ devicePluginVersion, exporterVersion }) } as FactBody<InventoryFact>;
  registries.inventory.report(withPrograms(state, body), sight);
}

/** Projects nodes again whose slices have different devices than before. */
export function countAgain(state: ProjectorState, changed: readonly KnownNode[], atMillis: number): void {
  for (const { object, resourceVersion } of changed) takeNode(state, object, { resourceVersion, atMillis });
}

/** Adds the versions of the programs on a node. */
export function withPrograms(
  { plugins, exporters }: ProjectorState,
  fact: FactBody<InventoryFact>,
): FactBody<InventoryFact> {
  const devicePluginVersion = plugins.get(fact.node) ?? fact.devicePluginVersion;
  const exporterVersion = exporters.get(fact.node) ?? fact.exporterVersion;
  return { ...fact, ...given({ devicePluginVersion, exporterVersion }) } as FactBody<InventoryFact>;
}
