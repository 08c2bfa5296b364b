import { describe, expect, it } from "vitest";
import { DEFAULT_POLICY } from "../../../../domain/policy/policy.ts";
import { provisionalSentence } from "../../../../reports/report/provisional.ts";

const spreading = (name: string, window: "hour" | "day" | "period") => ({
  ...DEFAULT_POLICY,
  name,
  payers: { ...DEFAULT_POLICY.payers, unallocated: "spread" as const },
  spread: { ...DEFAULT_POLICY.spread, window },
});

describe("the provisional part of a report", () => {
  it("is the part that policies spread over more than an hour, with the names of the policies", () => {
    expect(provisionalSentence([DEFAULT_POLICY, spreading("hourly", "hour")])).toBeUndefined();
    expect(provisionalSentence([{ ...DEFAULT_POLICY, spread: spreading("x", "day").spread }])).toBeUndefined();
    expect(provisionalSentence([DEFAULT_POLICY, spreading("daily", "day"), spreading("all-in", "period")])).toBe(
      "Provisional: the policies daily and all-in will spread some costs over a day or the billing period. Until this time is over and the period is closed, the owner of the node pool pays these costs, or else the platform.",
    );
  });
});
