import { amountOf, difference, formatAmount } from "../../domain/exact/units.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { fixLines } from "../lines/fixed.ts";
import type { ChargesQuestion } from "../question/question.ts";
import { readReport } from "../report/read-report.ts";
import { refuseListPrices } from "../read/list-priced.ts";
import type { Expected } from "./check/rule.ts";
import { datasetOf } from "./check/dataset.ts";
import { focusColumns } from "./columns.ts";
import { aboutOf, focusFile, type FocusExport, type FocusWay } from "./file.ts";
import { planFocus, unpricedLines, type FocusPlan } from "./plan.ts";
import { readOrigins } from "./read-origins.ts";
import { withInvoices } from "./invoiced.ts";
import { rowsOfAll } from "./rows.ts";
import type { FocusSetting } from "./setting.ts";

/**
 * Exports the charges of a question as the Cost and Usage of FOCUS: a row for the equal lines of a UTC day, with split-cost columns.
 * Only one portion of the lines is in memory at a time. Fails with a `StoreError`, and with a `ListPricedError` for charges by list prices.
 */
export async function exportFocus(
  store: StoreClient,
  question: ChargesQuestion,
  setting: FocusSetting,
  way: FocusWay,
): Promise<FocusExport> {
  if (way.listPrices !== true) await refuseListPrices(store, question);
  // Read before the lines are fixed: lines of a closing that comes meanwhile are not in the file.
  const invoiced = await withInvoices(store, setting);
  const { plan, expected } = await planned(store, question, setting.currency, way.linesAtOnce);
  const columns = focusColumns("charges", setting);
  const rows = rowsOfAll(readOrigins(store, plan), columns, invoiced);
  const about = aboutOf(question, setting, plan.fixed.runs, plan.unpriced);
  return focusFile(store, { dataset: datasetOf(setting), columns, rows, expected }, about, way);
}

/**
 * Plans an export. Charges that are published between the two readings would make a correct file differ from the report. Then both are read
 * again, a limited number of times.
 */
async function planned(
  store: StoreClient,
  question: ChargesQuestion,
  currency: string,
  linesAtOnce: number | undefined,
): Promise<{ readonly plan: FocusPlan; readonly expected: Expected }> {
  for (let turn = 1; ; turn++) {
    const plan = await planFocus(store, question, linesAtOnce);
    const { total } = await readReport(store, { ...question, by: ["billingPeriod"] }, { currency });
    const { runs } = await fixLines(store, plan.fixed.question);
    if (turn < MOST_TURNS && runs.join() !== plan.fixed.runs.join()) continue;
    const sums = {
      ListCost: total.list,
      ContractedCost: total.contracted,
      EffectiveCost: total.cost,
      x_PowerCost: total.power,
      x_GpuHours: formatAmount(difference(amountOf(total.gpuHours), amountOf(total.unpricedGpuHours))),
      x_Lines: String(total.lines - unpricedLines(plan.unpriced)),
    };
    return { plan, expected: { sums, isWhole: question.where.length === 0 } };
  }
}

const MOST_TURNS = 5;
