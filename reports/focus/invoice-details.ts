import { amountOf, difference, formatAmount, LAST_UNIT_DIGITS, sum, type Money } from "../../domain/exact/units.ts";
import { roundTogether } from "../../domain/exact/round-together.ts";
import { minorDigitsOf } from "../../domain/price/currency.ts";
import { dateText, periodOf } from "../../domain/period.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { invoiceIds } from "./identity.ts";
import { VALID_CLOSINGS } from "./invoiced.ts";
import { momentOf } from "./moment.ts";
import type { ReferenceQuestion, ReferenceRow, ReferenceRows } from "./reference-rows.ts";
import type { FocusSetting } from "./setting.ts";

const KINDS = {
  BilledCost: "decimal",
  BillingAccountId: "text",
  BillingCurrency: "text",
  BillingPeriodEnd: "time",
  BillingPeriodStart: "time",
  ChargeCategory: "text",
  InvoiceDetailCreated: "time",
  InvoiceDetailDescription: "text",
  InvoiceDetailGrain: "json",
  InvoiceDetailId: "text",
  InvoiceDetailLastUpdated: "time",
  InvoiceId: "text",
  InvoiceIssueDate: "time",
  InvoiceIssueStatus: "text",
  InvoiceIssuerName: "text",
  PaymentDueDate: "time",
  PaymentTerms: "text",
  ReferenceInvoiceId: "text",
  x_CostCenter: "text",
  x_EffectiveCost: "decimal",
  x_StatementHash: "text",
  x_Team: "text",
} as const;

/** A closed period. Times are milliseconds since the epoch. */
interface Closing {
  readonly id: string;
  readonly from: number;
  readonly closedAt: number;
  readonly policy: string;
  readonly currency: string;
}

/** A statement of a closing. Amounts are decimal texts. */
interface Statement {
  readonly id: string;
  readonly team: string;
  readonly costCenter: string;
  readonly posted: string;
  readonly hash: string;
}

/** The cost of a payer for the charges of a month: of the closed period itself, or of an earlier one that is corrected in it. */
interface MonthCost extends Pick<Statement, "team" | "costCenter"> {
  readonly month: number;
  readonly cost: string;
}

const MONTH = "toFloat64(toUnixTimestamp(toDateTime(billing_period, 'UTC'))) * 1000";
const CLOSINGS = `
SELECT toString(close_id) AS id, ${MONTH} AS from, toFloat64(toUnixTimestamp(closed_at)) * 1000 AS closedAt, policy, currency
FROM ${VALID_CLOSINGS} ORDER BY from`;
const STATEMENTS = `
SELECT toString(close_id) AS id, team, cost_center AS costCenter, toString(posted) AS posted, hash
FROM statements WHERE close_id IN {ids:Array(UUID)} ORDER BY team, costCenter`;
const COSTS = `
SELECT team, cost_center AS costCenter, toString(sum(ifNull(effective_cost, 0))) AS cost,
  toFloat64(toUnixTimestamp(toDateTime(if(corrects = '', billing_period, toStartOfMonth(from_at, 'UTC')), 'UTC'))) * 1000 AS month
FROM charges_published WHERE billing_period = toDate({period:String}) AND policy = {policy:String}
GROUP BY team, costCenter, month ORDER BY month`;

/** The setting of statements that are invoices. */
type InvoiceSetting = FocusSetting & { readonly invoiceIssuer: string };

/**
 * Reads the statements of closed periods as invoices. An invoice has a line for the charges of its month, and a line for each earlier month
 * that it corrects. The lines add up to the posted amount: corrections are rounded by themselves, and the first line has the rest. Fails
 * with a `StoreError`.
 */
export async function readInvoiceDetails(
  store: StoreClient,
  { period, teams }: Pick<ReferenceQuestion, "period" | "teams">,
  setting: InvoiceSetting,
): Promise<ReferenceRows> {
  const closings = await store.query<Closing>(CLOSINGS);
  const all = await store.query<Statement>(STATEMENTS, { ids: closings.map(({ id }) => id) });
  const statementsOf = (closing: Closing): readonly Statement[] => all.filter(({ id }) => id === closing.id);
  const invoices = new Set(
    closings.flatMap((closing) =>
      statementsOf(closing).map((statement) => invoiceIds(statement, closing.from, closing.from).invoice),
    ),
  );
  const rows: ReferenceRow[] = [];
  const shown: Statement[] = [];
  for (const closing of closings.filter(({ from }) => period === undefined || from === period.from)) {
    const own = statementsOf(closing).filter(({ team }) => teams === "all" || teams.includes(team));
    const costs = await store.query<MonthCost>(COSTS, { period: dateText(closing.from), policy: closing.policy });
    rows.push(...own.flatMap((statement) => invoiceRows(closing, statement, costs, invoices, setting)));
    shown.push(...own);
  }
  const posted = sum(shown.map((statement) => amountOf<"currency">(statement.posted)));
  return { kinds: KINDS, rows, sums: { BilledCost: formatAmount(posted) } };
}

/** `invoices` has the ids of all invoices, to which corrections can refer. */
function invoiceRows(
  closing: Closing,
  { team, costCenter, posted, hash }: Statement,
  costs: readonly MonthCost[],
  invoices: ReadonlySet<string>,
  setting: InvoiceSetting,
): readonly ReferenceRow[] {
  const { from, closedAt, currency } = closing;
  const payer = { team, costCenter };
  const mine = costs.filter((cost) => cost.team === team && cost.costCenter === costCenter);
  const corrected = mine
    .filter(({ month }) => month !== from)
    .map(({ month, cost }) => ({ month, cost: amountOf<"currency">(cost) }));
  const charges = mine.find(({ month }) => month === from)?.cost ?? "0";
  const minorUnit = 10n ** BigInt(LAST_UNIT_DIGITS - (minorDigitsOf(currency) ?? 2));
  const rounded = corrected.map(({ cost }) => roundTogether([cost], minorUnit)[0]!);
  const rest = difference(amountOf<"currency">(posted), sum(rounded));
  const lines: readonly { month: number; cost: Money; billed: Money }[] = [
    { month: from, cost: amountOf(charges), billed: rest },
    ...corrected.map((line, index) => ({ ...line, billed: rounded[index]! })),
  ];
  return lines.map(({ month, cost, billed }) => {
    const { invoice, detail } = invoiceIds(payer, from, month);
    const before = invoiceIds(payer, month, month).invoice;
    const payerText = costCenter === "" ? team : `${team}, cost center ${costCenter}`;
    return {
      BilledCost: formatAmount(billed),
      BillingAccountId: setting.billingAccountId,
      BillingCurrency: currency,
      BillingPeriodEnd: momentOf(periodOf(from).until),
      BillingPeriodStart: momentOf(from),
      ChargeCategory: "Usage",
      InvoiceDetailCreated: momentOf(closedAt),
      InvoiceDetailDescription: `${month === from ? "charges" : "corrections"} of ${periodOf(month).name}, ${payerText}`,
      InvoiceDetailGrain: JSON.stringify({
        x_Team: team,
        ...(costCenter === "" ? {} : { x_CostCenter: costCenter }),
        x_ChargeMonth: periodOf(month).name,
      }),
      InvoiceDetailId: detail,
      InvoiceDetailLastUpdated: momentOf(closedAt),
      InvoiceId: invoice,
      InvoiceIssueDate: momentOf(closedAt),
      InvoiceIssueStatus: "Issued",
      InvoiceIssuerName: setting.invoiceIssuer,
      PaymentDueDate: null,
      PaymentTerms: setting.paymentTerms,
      ReferenceInvoiceId: invoices.has(before) ? before : invoice,
      x_CostCenter: costCenter || null,
      x_EffectiveCost: formatAmount(cost),
      x_StatementHash: hash,
      x_Team: team,
    };
  });
}
