import { z } from "zod";
import { DEFAULT_POLICY, type Policy } from "../../domain/policy/policy.ts";
import { flag, oneOf, text } from "./words.ts";

const payer = oneOf("holder", "platform");
const freePayer = oneOf("platform", "spread", "owner");
const { payers, spread } = DEFAULT_POLICY;

/** The schema of a policy. Missing keys get the values of {@link DEFAULT_POLICY}. */
export const policy = z.strictObject({
  name: text("a policy's name").describe("The policy's name on bills."),
  billing: flag
    .default(false)
    .describe("The policy of statements. Exactly one policy has true. Default: the first policy."),
  keep: flag
    .default(false)
    .describe("Keep the charges of this policy in addition to the billing policy, for comparison."),
  basis: oneOf("allocation", "usage", "max")
    .default("allocation")
    .describe("The measured time: held, used, or the larger of both."),
  migShare: oneOf("max", "compute", "memory")
    .default("max")
    .describe("The measure of a MIG instance's share of its GPU."),
  sharedBy: oneOf("replica", "occupant", "usage")
    .default("replica")
    .describe("The division of a GPU with time-slicing or MPS."),
  payers: z
    .strictObject({
      idle: payer.optional().describe("Default: the holder. With basis usage: the platform."),
      unobserved: payer.default(payers.unobserved),
      starting: payer.default(payers.starting),
      waiting: payer.default(payers.waiting),
      unallocated: freePayer.default(payers.unallocated),
      stranded: freePayer.default(payers.stranded),
      unavailable: freePayer.default(payers.unavailable),
    })
    .prefault({})
    .describe(
      "The payer of each state. `owner` is the owner of the node pool by the rules of `owners`, or else the platform.",
    ),
  spread: z
    .strictObject({
      over: oneOf("node", "pool", "model", "cluster")
        .default(spread.over)
        .describe("The area whose holders share the cost."),
      by: oneOf("cost", "time", "even", "quota")
        .default(spread.by)
        .describe("The weights of the holders. `quota` is the unused part of the quotas of a team's namespaces."),
      window: oneOf("hour", "day", "period").default(spread.window).describe("The time in which they held GPUs."),
    })
    .prefault({})
    .describe("The division of costs that are spread."),
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
      complain([index, "payers", "idle"], "platform, or no value: with basis usage the platform pays for idle time");
    if (by === "quota" && over !== "cluster")
      complain([index, "spread", "over"], "cluster: a quota belongs to a cluster, not to its nodes");
    if (by === "quota" && window !== "hour")
      complain([index, "spread", "window"], "hour: quotas are compared hour by hour");
  });
  const billing = policies.filter((each) => each.billing).map(({ name }) => name);
  if (billing.length > 1)
    complain([], `policies with exactly one billing policy: ${billing.join(" and ")} have billing: true`);
}

/** A policy of a configuration, as the ledger applies it. */
export interface ConfiguredPolicy extends Policy {
  /** True if its bills are kept. Those of the billing policy always are. */
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
