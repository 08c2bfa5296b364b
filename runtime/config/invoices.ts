import { z } from "zod";
import { DEFAULT_BOOKINGS } from "../../domain/invoice/rules.ts";
import { oneOf } from "./words.ts";

const { disk, licence, network, ...others } = DEFAULT_BOOKINGS;
const ofMachine = oneOf("node", "platform", "none");
const ofNoMachine = oneOf("platform", "none");

/** The schema of how the lines of a source become costs. */
export const sourceRuleKeys = {
  share: oneOf("instance", "pool")
    .default("instance")
    .describe(
      "The cost of a machine: of its own lines, or the mean of the machines of its account, region, type and hour, because on which of them a savings plan lands is luck.",
    ),
  bookings: z
    .strictObject({
      disk: ofMachine.default(disk),
      licence: ofMachine.default(licence),
      network: ofMachine.default(network),
      "unused-commitment": ofNoMachine.default(others["unused-commitment"]),
      credit: ofNoMachine.default(others.credit),
      refund: ofNoMachine.default(others.refund),
      support: ofNoMachine.default(others.support),
      fee: ofNoMachine.default(others.fee),
      tax: ofNoMachine.default(others.tax),
      outside: ofNoMachine.default(others.outside),
      "no-cluster": ofNoMachine.default(others["no-cluster"]),
    })
    .prefault({})
    .describe(
      "Who bears each kind of cost: `node` (of the machine), `platform`, or `none`, which only the reconciliation lists.",
    ),
};
