import { expect, it } from "vitest";
import { parseConfig } from "../../../runtime/config/load.ts";
import { projectionOf } from "../../../services/projection.ts";
import { projecting } from "../../support/kubernetes/projecting.ts";

const RULES = `
owners: { team: [{ namespaceLabel: example.com/payer }] }
kubernetes: { annotations: [cost-center] }
`;

it("400 changes of an annotation of a namespace that no rule reads are one fact; a change of one that a rule reads is another", async () => {
  const config = parseConfig(RULES, { source: "the test", folder: ".", env: {} });
  const { take, others } = projecting(projectionOf(config));
  const namespace = (annotations: object): object => ({
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: "research", uid: "ns-1", labels: { team: "vision" }, annotations },
  });
  const read = { "example.com/payer": "vision", "cost-center": "7", "gpu-ledger/exempt": "no-priority-class" };
  for (let count = 0; count < 400; count += 1)
    await take("namespaces", namespace({ ...read, "operator.example.com/heartbeat": String(count) }));
  await take("namespaces", namespace({ ...read, "example.com/payer": "speech" }));
  expect(others.map((fact) => fact.kind === "Namespace" && fact.body)).toEqual([
    { labels: { team: "vision" }, annotations: read },
    { labels: { team: "vision" }, annotations: { ...read, "example.com/payer": "speech" } },
  ]);
});
