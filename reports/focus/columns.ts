import type { FocusDraft, FocusVersion } from "../../domain/focus-version.ts";
import { decimalText } from "../../domain/exact/integer.ts";
import { SERVING_COUNTS } from "../../domain/serving/line.ts";
import { UNATTRIBUTED } from "../../domain/serving/tenants.ts";
import type { StandingEntry } from "../../domain/price/book.ts";
import { formatAmount, lastUnits, type Amount, type Quantity } from "../../domain/exact/units.ts";
import { periodOf } from "../../domain/period.ts";
import { COMMITMENT_TYPES, commitmentCategory, contractApplied, unusedAmount, unusedCommitment } from "./commitment.ts";
import {
  allocatedTo,
  commitmentId,
  invoiceOf,
  pricingCategoryOf,
  resourceOf,
  skuOf,
  type FocusResource,
} from "./identity.ts";
import { subjectOf } from "./measure.ts";
import { momentOf } from "./moment.ts";
import type { Origin, Part, ServedWork } from "./part.ts";
import type { FocusSetting } from "./setting.ts";
import { allocatedTagsOf, tagsOf } from "./tags.ts";
import type { PricedPart } from "./priced-part.ts";
import { PRICE_DIGITS } from "./unit-price.ts";

/** The type of a column in formats with types. */
export type FocusKind = "text" | "decimal" | "time" | "json";

/** The name of a column, and the type of its values. */
export interface ColumnHead {
  readonly name: string;
  readonly kind: FocusKind;
}

/** A column of the file. */
export interface FocusColumn extends ColumnHead {
  /** Returns null, never an empty text, if there is no value. */
  readonly of: (row: PricedPart, setting: FocusSetting) => string | null;
}

type ValueOf = (row: PricedPart, setting: FocusSetting) => string | undefined;

function column(kind: FocusKind, name: string, valueOf: ValueOf): FocusColumn {
  return { name, kind, of: (row, setting) => valueOf(row, setting) || null };
}

const text = (name: string, valueOf: ValueOf): FocusColumn => column("text", name, valueOf);
const decimal = (name: string, valueOf: ValueOf): FocusColumn => column("decimal", name, valueOf);
const amount = (name: string, valueOf: (row: PricedPart) => Amount<Quantity> | undefined): FocusColumn =>
  column("decimal", name, (row) => {
    const amount = valueOf(row);
    return amount === undefined ? undefined : formatAmount(amount);
  });
const time = (name: string, valueOf: (part: Part) => number): FocusColumn =>
  column("time", name, ({ part }) => momentOf(valueOf(part)));
const json = (name: string, valueOf: (row: PricedPart) => Readonly<Record<string, string>> | undefined): FocusColumn =>
  column("json", name, (row) => {
    const value = valueOf(row);
    return value === undefined || Object.keys(value).length === 0 ? undefined : JSON.stringify(value);
  });
const ofPart = (name: string, key: TextOfPart): FocusColumn => text(name, ({ part }) => part[key]);

const ofWork = (kind: FocusKind, name: string, valueOf: (work: ServedWork) => string): FocusColumn =>
  column(kind, name, ({ part: { work } }) => work && valueOf(work));
const ofService = (name: string, key: keyof NonNullable<Origin["service"]>): FocusColumn =>
  text(name, ({ part }) => part.origin.service?.[key]);

type TextOfPart = { [Key in keyof Part]: Part[Key] extends string ? Key : never }[keyof Part];

const ofCommitment = (name: string, valueOf: (entry: StandingEntry) => string): FocusColumn =>
  text(name, ({ part }, setting) => {
    const entry = unusedCommitment(part, setting);
    return entry && valueOf(entry);
  });

/** The versions of columns that not all files have. */
const VERSIONS: Readonly<Record<string, FocusVersion | FocusDraft>> = {
  ...Object.fromEntries(["ProviderName", "PublisherName"].map((name) => [name, "1.3"])),
  ...Object.fromEntries(
    [
      "CommitmentDiscountCategory",
      "CommitmentDiscountId",
      "CommitmentDiscountName",
      "CommitmentDiscountQuantity",
      "CommitmentDiscountStatus",
      "CommitmentDiscountType",
      "CommitmentDiscountUnit",
      "ContractApplied",
      "InvoiceDetailId",
      "InvoiceId",
    ].map((name) => [name, "1.4"]),
  ),
  PrincipalId: "1.5",
};

/** The columns of all versions of FOCUS in alphabetical order, like FOCUS's. */
const STANDARD: readonly FocusColumn[] = [
  text("AllocatedMethodDetails", detailsOf),
  text("AllocatedMethodId", ({ part: { work } }, { policy }) =>
    work === undefined ? policy : `${policy}/${work.rule}`,
  ),
  text("AllocatedResourceId", ({ part }) => allocatedTo(part)?.id),
  text("AllocatedResourceName", ({ part }) => allocatedTo(part)?.name),
  json("AllocatedTags", ({ part }) => allocatedTagsOf(part)),
  text("AvailabilityZone", ({ part }) => part.origin.zone),
  decimal("BilledCost", ({ part }, { invoiceIssuer }) =>
    invoiceIssuer === undefined ? "0" : formatAmount(part.effective),
  ),
  text("BillingAccountId", (_, { billingAccountId }) => billingAccountId),
  text("BillingAccountName", (_, { billingAccountName }) => billingAccountName),
  text("BillingCurrency", (_, { currency }) => currency),
  time("BillingPeriodEnd", ({ origin }) => periodOf(origin.billingPeriod).until),
  time("BillingPeriodStart", ({ origin }) => origin.billingPeriod),
  text("ChargeCategory", ({ measure }) => (measure === undefined ? "Adjustment" : "Usage")),
  text("ChargeClass", ({ part }) => (part.origin.isCorrection ? "Correction" : undefined)),
  text("ChargeDescription", ({ part }) => descriptionOf(part)),
  text("ChargeFrequency", () => "Usage-Based"),
  time("ChargePeriodEnd", ({ origin }) => origin.until),
  time("ChargePeriodStart", ({ origin }) => origin.from),
  ofCommitment("CommitmentDiscountCategory", commitmentCategory),
  ofCommitment("CommitmentDiscountId", commitmentId),
  ofCommitment("CommitmentDiscountName", ({ name }) => name),
  decimal("CommitmentDiscountQuantity", (row, setting) => unusedAmount(row, setting)?.quantity),
  ofCommitment("CommitmentDiscountStatus", () => "Unused"),
  ofCommitment("CommitmentDiscountType", (entry) => COMMITMENT_TYPES[commitmentCategory(entry)]),
  text("CommitmentDiscountUnit", (row, setting) => unusedAmount(row, setting)?.unit),
  decimal("ConsumedQuantity", (row, setting) =>
    row.measure === undefined || !isConsumed(row, setting) ? undefined : formatAmount(row.measure.quantity),
  ),
  text("ConsumedUnit", (row, setting) => (isConsumed(row, setting) ? unitOf(row) : undefined)),
  text("ContractApplied", contractApplied),
  amount("ContractedCost", ({ part }) => part.contracted),
  decimal("ContractedUnitPrice", ({ prices }) => priceText(prices?.contracted)),
  amount("EffectiveCost", ({ part }) => part.effective),
  text("HostProviderName", (_, { hostProvider, serviceProvider }) => hostProvider ?? serviceProvider),
  text("InvoiceDetailId", ({ part }, { invoiced }) => invoiceOf(part, invoiced)?.detail),
  text("InvoiceId", ({ part }, { invoiced }) => invoiceOf(part, invoiced)?.invoice),
  text("InvoiceIssuerName", (_, { invoiceIssuer, serviceProvider }) => invoiceIssuer ?? serviceProvider),
  amount("ListCost", ({ part }) => part.list),
  decimal("ListUnitPrice", ({ prices }) => priceText(prices?.list)),
  text("PricingCategory", ({ part, prices }) => (prices === undefined ? undefined : pricingCategoryOf(part))),
  decimal("PricingQuantity", ({ prices }) => priceText(prices?.quantity)),
  text("PricingUnit", unitOf),
  text("PrincipalId", ({ part: { work } }) => (work?.tenant === UNATTRIBUTED ? undefined : work?.tenant)),
  text("ProviderName", (_, { serviceProvider }) => serviceProvider),
  text("PublisherName", (_, { serviceProvider }) => serviceProvider),
  text("RegionId", ({ part }) => part.origin.region),
  text("RegionName", ({ part }) => part.origin.region),
  text("ResourceId", ({ part }, setting) => resourceIn(part, setting)?.id),
  text("ResourceName", ({ part }, setting) => resourceIn(part, setting)?.name),
  text("ResourceType", ({ part }, setting) => resourceIn(part, setting)?.type),
  text("ServiceCategory", () => "Compute"),
  text("ServiceName", (_, { serviceName }) => serviceName),
  text("ServiceProviderName", (_, { serviceProvider }) => serviceProvider),
  text("ServiceSubcategory", () => "Other (Compute)"),
  text("SkuId", ({ part }) => skuOf(part)?.id),
  text("SkuMeter", ({ part }) => skuOf(part)?.meter),
  json("SkuPriceDetails", ({ part, prices }) => (prices === undefined ? undefined : priceDetailsOf(part.origin))),
  text("SkuPriceId", ({ part, prices }) => (prices === undefined ? undefined : skuOf(part)?.priceId)),
  text("SubAccountId", ({ part }) => part.team),
  text("SubAccountName", ({ part }) => part.team),
  text("SubAccountType", ({ part }) => (part.team === "" ? undefined : "Team")),
  json("Tags", ({ part }) => tagsOf(part.origin)),
];

const PAYER: readonly FocusColumn[] = [
  ofPart("x_Payer", "payer"),
  ofPart("x_CostCenter", "costCenter"),
  ofPart("x_Project", "project"),
  ofPart("x_Environment", "environment"),
  text("x_Cluster", ({ part }) => part.origin.cluster),
];

const SUMS: readonly FocusColumn[] = [
  amount("x_GpuHours", ({ part }) => part.gpuHours),
  amount("x_PowerCost", ({ part }) => part.power),
  decimal("x_EnergyMilliJoules", ({ part }) => part.millijoules?.toString()),
  amount("x_CarbonGrams", ({ part }) => part.carbon),
  decimal("x_Lines", ({ part }) => String(part.lines)),
];

/** Our own columns of a file of charges. docs/focus.md explains each. */
const CHARGE_COLUMNS: readonly FocusColumn[] = [
  ofPart("x_State", "state"),
  ofPart("x_Because", "because"),
  ...PAYER,
  text("x_Node", ({ part }) => part.origin.node),
  text("x_Gpu", ({ part }) => part.origin.slot?.toString()),
  text("x_GpuModel", ({ part }) => part.origin.gpuModel),
  ofPart("x_Namespace", "namespace"),
  ofPart("x_Pod", "pod"),
  ofPart("x_Workload", "workload"),
  ofPart("x_WorkloadKind", "workloadKind"),
  ofPart("x_WorkloadType", "type"),
  ofPart("x_Queue", "queue"),
  ofPart("x_PriorityClass", "priorityClass"),
  ofPart("x_Attribution", "attribution"),
  text("x_Price", ({ part }) => part.origin.price),
  text("x_PricedSince", ({ part: { origin } }) =>
    origin.pricedSince === 0 ? undefined : new Date(origin.pricedSince).toISOString(),
  ),
  text("x_InvoiceStatus", ({ part }) => part.origin.invoiceStatus),
  ...SUMS,
];

/** Our own columns of a file of inference services. */
const SERVICE_COLUMNS: readonly FocusColumn[] = [
  ofWork("text", "x_Rule", ({ rule }) => rule),
  ofWork("text", "x_Phase", ({ phase }) => phase),
  ofWork("text", "x_Basis", ({ basis }) => basis),
  ...PAYER,
  ofService("x_Namespace", "namespace"),
  ofService("x_WorkloadKind", "workloadKind"),
  ofService("x_Workload", "workload"),
  ofWork("text", "x_Model", ({ model }) => model),
  ofWork("text", "x_Adapter", ({ adapter }) => adapter),
  ofWork("text", "x_Tenant", ({ tenant }) => tenant),
  text("x_GpuModel", ({ part }) => part.origin.gpuModel),
  ...SERVING_COUNTS.filter((name) => name !== "spendNanos").map((name) =>
    ofWork("decimal", `x_${name[0]!.toUpperCase()}${name.slice(1)}`, ({ counts }) => String(counts[name])),
  ),
  ofWork("decimal", "x_GatewayPrice", ({ counts }) => formatAmount(lastUnits(BigInt(counts.spendNanos)))),
  ofWork("decimal", "x_CachedSaving", ({ saved }) => formatAmount(saved)),
  ...SUMS,
];

const OWN_COLUMNS = { charges: CHARGE_COLUMNS, services: SERVICE_COLUMNS } as const;

/** Returns the columns of Cost and Usage in a version, for a file of charges or of services: FOCUS's, and then our own. */
export function focusColumns(
  kind: keyof typeof OWN_COLUMNS,
  { version, draft }: Pick<FocusSetting, "version" | "draft">,
): readonly FocusColumn[] {
  const standard = STANDARD.filter(({ name }) => [undefined, version, draft].includes(VERSIONS[name]));
  const own = [text("x_Policy", (_, { policy }) => policy), ...OWN_COLUMNS[kind]];
  return [...standard, ...(version === "1.3" ? own : own.toSorted((a, b) => (a.name < b.name ? -1 : 1)))];
}

/** The unused part of a commitment is its own resource. */
function resourceIn(part: Part, setting: FocusSetting): FocusResource | undefined {
  const entry = unusedCommitment(part, setting);
  return entry === undefined
    ? resourceOf(part.origin)
    : { id: commitmentId(entry), name: entry.name, type: "Commitment" };
}

function isConsumed({ part, prices }: PricedPart, setting: FocusSetting): boolean {
  return prices !== undefined && unusedCommitment(part, setting) === undefined;
}

/** The developer of a model is the name before the slash, as in Hugging Face's names. Other parts of a name have no fixed place. */
function priceDetailsOf({ instanceType, model = "" }: Origin): Readonly<Record<string, string>> {
  const [, developer] = /^([^/]+)\/[^/]+$/.exec(model) ?? [];
  return {
    ...(instanceType === "" ? {} : { InstanceType: instanceType }),
    ...(developer === undefined ? {} : { ModelDeveloper: developer }),
    ...(model === "" ? {} : { ModelId: model }),
  };
}

function unitOf({ measure, prices }: PricedPart): string | undefined {
  return prices === undefined ? undefined : measure?.unit;
}

function priceText(value: bigint | undefined): string | undefined {
  return value === undefined ? undefined : decimalText(value, PRICE_DIGITS);
}

/** JSON written without a library: its numbers are exact decimals, which JavaScript numbers are not. */
function detailsOf({ measure, ratio }: PricedPart, { hidesOrigins = false }: FocusSetting): string | undefined {
  if (measure === undefined || ratio === undefined || hidesOrigins) return undefined;
  const { unit, quantity } = measure;
  return `{"Elements":[{"AllocatedRatio":${ratio},"UsageUnit":"${unit}","UsageQuantity":${formatAmount(quantity)}}]}`;
}

function descriptionOf(part: Part): string {
  const { state, because, origin, work } = part;
  const what =
    work !== undefined
      ? `inference, ${origin.meter?.toLowerCase() ?? work.phase}`
      : subjectOf(part) === "gpu"
        ? `GPU time, ${state}`
        : state;
  return `${origin.isCorrection ? "correction of " : ""}${what}${because === "" ? "" : `, because ${because}`}`;
}
