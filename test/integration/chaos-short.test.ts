import { expect, it } from "vitest";
import { runChaos } from "../support/chaos.ts";

it("no page is lost or stored twice while parts are killed: a short round", { timeout: 180_000 }, async () => {
  const outcome = await runChaos({ kills: 6, targets: 6, seed: 7 });
  expect(outcome.kills).toBe(6);
  expect(outcome.stored).toBeGreaterThan(outcome.kills);
});
