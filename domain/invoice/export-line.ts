import type { Rational } from "../exact/rational.ts";
import type { CapacityType } from "../inventory.ts";

/** The kinds of a line of a provider's export, by what the line pays for. Every line that is kept has one. */
export const EXPORT_LINE_KINDS = [
  /** The time of a machine, with the discounts that name the machine. */
  "machine",
  /** The time of a capacity reservation or block that has a cost itself. Machines that ran in it share the cost; the rest is unused. */
  "reservation",
  /** The part of a commitment (reservation, savings plan, committed use) that no usage took up. */
  "unused-commitment",
  /** The purchase or the recurring fee of a commitment. Its effective cost is 0, because the usage that it covers has it; Google leaves it here. */
  "purchase",
  "disk",
  "network",
  "licence",
  /** A promotion or another credit that names no machine. */
  "credit",
  "refund",
  "support",
  "fee",
  "tax",
] as const;

export type ExportLineKind = (typeof EXPORT_LINE_KINDS)[number];

/** The clouds whose machines have an id that a Node has, too. */
export type CloudName = "aws" | "azure" | "gcp" | "oci" | "other";

/** The costs of a line, exact, in the line's currency. Credits and refunds are negative. */
export interface ExportCosts {
  /** By public prices, without discounts. */
  readonly list: Rational;
  /** With negotiated discounts. */
  readonly contracted: Rational;
  /** With all discounts, and with prepaid costs spread over what they cover. Prices of machines follow from it. */
  readonly effective: Rational;
  /** On the invoice of the line's billing period. It prices nothing. */
  readonly billed: Rational;
}

/** A line of a provider's export in the form that all formats have in common. Times are milliseconds since the epoch, half-open. */
export interface ExportLine {
  /** The number of the row in its file: the first row after the head is 1. */
  readonly row: number;
  readonly cloud: CloudName;
  /** The account that is billed, and the account, subscription or project that used the line. */
  readonly payer: string;
  readonly account: string;
  readonly billingFrom: number;
  readonly billingUntil: number;
  readonly from: number;
  readonly until: number;
  readonly kind: ExportLineKind;
  /**
   * The machine, as `machineIdOf` (domain/invoice/machine-id.ts) writes it: an EC2 id, `project/zone/name` of Google, the id of a resource
   * of Azure in lower case, an OCID. Empty if the line names none.
   */
  readonly machine: string;
  /** Empty if unknown. */
  readonly region: string;
  readonly zone: string;
  readonly instanceType: string;
  readonly capacityType: CapacityType | "";
  /** The id of the commitment that covers the line, or that the line is of; empty without one. */
  readonly commitment: string;
  /** The id of the capacity reservation or block that the machine ran in, or that the line is of; empty without one. */
  readonly reservation: string;
  /** The hours of machines that the line is for; undefined if its quantity is of another kind. */
  readonly machineHours: Rational | undefined;
  /** ISO 4217. */
  readonly currency: string;
  readonly costs: ExportCosts;
  readonly description: string;
  /** The number of the invoice; empty until the provider has made it. */
  readonly invoice: string;
}
