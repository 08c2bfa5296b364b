import { z } from "zod";
import { text } from "./words.ts";

/** The schema of the parties and names in a FOCUS file that the ledger itself does not have. */
export const focus = z
  .strictObject({
    invoiceIssuer: text("who invoices the teams")
      .optional()
      .describe("Who invoices the teams; without one nothing is billed, and BilledCost is 0."),
    billingAccountId: text("an account's id").default("gpu-ledger").describe("BillingAccountId of every row."),
    billingAccountName: text("an account's name").optional().describe("BillingAccountName of every row."),
    serviceName: text("a service's name").default("GPU time").describe("ServiceName of every row."),
    serviceProvider: text("who offers the GPUs to the teams")
      .default("GPU platform")
      .describe("Who offers the GPUs to the teams: ServiceProviderName, ProviderName and PublisherName."),
    hostProvider: text("whose machines they are")
      .optional()
      .describe("Whose machines they are, such as AWS: HostProviderName; serviceProvider where nothing says it."),
  })
  .prefault({})
  .describe("Whom the rows of `report --format focus` name.");

/** The parsed keys of `focus`. */
export type FocusConfig = z.output<typeof focus>;
