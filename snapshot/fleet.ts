import type { UsageHour } from "../domain/allocation/usage-hour.ts";
import type { CountedBy } from "../domain/inventory.ts";

/** Physical GPUs of one model with one source of their count. */
export interface FleetLine {
  /** Empty if nothing names the model. */
  readonly model: string;
  readonly countedBy: CountedBy;
  readonly nodes: number;
  readonly gpus: number;
}

/** Returns the physical GPUs of an hour by model and by the source of their count, most GPUs first. */
export function fleetOf(usage: readonly UsageHour[]): readonly FleetLine[] {
  const lines = new Map<string, { model: string; countedBy: CountedBy; nodes: Set<string>; gpus: Set<string> }>();
  for (const { node, slot, segment, machine } of usage) {
    const { model = "" } = segment.gpu;
    const countedBy = machine.counted?.[0]?.countedBy ?? "samples";
    const key = `${model} ${countedBy}`;
    const line = lines.get(key) ?? { model, countedBy, nodes: new Set(), gpus: new Set() };
    lines.set(key, line);
    line.nodes.add(node);
    line.gpus.add(`${node} ${slot}`);
  }
  return [...lines.values()]
    .map((line) => ({ ...line, nodes: line.nodes.size, gpus: line.gpus.size }))
    .toSorted((one, other) => other.gpus - one.gpus || (one.model < other.model ? -1 : 1));
}
