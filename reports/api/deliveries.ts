import { z } from "zod";
import { listDeliveries } from "../delivery/list.ts";
import { jsonBody } from "../server/answers.ts";
import { type ApiContext } from "./context.ts";
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
        at: time.nullable().describe("The start of the state."),
        reason: z.string().nullable().describe("The reason for a waiting, failed or abandoned delivery."),
        tries: z.number().int(),
        nextTry: time.nullable(),
        file: z.string().nullable(),
        bytes: z.number().int().nullable(),
        sha256: z.string().nullable(),
        cost: decimal.nullable(),
        currency: z.string().nullable(),
        gpuHours: decimal.nullable(),
        isConfigured: z.boolean().describe("True if the configuration still has the delivery."),
      }),
    ),
  })
  .meta({ id: "Deliveries" });

/**
 * Adds `/deliveries`: the reports that were delivered, with their recipients, and the reports that are owed. Deliveries are of all teams,
 * so only a viewer of all teams may read them.
 */
export function addDeliveries(server: ApiServer, { answers, deliveries, now }: ApiContext): void {
  addRoute(server, {
    path: "/deliveries",
    summary:
      "The deliveries of the last 92 days with their recipients, the open ones with the reason, and the next ones.",
    query: z.strictObject({}),
    answer: deliveriesSchema,
    async handle({ request, reply }) {
      return answers.sendLive(request, reply, async ({ store }) =>
        jsonBody({ deliveries: await listDeliveries(store, deliveries, now()) }),
      );
    },
  });
}
