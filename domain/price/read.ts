import { compare, ZERO } from "../exact/rational.ts";
import type { ExchangeRate, Markup, PriceBook, StandingEntry } from "./book.ts";
import { inconsistencies } from "./consistency.ts";
import {
  MONEY_FORM,
  openFields,
  readInstant,
  readList,
  readMoney,
  readQuantity,
  readText,
  readWord,
  report,
  required,
} from "./fields.ts";
import { derivedName, withDistinctNames } from "./entry-name.ts";
import { INSTANT_FORM } from "./instant.ts";
import { keyOf, type Path, type PriceProblem } from "./problem.ts";
import { readCurrency, readEntry, readTerm } from "./read-entry.ts";
import { readMatch } from "./read-match.ts";

/** The keys of a price book, in its own file or in the configuration. */
const BOOK_KEYS: readonly string[] = ["currency", "prices", "commitments", "fixed", "rates", "markup"];

const STANDING_KEYS = ["name", "from", "until", "amount", "per", "scope", "quantity", "currency"];

/** A price book, or all of its problems at once. */
export type ReadBook = { readonly book: PriceBook } | { readonly problems: readonly PriceProblem[] };

/**
 * Reads a price book from the content of a YAML or JSON file. These are problems: unknown keys, money that is not a text or is negative,
 * currencies that ISO 4217 does not have, currencies without a rate from the entry's first day on, invalid dates, terms that end before
 * they begin, and two entries that always tie.
 */
export function readBook(raw: unknown): ReadBook {
  const problems: PriceProblem[] = [];
  const fields = openFields(raw, [], BOOK_KEYS, problems);
  if (fields === undefined) return { problems };
  const currency = required(fields, "currency", readCurrency(fields), "the currency of every bill, such as USD") ?? "";
  const standing = (isCommitment: boolean) => (item: unknown, path: Path) =>
    readStanding(item, path, currency, isCommitment, problems);
  const rates = readList(fields, "rates", (item, path) => readRate(item, path, currency, problems));
  const book: PriceBook = {
    currency,
    prices: withDistinctNames(readList(fields, "prices", (item, path) => readEntry(item, path, currency, problems))),
    commitments: withDistinctNames(readList(fields, "commitments", standing(true))),
    fixed: withDistinctNames(readList(fields, "fixed", standing(false))),
    rates: rates.toSorted((a, b) =>
      a.currency < b.currency ? -1 : a.currency > b.currency ? 1 : a.fromMillis - b.fromMillis,
    ),
    markup: readList(fields, "markup", (item, path) => readMarkup(item, path, problems)),
  };
  problems.push(...inconsistencies(book));
  return problems.length > 0 ? { problems } : { book };
}

function readStanding(
  raw: unknown,
  path: Path,
  bookCurrency: string,
  isCommitment: boolean,
  problems: PriceProblem[],
): StandingEntry | undefined {
  const fields = openFields(raw, path, STANDING_KEYS, problems);
  if (fields === undefined) return undefined;
  const term = readTerm(fields);
  if (isCommitment) required(fields, "until", term, `the end of the commitment, ${INSTANT_FORM}`);
  const amount = required(fields, "amount", readMoney(fields, "amount"), MONEY_FORM);
  const per = required(fields, "per", readWord(fields, "per", ["month", "hour"] as const), "month or hour");
  const quantity = readQuantity(fields, "quantity", ZERO);
  const scope = readMatch(fields.values["scope"] ?? {}, [...path, "scope"], problems);
  const currency = readCurrency(fields) ?? bookCurrency;
  if (term === undefined || amount === undefined || per === undefined) return undefined;
  const given = readText(fields, "name");
  const name = `${isCommitment ? "commitment" : "fixed cost"} ${given ?? derivedName(scope, term.fromMillis)}`;
  const entry = { key: keyOf(path), name, isNamed: given !== undefined, ...term, amount, currency, per, scope };
  return quantity === undefined ? entry : { ...entry, quantity };
}

function readRate(raw: unknown, path: Path, bookCurrency: string, problems: PriceProblem[]): ExchangeRate | undefined {
  const fields = openFields(raw, path, ["from", "currency", "rate"], problems);
  if (fields === undefined) return undefined;
  const fromMillis = required(fields, "from", readInstant(fields, "from"), INSTANT_FORM);
  const currency = required(fields, "currency", readCurrency(fields), "the foreign currency, such as EUR");
  const rate = required(fields, "rate", readMoney(fields, "rate"), `the ${bookCurrency} for one, ${MONEY_FORM}`);
  if (currency === bookCurrency && currency !== "") report(fields, "currency", "another currency than the book's");
  if (rate !== undefined && compare(rate, ZERO) === 0) report(fields, "rate", "above 0");
  if (fromMillis === undefined || currency === undefined || rate === undefined) return undefined;
  return { fromMillis, currency, rate };
}

function readMarkup(raw: unknown, path: Path, problems: PriceProblem[]): Markup | undefined {
  const fields = openFields(raw, path, ["team", "percent"], problems);
  if (fields === undefined) return undefined;
  const team = required(fields, "team", readText(fields, "team"), "the team to whose cost the percent applies");
  const percent = required(fields, "percent", readQuantity(fields, "percent"), `percent, such as 5 or "-2.5"`);
  return team === undefined || percent === undefined ? undefined : { team, percent };
}
