import helmet from "@fastify/helmet";
import rateLimit from "@fastify/rate-limit";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { hasZodFastifySchemaValidationErrors, serializerCompiler, validatorCompiler } from "fastify-type-provider-zod";
import type { Logger } from "pino";
import { StoreError } from "../../runtime/store/store-error.ts";
import type { Viewer } from "../access/viewer.ts";
import { PdfError } from "../format/pdf.ts";
import { TooManyGroupsError } from "../report/groups.ts";
import { Problem, PROBLEM_TYPE, problemDocument } from "./problem.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Who asks. */
    viewer: Viewer;
  }
  interface FastifyContextConfig {
    /** Whether it is answered to whoever asks. */
    isPublic?: true;
  }
}

/** Finds out who asks, or fails with a {@link Problem}. */
export type Authenticate = (request: Pick<FastifyRequest, "headers" | "ip" | "url">) => Promise<Viewer>;

/** What a server is prepared with. */
export interface ServerOptions {
  readonly authenticate: Authenticate;
  readonly logger: Logger;
  /** So many one address may send before it has to wait. */
  readonly requestsPerMinute: number;
  /** A problem as a page, for whoever asks for pages. */
  readonly problemPage: (problem: Problem, request: FastifyRequest) => string;
}

/**
 * Prepares a server for what `reports/` adds to it: who asks is found out before anything is answered, parameters are validated by
 * their schemas, failures are problem+json documents, and every answer has the headers that keep a page to itself.
 */
export async function prepareServer(
  server: FastifyInstance,
  { authenticate, logger, requestsPerMinute, problemPage }: ServerOptions,
): Promise<void> {
  server.setValidatorCompiler(validatorCompiler);
  server.setSerializerCompiler(serializerCompiler);
  await server.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'"],
        imgSrc: ["'self'", "data:"],
        connectSrc: ["'self'"],
        formAction: ["'self'"],
        frameAncestors: ["'none'"],
        baseUri: ["'none'"],
      },
    },
    // Whether the server is reached by TLS is for whoever puts it there to say.
    strictTransportSecurity: false,
  });
  await server.register(rateLimit, {
    max: requestsPerMinute,
    timeWindow: 60_000,
    errorResponseBuilder: (_, { after }) => new Problem("too-many-requests", `ask again in ${after}`),
  });
  server.decorateRequest("viewer");
  server.addHook("onRequest", async (request) => {
    if (request.routeOptions.config.isPublic !== true) request.viewer = await authenticate(request);
  });
  server.setNotFoundHandler((request) => {
    throw new Problem("not-found", `${request.method} ${request.url.split("?")[0]} is nothing that this server has`);
  });
  server.setErrorHandler((error, request, reply) => {
    const problem = problemOf(error);
    if (problem.code === "failed") logger.error({ err: error, url: request.url }, "a request failed");
    if (problem.status === 503) void reply.header("retry-after", "5");
    if (problem.status === 401) void reply.header("www-authenticate", 'Bearer realm="gpu-ledger"');
    void reply.code(problem.status).header("cache-control", "no-store");
    if (isForPerson(request)) return reply.type("text/html; charset=utf-8").send(problemPage(problem, request));
    return reply.type(PROBLEM_TYPE).send(JSON.stringify(problemDocument(problem, request.url)));
  });
}

/** A browser asks for pages; what programs ask for has its own paths, whatever they accept. */
function isForPerson({ headers, url }: FastifyRequest): boolean {
  return headers.accept?.includes("text/html") === true && !/^\/(?:api|allocation|model)\//.test(url);
}

/** What a failure is to whoever asked. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof TooManyGroupsError) return new Problem("too-costly", error.message);
  if (error instanceof PdfError) return new Problem("cannot-print", error.message);
  if (error instanceof StoreError) return problemOfStore(error);
  if (hasZodFastifySchemaValidationErrors(error)) {
    const errors = error.validation.map(({ instancePath, message = "" }) => ({
      parameter: instancePath.replace(/^\//, "").replaceAll("/", "."),
      message,
    }));
    const named = errors.map(({ parameter, message }) => (parameter === "" ? message : `${parameter}: ${message}`));
    return new Problem("wrong-parameter", named.join("; "), errors);
  }
  const isTheirs = error instanceof Error && "statusCode" in error && Number(error.statusCode) < 500;
  return isTheirs ? new Problem("wrong-parameter", error.message) : new Problem("failed", "see the server's log");
}

function problemOfStore({ code }: StoreError): Problem {
  if (code === "timeout" || code === "overloaded")
    return new Problem("too-costly", "the store gave up on it: ask for a shorter span, or fewer dimensions");
  return code === "unavailable"
    ? new Problem("store-away", "the ledger's figures cannot be read now; nothing of them is lost")
    : new Problem("failed", "see the server's log");
}
