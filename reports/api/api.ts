import swagger from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import { jsonSchemaTransform, jsonSchemaTransformObject } from "fastify-type-provider-zod";
import { addAdvice } from "./advice.ts";
import { addChange } from "./change.ts";
import { addCharges } from "./charges.ts";
import type { ApiContext } from "./context.ts";
import { addDeliveries } from "./deliveries.ts";
import { addExplain } from "./explain.ts";
import { addFocus } from "./focus.ts";
import { addInvoices } from "./invoices.ts";
import { addFocusDatasets } from "./focus-datasets.ts";
import { addLedger } from "./ledger.ts";
import { addNow } from "./now.ts";
import { addPractices } from "./practices.ts";
import { addSearch } from "./search.ts";
import { API_PATH, type ApiServer } from "./route.ts";
import { addServing } from "./serving.ts";
import { addOpenCost } from "./opencost/routes.ts";
import { addTraining } from "./training.ts";
import { addStatements } from "./statements.ts";
import { createWords } from "./words.ts";

/** The policy of the page that browses the API: it has styles in its elements, and loads nothing from other sites. */
const BROWSING_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/**
 * Adds the API to a prepared server: every path with its schemas, the `openapi.json` generated from them, and `docs` to browse it. See
 * docs/api.md.
 */
export async function addApi(server: ApiServer, context: ApiContext): Promise<void> {
  await server.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "gpu-ledger",
        description: "The cost of GPUs, their owners, and the explanation. Amounts are exact decimals, as texts.",
        version: context.version,
        license: { name: "Apache-2.0", identifier: "Apache-2.0" },
      },
      components: { securitySchemes: { token: { type: "http", scheme: "bearer" } } },
      security: [{ token: [] }],
    },
    transform: jsonSchemaTransform,
    transformObject: jsonSchemaTransformObject,
  });
  await server.register(swaggerUi, {
    routePrefix: `${API_PATH}/docs`,
    uiConfig: { layout: "BaseLayout" },
    theme: { title: "gpu-ledger API" },
    staticCSP: true,
    transformStaticCSP: () => BROWSING_POLICY,
  });
  const words = createWords(context.now);
  // Asynchronous, so that a route that the guard refuses is the error of the start.
  await server.register(async (routes) => {
    addCharges(routes, context, words);
    addFocus(routes, context, words);
    addFocusDatasets(routes, context, words);
    addStatements(routes, context, words);
    addInvoices(routes, context, words);
    addExplain(routes, context, words);
    addChange(routes, context, words);
    addLedger(routes, context, words);
    addNow(routes, context);
    addAdvice(routes, context, words);
    addPractices(routes, context);
    addSearch(routes, context);
    addServing(routes, context, words);
    addTraining(routes, context, words);
    addDeliveries(routes, context);
    routes.get(`${API_PATH}/openapi.json`, { schema: { hide: true } }, () => server.swagger());
  });
  await server.register(async (routes) => {
    addOpenCost(routes, context);
  });
}
