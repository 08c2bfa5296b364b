import { compare, ONE, ZERO, type Rational } from "../exact/rational.ts";
import type { CostKind, PriceEntry, UnitPrices } from "./book.ts";
import { minorDigitsOf } from "./currency.ts";
import {
  MONEY_FORM,
  openFields,
  readInstant,
  readInteger,
  readMoney,
  readQuantity,
  readText,
  readWord,
  report,
  required,
  type Fields,
} from "./fields.ts";
import { derivedName } from "./entry-name.ts";
import { INSTANT_FORM } from "./instant.ts";
import { keyOf, type Path, type PriceProblem } from "./problem.ts";
import { readMatch } from "./read-match.ts";
import { readOwned } from "./read-owned.ts";

const KINDS: readonly CostKind[] = ["list", "contracted", "effective"];
const ENTRY_KEYS = ["name", "match", "from", "until", "per", ...KINDS, "gpuPart", "owned", "currency", "delivered"];
const MOST_GPUS = 1024;

/** Reads an entry of `prices`. Problems are collected. Undefined if a required part is missing or wrong. */
export function readEntry(
  raw: unknown,
  path: Path,
  bookCurrency: string,
  problems: PriceProblem[],
): PriceEntry | undefined {
  const fields = openFields(raw, path, ENTRY_KEYS, problems);
  if (fields === undefined) return undefined;
  const isOwned = fields.values["owned"] !== undefined;
  const owned = isOwned ? readOwned(fields.values["owned"], [...path, "owned"], problems) : undefined;
  const needsMatch = owned === undefined || owned.machines.length === 0;
  if (needsMatch) required(fields, "match", undefined, "the priced nodes, {} for all");
  const match = readMatch(fields.values["match"] ?? {}, [...path, "match"], problems);
  const term = readTerm(fields);
  const delivered = readInteger(fields, "delivered", 1, MOST_GPUS);
  const currency = readCurrency(fields) ?? bookCurrency;
  const given = readText(fields, "name");
  const terms = term && {
    key: keyOf(path),
    name: given ?? derivedName(match, term.fromMillis, owned?.machines),
    isNamed: given !== undefined,
    match,
    ...term,
    currency,
    ...(delivered === undefined ? {} : { delivered }),
  };
  const gpuPart = readGpuPart(fields);
  if (isOwned) {
    for (const key of ["per", ...KINDS]) {
      if (fields.values[key] !== undefined) report(fields, key, "no value, because owned gives the price");
    }
    return terms === undefined || owned === undefined ? undefined : { ...terms, per: "owned", owned, gpuPart };
  }
  const per = readWord(fields, "per", ["gpu-hour", "node-hour"] as const);
  required(fields, "per", per, "gpu-hour or node-hour (or the key owned)");
  const prices = readPrices(fields);
  if (per === "gpu-hour" && fields.values["gpuPart"] !== undefined)
    report(fields, "gpuPart", "a key of a price per gpu-hour");
  if (terms === undefined || per === undefined || prices === undefined) return undefined;
  return per === "node-hour" ? { ...terms, per, prices, gpuPart } : { ...terms, per, prices };
}

/** Reads the term of an entry: `from` and `until`, which must be after `from`. Undefined if `from` is missing or wrong. */
export function readTerm(fields: Fields): Pick<PriceEntry, "fromMillis" | "untilMillis"> | undefined {
  const fromMillis = required(fields, "from", readInstant(fields, "from"), INSTANT_FORM);
  const untilMillis = readInstant(fields, "until") ?? Infinity;
  if (fromMillis === undefined) return undefined;
  if (untilMillis <= fromMillis) report(fields, "until", "after from");
  return { fromMillis, untilMillis };
}

/** Reads a currency of ISO 4217; undefined if the key is missing or wrong. */
export function readCurrency(fields: Fields): string | undefined {
  const currency = readText(fields, "currency");
  if (currency === undefined || minorDigitsOf(currency) !== undefined) return currency;
  report(fields, "currency", "a currency of ISO 4217, such as USD");
  return undefined;
}

/** Reads the three prices. A missing price takes the value of the one before it, otherwise the one that is given (docs/prices.md). */
function readPrices(fields: Fields): UnitPrices | undefined {
  const [list, contracted, effective] = KINDS.map((kind) => readMoney(fields, kind));
  const first = list ?? contracted ?? effective;
  if (first === undefined) {
    if (KINDS.every((kind) => fields.values[kind] === undefined)) {
      report(fields, undefined, `an entry with a price: list, contracted or effective, ${MONEY_FORM}`);
    }
    return undefined;
  }
  const second = contracted ?? first;
  return { list: first, contracted: second, effective: effective ?? second };
}

function readGpuPart(fields: Fields): Rational {
  const gpuPart = readQuantity(fields, "gpuPart", ZERO) ?? ONE;
  const isPart = compare(gpuPart, ZERO) > 0 && compare(gpuPart, ONE) <= 0;
  if (!isPart) report(fields, "gpuPart", "above 0 and at most 1");
  return gpuPart;
}
