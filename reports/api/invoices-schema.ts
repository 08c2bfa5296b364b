import { z } from "zod";

const exact = z.string().describe("An exact decimal in the currency of the bill.");
const ofAccount = { source: z.string(), account: z.string(), currency: z.string() };
const row = z.object({ what: z.string(), amount: exact });
const millis = z.number().describe("Milliseconds since the epoch.");

/** A month of the exports of providers' bills, reconciled. */
export const invoicesSchema = z
  .object({
    billingPeriod: z.string(),
    accounts: z.array(
      z.object({
        ...ofAccount,
        lines: z.string(),
        isInvoiced: z.boolean().describe("True if all lines have the number of an invoice."),
        list: exact,
        contracted: exact,
        effective: exact,
        billed: exact,
        effectiveRows: z.array(row).describe("Where the effective cost went. The rows sum to it."),
        billedRows: z.array(row).describe("From the effective to the billed cost. The rows sum to the billed cost."),
      }),
    ),
    machines: z
      .array(
        z.object({
          ...ofAccount,
          machine: z.string(),
          instanceType: z.string(),
          region: z.string(),
          kind: z.enum(["no-cluster", "outside"]),
          from: millis,
          until: millis,
          effective: exact,
        }),
      )
      .describe("Machines that are paid for and that no node was."),
    freeNodes: z
      .array(
        z.object({
          source: z.string(),
          account: z.string(),
          cluster: z.string(),
          node: z.string(),
          machine: z.string(),
          hours: z.number(),
        }),
      )
      .describe("Nodes with a cost of 0 on the bill."),
    charged: z
      .array(z.object({ source: z.string(), charged: z.string() }))
      .describe("What the ledger has charged by each source in the month, in the currency of bills."),
    doubled: z
      .array(
        z.object({
          month: millis,
          exports: z.array(z.object({ source: z.string(), name: z.string() })),
          machines: z.number(),
        }),
      )
      .describe("Exports that have the same lines of machines, whose cost counts more than once."),
  })
  .meta({ id: "Invoices" });
