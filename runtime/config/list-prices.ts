import { readFileSync } from "node:fs";
import { amountOf, formatAmount, lastUnits } from "../../domain/exact/units.ts";
import type { PriceBook } from "../../domain/price/book.ts";
import { derivedName } from "../../domain/price/entry-name.ts";
import { LIST_PRICE } from "../../domain/price/list-price.ts";
import { readBook } from "../../domain/price/read.ts";
import { readPriceFile, type WrittenBook } from "./price-book.ts";

/** The example of a price book: public list prices. */
const EXAMPLE = new URL("../../config/prices.example.yaml", import.meta.url);

/** The source of the list prices, for people. */
export const LIST_PRICES =
  "public list prices on demand of one region of each cloud, used for every region and way of paying. They are not yours";

/** A sentence under every bill by the list prices, with the command that replaces them. */
export const LIST_PRICED =
  "The prices are public list prices, not yours. Replace them: `gpu-ledger prices list > prices.yaml`, change the file, and set `pricesFile: prices.yaml`.";

const HEAD = [
  "# Public list prices on demand of one region of each cloud, used for every region and way of paying. They are not yours:",
  "# replace them before you bill with them. docs/prices.md explains the entries.",
];

/**
 * The machine whose price, divided by its GPUs, is that of a GPU of a model on a machine of an unknown type: an exporter without Kubernetes does not
 * have the type. Of each model the largest machine of the example.
 */
const MACHINE_OF_MODEL: Readonly<Record<string, string>> = {
  "Tesla-V100-SXM2-16GB": "p3.16xlarge",
  "Tesla-V100-SXM2-32GB": "p3dn.24xlarge",
  "Tesla-T4": "g4dn.metal",
  "NVIDIA-A10G": "g5.48xlarge",
  "NVIDIA-L4": "g6.48xlarge",
  "NVIDIA-L40S": "g6e.48xlarge",
  "NVIDIA-A100-SXM4-40GB": "p4d.24xlarge",
  "NVIDIA-A100-SXM4-80GB": "p4de.24xlarge",
  "NVIDIA-A100-80GB-PCIe": "Standard_NC96ads_A100_v4",
  "NVIDIA-H100-80GB-HBM3": "p5.48xlarge",
  "NVIDIA-H100-NVL": "Standard_NC80adis_H100_v5",
  "NVIDIA-H200": "p5en.48xlarge",
};

/**
 * Returns the public list prices of the example book by the instance type alone, and after them by the GPU model. The book has one region of each
 * cloud and machines on demand; a first look at another region, or at spot nodes, needs some price.
 */
export function listPrices(): PriceBook {
  const read = readBook(listBook());
  if ("problems" in read) throw new TypeError("the example of a price book has entries of one instance type twice");
  return { ...read.book, isList: true };
}

/** Returns the {@link listPrices} as they are written in a book of a currency. Their names have a mark, which every charge has. */
export function listBook(of: Partial<Pick<WrittenBook, "currency" | "rates">> = {}): WrittenBook {
  const { currency, prices } = written();
  const marked = prices.map((entry) => ({
    ...entry,
    name: `${LIST_PRICE}${entry.name ?? derivedName({ nodeLabels: {}, ...entry.match }, Date.parse(entry.from))}`,
    currency,
  }));
  return { currency: of.currency ?? currency, rates: of.rates, prices: marked };
}

/** Returns the {@link listPrices} as a price book in YAML. */
export function listPricesText(): string {
  const { currency, prices } = written();
  const entries = prices.map((entry) => `  - ${JSON.stringify(entry)}`);
  return [...HEAD, `currency: ${currency}`, "prices:", ...entries, ""].join("\n");
}

/** The entries of machines, and after them those of models. */
function written(): { readonly currency: string; readonly prices: readonly Written[] } {
  const read = readPriceFile(readFileSync(EXAMPLE, "utf8"));
  if ("problems" in read) throw new TypeError("the example of a price book is wrong");
  const machines = (read.value.prices ?? []).map((entry) => {
    const { match, ...rest } = entry as Machine;
    return { ...rest, match: { instanceType: match.instanceType } };
  });
  const models: readonly Written[] = Object.entries(MACHINE_OF_MODEL).flatMap(([model, type]) =>
    machines
      .filter(({ match }) => match.instanceType === type)
      .map(({ list, delivered, from, until }) => ({
        name: `${model} as in ${type}, from ${from}`,
        match: { model },
        from,
        ...(until === undefined ? {} : { until }),
        per: "gpu-hour",
        list: formatAmount(lastUnits(amountOf<"currency">(list) / BigInt(delivered))),
      })),
  );
  return { currency: read.value.currency, prices: [...machines, ...models] };
}

/** An entry as it is printed. */
interface Written {
  readonly name?: string;
  readonly match: { readonly instanceType?: string; readonly model?: string };
  readonly from: string;
}

/** An entry of the example. */
interface Machine {
  readonly match: { readonly instanceType: string };
  readonly from: string;
  readonly until?: string;
  readonly list: string;
  readonly delivered: number;
}
