import { z } from "zod";
import { FOCUS_VERSIONS, type FocusVersion } from "../../domain/focus-version.ts";
import { text } from "./words.ts";

/** The schema of a version. YAML reads 1.4 without quotes as a number. */
export const focusVersion = z
  .literal([...FOCUS_VERSIONS, 1.3, 1.4], { error: `one of: ${FOCUS_VERSIONS.join(", ")}` })
  .transform((version) => String(version) as FocusVersion);

/** The schema of the parties and names in a FOCUS file that the ledger itself does not have. */
export const focus = z
  .strictObject({
    version: focusVersion
      .optional()
      .describe(
        "The version of FOCUS of files without one of their own. Default: 1.4 for a ledger that began with 1.4, 1.3 for an older one.",
      ),
    invoiceIssuer: text("the issuer of the teams' invoices")
      .optional()
      .describe("The issuer of the teams' invoices. Without an issuer BilledCost is 0."),
    billingAccountId: text("an account's id").default("gpu-ledger").describe("BillingAccountId of every row."),
    billingAccountName: text("an account's name").optional().describe("BillingAccountName of every row."),
    serviceName: text("a service's name").default("GPU time").describe("ServiceName of every row."),
    serviceProvider: text("the provider of the GPUs for the teams")
      .default("GPU platform")
      .describe(
        "The provider of the GPUs for the teams: ServiceProviderName, in 1.3 ProviderName and PublisherName, too.",
      ),
    hostProvider: text("the owner of the machines")
      .optional()
      .describe("The owner of the machines, such as AWS: HostProviderName. Default: serviceProvider."),
    paymentTerms: text("the terms of payment of a statement")
      .default("Internal chargeback")
      .describe("PaymentTerms of every statement in Invoice Detail."),
  })
  .prefault({})
  .describe("The names in the rows of `report --format focus`.");

/** The parsed keys of `focus`. */
export type FocusConfig = z.output<typeof focus>;
