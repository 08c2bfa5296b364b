import { z } from "zod";
import { allowed, policyOf, type ApiContext } from "../context.ts";
import type { ApiServer } from "../route.ts";
import { fixedSpan } from "../../report/json.ts";
import { jsonBody } from "../../server/answers.ts";
import { Problem } from "../../question/problem.ts";
import { problemOf } from "../../server/server.ts";
import { allocationSets } from "./allocation.ts";
import { readFilter } from "./filter.ts";
import { filterSql, readAggregate } from "./properties.ts";
import { MOST_ALLOCATIONS, readAllocationSums } from "./read.ts";
import { boundsOfSets, readAccumulate, readDuration, readWindow, WINDOW_FORM } from "./window.ts";
import { HOUR_MILLIS } from "../../../domain/time.ts";

/** OpenCost's path of allocations, its older path, and Kubecost's paths. */
const PATHS = ["/allocation/compute", "/allocation", "/model/allocation", "/model/allocation/compute"] as const;
const MOST_SETS = 1_500;

const flag = z
  .enum(["true", "false", "1", "0", "weighted", "even"])
  .optional()
  .transform((text) => text === "true" || text === "1" || text === "weighted" || text === "even");

const query = z.object({
  window: z.string({ error: `window: ${WINDOW_FORM}` }),
  aggregate: z.string().default(""),
  accumulate: z.string().default(""),
  accumulateBy: z.string().default(""),
  step: z.string().default(""),
  filter: z.string().max(10_000).default(""),
  includeIdle: flag,
  idle: flag,
  shareIdle: flag,
  shareSplit: z.enum(["weighted", "even"]).default("weighted"),
  policy: z.string().optional(),
});

/**
 * Adds OpenCost's allocation API, with its parameters and field names, for GPUs. Scripts and dashboards made for OpenCost work after a
 * change of their address. The differences are in docs/opencost.md.
 */
export function addOpenCost(server: ApiServer, { ledger, answers, now }: ApiContext): void {
  server.setErrorHandler((error, _, reply) => {
    const { status, message } = problemOf(error);
    return reply.code(status).send({ code: status, message });
  });
  for (const path of PATHS)
    server.get(path, { schema: { hide: true, querystring: query } }, async (request, reply) => {
      const asked = readQuery(request.query as z.output<typeof query>, now());
      const { viewer } = request;
      const [start, end] = [asked.bounds[0]!, asked.bounds.at(-1)!];
      const span = fixedSpan({ name: "", from: start, until: end });
      const policy = policyOf(ledger, asked.policy);
      const question = { policy, kind: "showback", span, where: allowed([], viewer) } as const;
      return answers.send(request, reply, async ({ store }) => {
        const sums = await readAllocationSums(store, question, asked);
        if (sums.length > MOST_ALLOCATIONS)
          throw new Problem(
            "too-costly",
            `more than ${MOST_ALLOCATIONS} allocations: aggregate more, or use a shorter window or a filter`,
          );
        return jsonBody({ code: 200, data: allocationSets(sums, asked.bounds, asked.idle) });
      });
    });
}

function readQuery(given: z.output<typeof query>, now: number) {
  const wrong = (message: string): Problem => new Problem("wrong-parameter", message);
  const window = readWindow(given.window, now);
  if (window === undefined) throw wrong(`Invalid 'window' parameter: must be ${WINDOW_FORM}`);
  const names = readAggregate(given.aggregate);
  if ("error" in names) throw wrong(`Invalid 'aggregate' parameter: ${names.error}`);
  const accumulate = readAccumulate(given.accumulateBy === "" ? given.accumulate : given.accumulateBy);
  if (accumulate === undefined)
    throw wrong("Invalid 'accumulate' parameter: must be true, false, or a unit such as day");
  const step = given.step === "" ? undefined : readDuration(given.step);
  if (given.step !== "" && (step === undefined || step < HOUR_MILLIS || step % HOUR_MILLIS !== 0))
    throw wrong("Invalid 'step' parameter: must be whole hours, such as 1h, 1d or 7d");
  const bounds = boundsOfSets(window, step, accumulate);
  if (bounds.length > MOST_SETS) throw wrong(`more than ${MOST_SETS} sets: use a longer step`);
  const split = given.shareIdle ? given.shareSplit : undefined;
  const idle = { isIncluded: given.includeIdle || given.idle, split };
  return { names, bounds, idle, policy: given.policy, filter: filterOf(given.filter) };
}

function filterOf(text: string): { readonly sql: string; readonly parameters: Readonly<Record<string, string>> } {
  if (text.trim() === "") return { sql: "true", parameters: {} };
  const read = readFilter(text);
  const parameters: Record<string, string> = {};
  const compiled = "error" in read ? read : filterSql(read.filter, parameters);
  if ("error" in compiled) throw new Problem("wrong-parameter", `Invalid 'filter' parameter: ${compiled.error}`);
  return { sql: compiled.sql, parameters };
}
