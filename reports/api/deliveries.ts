import { z } from "zod";
import { listDeliveries } from "../delivery/list.ts";
import { jsonBody } from "../server/answers.ts";
import { demandAll, type ApiContext } from "./context.ts";
import { addRoute, type ApiServer } from "./route.ts";
import { decimal, time } from "./words.ts";

const deliveriesSchema = z
  .object({
    deliveries: z.array(
      z.object({
        delivery: z.string(),
        recipient: z.string(),
        period: z.string(),
        from: time,
        until: time,
        due: time,
        state: z.enum(["scheduled", "due", "waiting", "under way", "failed", "delivered", "given up"]),
        at: time.nullable().describe("Since when."),
        reason: z.string().nullable().describe("Why it waits, failed or was given up."),
        tries: z.number().int(),
        nextTry: time.nullable(),
        file: z.string().nullable(),
        bytes: z.number().int().nullable(),
        sha256: z.string().nullable(),
        cost: decimal.nullable(),
        currency: z.string().nullable(),
        gpuHours: decimal.nullable(),
        isConfigured: z.boolean().describe("Whether the configuration has it still."),
      }),
    ),
  })
  .meta({ id: "Deliveries" });

/**
 * Adds `/deliveries`: the reports that were delivered, with their recipients, and the reports that are owed. Deliveries are of all teams,
 * so only a viewer of all teams may read them.
 */
export function addDeliveries(server: ApiServer, { store, answers, deliveries, now }: ApiContext): void {
  addRoute(server, {
    path: "/deliveries",
    summary: "Which reports were delivered to whom in the last 92 days, which are owed and why, and what is due next.",
    query: z.strictObject({}),
    answer: deliveriesSchema,
    async handle({ request, reply }) {
      demandAll(request.viewer);
      return answers.sendLive(request, reply, async () =>
        jsonBody({ deliveries: await listDeliveries(store, deliveries, now()) }),
      );
    },
  });
}
