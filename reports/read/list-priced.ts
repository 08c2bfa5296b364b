import { LIST_PRICE } from "../../domain/price/list-price.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import type { ChargesQuestion } from "../question/question.ts";

/** A file for a bookkeeping that would have charges by public list prices. */
export class ListPricedError extends Error {
  constructor(span: string) {
    super(`charges of ${span} are by public list prices: nobody has written a price book for them`);
    this.name = "ListPricedError";
  }
}

/** Throws a {@link ListPricedError} if any charge of a question is by a public list price. Fails with a `StoreError`. */
export async function refuseListPrices(
  store: StoreClient,
  { policy, span: { from, until, name } }: Pick<ChargesQuestion, "policy" | "span">,
): Promise<void> {
  const found = await store.query(
    `SELECT 1 FROM charges_published
     WHERE policy = {policy:String} AND startsWith(price, '${LIST_PRICE}')
       AND from_at >= fromUnixTimestamp64Milli({from:Int64}) AND from_at < fromUnixTimestamp64Milli({until:Int64})
     LIMIT 1`,
    { policy, from, until },
  );
  if (found.length > 0) throw new ListPricedError(name);
}
