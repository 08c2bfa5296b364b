import { z } from "zod";
import { text } from "./words.ts";

/** The schema of the parties and names in a FOCUS file that the ledger itself does not have. */
export const focus = z
  .strictObject({
    invoiceIssuer: text("the issuer of the teams' invoices")
      .optional()
      .describe("The issuer of the teams' invoices. Without an issuer BilledCost is 0."),
    billingAccountId: text("an account's id").default("gpu-ledger").describe("BillingAccountId of every row."),
    billingAccountName: text("an account's name").optional().describe("BillingAccountName of every row."),
    serviceName: text("a service's name").default("GPU time").describe("ServiceName of every row."),
    serviceProvider: text("the provider of the GPUs for the teams")
      .default("GPU platform")
      .describe("The provider of the GPUs for the teams: ServiceProviderName, ProviderName and PublisherName."),
    hostProvider: text("the owner of the machines")
      .optional()
      .describe("The owner of the machines, such as AWS: HostProviderName. Default: serviceProvider."),
  })
  .prefault({})
  .describe("The names in the rows of `report --format focus`.");

/** The parsed keys of `focus`. */
export type FocusConfig = z.output<typeof focus>;
