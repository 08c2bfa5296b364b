import { z } from "zod";
import { seesAll } from "../access/viewer.ts";
import { NAV_PAGES } from "../parts/nav.ts";
import { find } from "../search/find.ts";
import { NAME_KINDS, readNames, type FoundName } from "../search/names.ts";
import { jsonBody } from "../server/answers.ts";
import type { Asking } from "../server/asking.ts";
import { keptPolicies, type ApiContext } from "./context.ts";
import { addRoute, type ApiServer } from "./route.ts";

/** The longest text of a search. */
export const MOST_SEARCHED = 200;

const found = z.object({
  kind: z.enum(NAME_KINDS),
  name: z.string(),
  beside: z.string().meta({ description: "A cluster, a namespace and team, or the UUID of a GPU." }),
  to: z.string().meta({ description: "The address of its page on this server." }),
});

/** Adds `/search`. */
export function addSearch(server: ApiServer, context: ApiContext): void {
  addRoute(server, {
    path: "/search",
    summary:
      "Pages, and teams, namespaces, workloads, training runs, pods, nodes, GPUs and models that were charged in the last 7 days, by a part of their names.",
    query: z.strictObject({
      q: z.string().max(MOST_SEARCHED).meta({ description: "A part of a name, in any case." }),
      limit: z.coerce.number().int().min(1).max(1000).default(100),
    }),
    answer: z.object({ total: z.number().int(), items: z.array(found) }),
    async handle({ query: { q, limit }, request, reply }) {
      return context.answers.sendLive(request, reply, async (asking) => {
        const all = find(await namesFor(context, asking), q);
        return jsonBody({ total: all.length, items: all.slice(0, limit) });
      });
    },
  });
}

/** Returns the names that a viewer can search: pages, and names of the ledger, of some minutes ago at most. Fails with a `StoreError`. */
export async function namesFor({ answers, ledger, now }: ApiContext, asking: Asking): Promise<readonly FoundName[]> {
  const { viewer } = asking;
  const pages = NAV_PAGES.filter(({ isOfAll }) => isOfAll !== true || seesAll(viewer));
  const names = await answers.recentPart(
    asking,
    { key: "names" },
    (store) => readNames(store, { policy: keptPolicies(ledger)[0]!, viewer, now: now() }),
    // A name takes a tenth of the memory of a report's row.
    (read) => read.length / 10,
  );
  return [...pages.map(({ name, path }): FoundName => ({ kind: "page", name, beside: "", to: path })), ...names];
}
