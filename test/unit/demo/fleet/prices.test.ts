import { describe, expect, it } from "vitest";
import { createFleet } from "../../../../demo/fleet/fleet.ts";
import type { FleetNode } from "../../../../demo/fleet/node.ts";
import { demoLedger } from "../../../../demo/fleet/prices.ts";
import { NAMESPACES, TEAMS } from "../../../../demo/fleet/teams.ts";
import { nodeLabels } from "../../../../demo/kubernetes/cluster/node-labels.ts";
import { readMachine } from "../../../../collectors/kubernetes/projection/node/labels.ts";
import { canonicalModel } from "../../../../domain/gpu-model/names.ts";
import { ownersOf } from "../../../../domain/owner/owners.ts";
import { examineBook } from "../../../../domain/price/examine.ts";
import { winnerAt, type PriceFacts } from "../../../../domain/price/match.ts";
import { rankEntries } from "../../../../domain/price/rank.ts";
import { ledgerOf } from "../../../../runtime/config/ledger.ts";
import { parseConfig } from "../../../../runtime/config/load.ts";

const MARCH = Date.UTC(2026, 2, 1);
const ledger = ledgerOf({ ...parseConfig("", { source: "test", folder: ".", env: {} }), ...demoLedger() });

/** The facts of a watcher about a node, from its labels. */
function factsOf(node: FleetNode): PriceFacts {
  const { instanceType, capacityType } = readMachine(nodeLabels(node));
  return {
    cluster: node.cluster,
    node: node.name,
    model: canonicalModel(node.model.name),
    ...(instanceType === undefined ? {} : { instanceType }),
    ...(capacityType === undefined ? {} : { capacityType }),
    labels: {},
  };
}

describe("the demo's ledger", () => {
  it("has a price for every node of fleets of two sizes, and uses every entry of its book", () => {
    const ranked = rankEntries(ledger.book.prices);
    const nodes = [96, 32].flatMap((gpus) => createFleet({ seed: 1, gpus }).nodes);
    // Advice compares the A100s with spot nodes, which the fleet does not have.
    const spotA100 = { ...nodes.find(({ name }) => name === "gpu-a100-01")!, capacityType: "spot" as const };
    const winners = [...nodes, spotA100].map((node) => winnerAt(ranked, factsOf(node), MARCH));
    expect(winners.map(({ kind }) => kind)).toEqual(winners.map(() => "priced"));
    expect(new Set(winners.flatMap((winner) => (winner.kind === "priced" ? [winner.entry.key] : []))).size).toBe(
      ledger.book.prices.length,
    );
    expect(examineBook(ledger.book)).toEqual([]);
  });

  it("has the team, the cost center, the project and the environment of every namespace", () => {
    for (const { name, team, labels } of NAMESPACES) {
      const namespaceMarks = { labels, annotations: {} };
      const none = { labels: {}, annotations: {} };
      const subject = { namespace: name, workload: "w", queue: "", pool: "", pod: none, owner: none };
      const { owners, refused } = ownersOf(ledger.owners, { ...subject, namespaceMarks }, MARCH);
      const { costCenter } = TEAMS.find((each) => each.name === team)!;
      expect([owners.team.value, owners.costCenter.value, refused]).toEqual([team, costCenter, []]);
      expect(["research", "products", "exploration"]).toContain(owners.project.value);
      expect(["production", "development"]).toContain(owners.environment.value);
    }
  });

  it("has a billing policy and others for comparison", () => {
    expect(ledger.policies.map(({ name, keep }) => [name, keep])).toEqual([
      ["showback", true],
      ["by-usage", true],
      ["all-in", true],
    ]);
  });
});
