import { expect, it } from "vitest";
import { runChaos } from "../support/chaos.ts";

const KILLS = 50;

it("loses and doubles nothing over 100 kills at random moments, of two systems beside each other", async () => {
  const seed = Number(process.env["CHAOS_SEED"] ?? Date.now() % 1_000_000);
  const rounds = [seed, seed + 1].map((each) => runChaos({ kills: KILLS, targets: 12, seed: each }));
  for (const outcome of await Promise.all(rounds)) {
    process.stdout.write(`chaos: seed ${seed}, ${JSON.stringify(outcome)}\n`);
    expect(outcome.kills).toBe(KILLS);
    // More than a page for each kill, on the slowest machine too.
    expect(outcome.stored).toBeGreaterThan(KILLS);
  }
});
