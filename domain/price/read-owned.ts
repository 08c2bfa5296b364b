import { compare, ONE, ZERO } from "../exact/rational.ts";
import type { OwnedTerms, PowerTerms } from "./book.ts";
import {
  MONEY_FORM,
  openFields,
  readInstant,
  readInteger,
  readList,
  readMoney,
  readQuantity,
  report,
  required,
  type Fields,
} from "./fields.ts";
import { INSTANT_FORM } from "./instant.ts";
import { problemAt, type Path, type PriceProblem } from "./problem.ts";

const POWER_KEYS = ["kWhPrice", "pue", "watts"];
const COST_KEYS = ["inService", "purchase", "months", "residual", "overheadPerMonth", "retired", "machines"];
const MOST_MONTHS = 1200;

/** Reads the terms under `owned`. Problems are collected. Undefined if a required part is missing or wrong. */
export function readOwned(raw: unknown, path: Path, problems: PriceProblem[]): OwnedTerms | undefined {
  const fields = openFields(raw, path, [...COST_KEYS, ...POWER_KEYS], problems);
  if (fields === undefined) return undefined;
  const inServiceMillis = required(fields, "inService", readInstant(fields, "inService"), INSTANT_FORM);
  const purchase = required(fields, "purchase", readMoney(fields, "purchase"), MONEY_FORM);
  const months = required(
    fields,
    "months",
    readInteger(fields, "months", 1, MOST_MONTHS),
    "the months of depreciation",
  );
  const residual = readMoney(fields, "residual") ?? ZERO;
  const overheadPerMonth = readMoney(fields, "overheadPerMonth") ?? ZERO;
  const retiredMillis = readInstant(fields, "retired") ?? Infinity;
  const machines = readList(fields, "machines", (item, at) => {
    if (typeof item === "string" && item !== "") return item;
    problems.push(problemAt(at, item, "the name of a node"));
    return undefined;
  });
  const power = readPower(fields);
  if (inServiceMillis === undefined || purchase === undefined || months === undefined) return undefined;
  if (compare(residual, purchase) > 0) report(fields, "residual", "at most the purchase price (purchase)");
  if (retiredMillis < inServiceMillis) report(fields, "retired", "after inService");
  const terms = { inServiceMillis, purchase, residual, months, overheadPerMonth, retiredMillis, machines };
  return power === undefined ? terms : { ...terms, power };
}

function readPower(fields: Fields): PowerTerms | undefined {
  const kWhPrice = readMoney(fields, "kWhPrice");
  const pue = readQuantity(fields, "pue", ONE) ?? ONE;
  const watts = readQuantity(fields, "watts", ZERO);
  if (kWhPrice === undefined) {
    const lonely = ["pue", "watts"].filter((key) => fields.values[key] !== undefined);
    if (lonely.length > 0 && fields.values["kWhPrice"] === undefined) {
      report(fields, "kWhPrice", `required: the price of a kWh, ${MONEY_FORM}, where ${lonely.join(" and ")} is given`);
    }
    return undefined;
  }
  return watts === undefined ? { kWhPrice, pue } : { kWhPrice, pue, watts };
}
