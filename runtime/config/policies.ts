import { z } from "zod";
import { DEFAULT_POLICY, type Policy } from "../../domain/policy/policy.ts";
import { flag, oneOf, text } from "./words.ts";

const payer = oneOf("holder", "platform");
const freePayer = oneOf("platform", "spread", "owner");
const { payers, spread } = DEFAULT_POLICY;

/** The schema of a policy. Missing keys get the values of {@link DEFAULT_POLICY}. */
export const policy = z.strictObject({
  name: text("a policy's name").describe("Bills are named by it."),
  billing: flag.default(false).describe("Statements follow it. Exactly one does; the first where none says so."),
  keep: flag.default(false).describe("Its bills are kept beside the billing policy's, to be compared at any time."),
  basis: oneOf("allocation", "usage", "max")
    .default("allocation")
    .describe("What is counted: held, used, or the larger."),
  migShare: oneOf("max", "compute", "memory").default("max").describe("What makes a MIG instance's share of its GPU."),
  sharedBy: oneOf("replica", "occupant", "usage")
    .default("replica")
    .describe("How a time-sliced GPU, or one with MPS, is divided."),
  payers: z
    .strictObject({
      idle: payer.optional().describe("The holder; by usage the platform."),
      unobserved: payer.default(payers.unobserved),
      starting: payer.default(payers.starting),
      waiting: payer.default(payers.waiting),
      unallocated: freePayer.default(payers.unallocated),
      stranded: freePayer.default(payers.stranded),
      unavailable: freePayer.default(payers.unavailable),
    })
    .prefault({})
    .describe(
      "Who pays for each state. `owner` is whoever owns the node pool by the rules of `owners`, else the platform.",
    ),
  spread: z
    .strictObject({
      over: oneOf("node", "pool", "model", "cluster").default(spread.over).describe("Whose holders share the cost."),
      by: oneOf("cost", "time", "even", "quota")
        .default(spread.by)
        .describe("Their weights; `quota` is what nobody holds of the quotas of a team's namespaces."),
      window: oneOf("hour", "day", "period").default(spread.window).describe("In which time they held."),
    })
    .prefault({})
    .describe("How what is spread is divided."),
});

/** A policy of a configuration or a scenario. */
export type WrittenPolicy = z.output<typeof policy>;

/** Adds issues between valid policies: two with the same name, two billing policies, an idle holder with basis `usage`. */
export function checkPolicies(policies: readonly WrittenPolicy[], context: z.RefinementCtx): void {
  const complain = (path: PropertyKey[], message: string): void =>
    context.addIssue({ code: "custom", path: ["policies", ...path], message });
  policies.forEach(({ name, basis, payers: { idle }, spread: { over, by, window } }, index) => {
    if (policies.findIndex((other) => other.name === name) < index)
      complain([index, "name"], "a name that no other policy has");
    if (basis === "usage" && idle === "holder")
      complain([index, "payers", "idle"], "platform, or left out: by usage the platform pays what is idle");
    if (by === "quota" && over !== "cluster")
      complain([index, "spread", "over"], "cluster: a quota is of a cluster, not of its nodes");
    if (by === "quota" && window !== "hour")
      complain([index, "spread", "window"], "hour: quotas are compared hour by hour");
  });
  const billing = policies.filter((each) => each.billing).map(({ name }) => name);
  if (billing.length > 1) complain([], `policies of which one is the billing one: ${billing.join(" and ")} are`);
}

/** A policy of a configuration, as the ledger applies it. */
export interface ConfiguredPolicy extends Policy {
  /** Whether its bills are kept. Those of the billing policy always are. */
  readonly keep: boolean;
}

/** Returns the policies, the billing policy first; only the default if none is written. */
export function policiesOf(written: readonly WrittenPolicy[]): readonly [ConfiguredPolicy, ...ConfiguredPolicy[]] {
  const billing = written.find((each) => each.billing) ?? written[0];
  if (billing === undefined) return [{ ...DEFAULT_POLICY, keep: true }];
  const others = written.filter((each) => each !== billing);
  return [{ ...configured(billing), keep: true }, ...others.map(configured)];
}

function configured({ payers: { idle, ...others }, ...written }: WrittenPolicy): ConfiguredPolicy {
  const { name, keep, basis, migShare, sharedBy, spread: rule } = written;
  const paid = idle === undefined ? others : { idle, ...others };
  return { name, keep, basis, migShare, sharedBy, payers: paid, spread: rule };
}
