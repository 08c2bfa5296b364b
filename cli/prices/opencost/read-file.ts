import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { isObject } from "../../../domain/object.ts";
import { CommandError } from "../../context.ts";
import type { OpenCostPrices } from "./carried.ts";
import { csvPrices, isCsvPricing } from "./csv-pricing.ts";
import { customPrices, isCustomPricing } from "./custom-pricing.ts";

/**
 * Reads a file of OpenCost's prices: custom pricing in JSON or YAML, alone, as a ConfigMap or as values of its chart, or CSV pricing. Fails with a
 * {@link CommandError} if the file is none of them.
 */
export function readOpenCostFile(file: string): OpenCostPrices {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new CommandError(`${file} cannot be read (${error instanceof Error ? error.message : String(error)})`, 2);
  }
  try {
    if (isCsvPricing(text)) return csvPrices(text);
    const pricing = pricingIn(parsed(text));
    if (pricing !== undefined) return customPrices(pricing);
  } catch (error) {
    throw new CommandError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`, 2);
  }
  throw new CommandError(
    `${file} has neither OpenCost's custom pricing (CPU, RAM, GPU) nor the 8 columns of its CSV pricing`,
    2,
  );
}

/** The failsafe schema leaves every value as text, so a price keeps its digits. JSON is YAML. */
function parsed(text: string): unknown {
  return parse(text, { schema: "failsafe" });
}

/** Finds the mapping with the prices in a file: itself, `data` of a ConfigMap, a JSON text in it, or a part of the values of a chart. */
function pricingIn(file: unknown, depth = 0): Readonly<Record<string, unknown>> | undefined {
  if (isCustomPricing(file)) return file;
  if (!isObject(file) || depth > 4) return undefined;
  for (const [key, value] of Object.entries(file)) {
    const inner = typeof value === "string" && key.endsWith(".json") ? parsed(value) : value;
    const found = pricingIn(inner, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}
