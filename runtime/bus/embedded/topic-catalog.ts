import { BusError } from "../bus.ts";
import type { TopicDeclaration } from "../bus.ts";
import type { Storage, TopicRecord } from "./storage.ts";

/**
 * Creates missing topics, all or none, and updates the changeable settings of the others (retention, lag). Fails with `topic-mismatch` if a
 * topic has another number of partitions or another cleanup policy: neither ever changes.
 */
export async function declareTopics(storage: Storage, declarations: readonly TopicDeclaration[]): Promise<void> {
  await storage.write(() => {
    for (const declaration of declarations) checkDeclaration(declaration, storage.topics.get(declaration.name));
    let nextId = storage.topics.getCount();
    for (const declaration of declarations) {
      const id = storage.topics.get(declaration.name)?.id ?? nextId++;
      void storage.topics.put(declaration.name, { ...declaration, id });
    }
  });
}

/** Returns the topic of a name. Fails with `unknown-topic` if it was never declared. */
export function findTopic(storage: Storage, name: string): TopicRecord {
  const topic = storage.read(() => storage.topics.get(name));
  if (topic === undefined) {
    throw new BusError("unknown-topic", `There is no topic ${name}; declare it first.`, { retriable: false });
  }
  return topic;
}

function checkDeclaration(declaration: TopicDeclaration, existing: TopicRecord | undefined): void {
  if (existing === undefined) return;
  for (const trait of ["partitions", "cleanup"] as const) {
    if (existing[trait] === declaration[trait]) continue;
    throw new BusError(
      "topic-mismatch",
      `Topic ${declaration.name} has ${trait} ${existing[trait]}, not ${declaration[trait]}, and cannot be changed.`,
      { retriable: false },
    );
  }
}
