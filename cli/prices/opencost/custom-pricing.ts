import { isObject } from "../../../domain/object.ts";
import { NO_PRICE, priceOf, type CarriedPrice, type LeftOut, type OpenCostPrices } from "./carried.ts";

/**
 * Keys of OpenCost's custom pricing that a price book of GPUs cannot have, with the reason. Discounts reduce the prices of CPU and RAM alone
 * (`applyNodeDiscount` in pkg/costmodel/allocation_helpers.go). Source: `CustomPricing` in
 * https://github.com/opencost/opencost/blob/develop/pkg/cloud/models/models.go.
 */
const NOT_CARRIED: readonly (readonly [RegExp, string])[] = [
  [/^(spot)?(cpu|ram)$/i, "a price of CPU or memory"],
  [/^storage$/i, "a price of storage"],
  [/network|natgateway|lbingress/i, "a price of networks"],
  [/forwardingrule|^defaultlbprice$/i, "a price of load balancers"],
  [/discount$/i, "OpenCost takes discounts off CPU and memory, not off GPUs"],
  [/^gpulabel(value)?$/i, "this ledger finds GPUs by their exporters"],
];

/** Returns true if a mapping has a key of OpenCost's custom pricing. The requests of a container have `cpu`. */
export function isCustomPricing(file: unknown): file is Readonly<Record<string, unknown>> {
  return isObject(file) && Object.keys(file).some((key) => /^(?:[sS]pot)?(?:CPU|RAM|GPU)$/.test(key));
}

/**
 * Returns the prices of GPUs of OpenCost's custom pricing: `GPU` for all, and `spotGPU` for the nodes with the label `spotLabel`, or for spot nodes
 * without one. Prices are of an hour. All values are texts, so that no digit is lost; case of keys does not count, because OpenCost decodes JSON
 * in the same way.
 */
export function customPrices(file: Readonly<Record<string, unknown>>): OpenCostPrices {
  const values = new Map<string, readonly [key: string, value: string]>();
  for (const [key, value] of Object.entries(file))
    if (typeof value === "string" && value.trim() !== "") values.set(key.toLowerCase(), [key, value.trim()]);
  const text = (name: string): string | undefined => values.get(name.toLowerCase())?.[1];
  const [label, labelValue] = [text("spotLabel"), text("spotLabelValue")];
  const spot: CarriedPrice["match"] =
    label !== undefined && labelValue !== undefined ? { nodeLabel: { [label]: labelValue } } : { capacityType: "spot" };
  const prices: CarriedPrice[] = [];
  const leftOut: LeftOut[] = [];
  for (const [name, match] of [
    ["GPU", {}],
    ["spotGPU", spot],
  ] as const) {
    const written = text(name);
    if (written === undefined) continue;
    const list = priceOf(written);
    if (list === undefined) leftOut.push({ what: name, why: NO_PRICE });
    else prices.push({ match, per: "gpu-hour", list });
  }
  for (const [key] of values.values()) {
    const why = NOT_CARRIED.find(([form]) => form.test(key))?.[1];
    if (why !== undefined) leftOut.push({ what: key, why });
  }
  const notes = [
    "Prices are of an hour. Kubecost, and OpenCost before its pull request 3830, read the values of the ConfigMap pricing-configs as",
    "prices of a month: divide such values by 730.",
  ];
  return { currency: text("currencyCode"), prices, leftOut, notes };
}
