import helmet from "@fastify/helmet";
import rateLimit from "@fastify/rate-limit";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { hasZodFastifySchemaValidationErrors, serializerCompiler, validatorCompiler } from "fastify-type-provider-zod";
import type { Logger } from "pino";
import { StoreError } from "../../runtime/store/store-error.ts";
import { PdfError } from "../format/pdf.ts";
import { TooManyGroupsError } from "../report/groups.ts";
import type { SignIn } from "../sign-in/people.ts";
import { Problem, PROBLEM_TYPE, problemDocument } from "../question/problem.ts";

/** The options of a prepared server. */
export interface ServerOptions {
  readonly logger: Logger;
  /** The limit of requests of one address. */
  readonly requestsPerMinute: number;
  /** The sign-in of people, if there is one: a browser without a session goes to the issuer, else to the login with a token. */
  readonly signIn: SignIn | undefined;
  /** Returns a problem as a page, for requests for pages. */
  readonly problemPage: (problem: Problem, request: FastifyRequest) => string;
}

/**
 * Prepares a guarded server for the routes of `reports/`. Parameters are validated by their schemas. Failures are problem+json documents. Every answer has the headers that isolate a page.
 */
export async function prepareServer(
  server: FastifyInstance,
  { logger, requestsPerMinute, signIn, problemPage }: ServerOptions,
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
        // Logging out goes on to the issuer.
        formAction: ["'self'", ...(signIn === undefined ? [] : [signIn.issuerOrigin])],
        frameAncestors: ["'none'"],
        baseUri: ["'none'"],
      },
    },
    // Forms of these pages have their origin, so that those of other sites can be refused.
    referrerPolicy: { policy: "same-origin" },
    // The header is for all ports of a host, so it is sent only if the address for people is of a host with this server alone.
    strictTransportSecurity: hasOwnHost(signIn) ? { maxAge: 31_536_000, includeSubDomains: false } : false,
  });
  await server.register(rateLimit, {
    max: requestsPerMinute,
    timeWindow: 60_000,
    errorResponseBuilder: (_, { after }) => new Problem("too-many-requests", `ask again in ${after}`),
  });
  server.setNotFoundHandler((request) => {
    throw new Problem("not-found", `${request.method} ${request.url.split("?")[0]} does not exist on this server`);
  });
  server.setErrorHandler((error, request, reply) => {
    const problem = problemOf(error);
    const url = loggedUrl(request);
    if (reply.raw.destroyed) logger.info({ url }, "the client of a request has left");
    else if (problem.code === "failed") logger.error({ err: error, url }, "a request failed");
    else if (problem.status === 400 || problem.status === 422)
      logger.info({ reason: problem.message, url }, "a question was refused");
    if (problem.code === "not-authenticated" && isForPerson(request) && request.method === "GET") {
      const way = signIn === undefined ? "/login" : "/sign-in";
      return reply.header("cache-control", "no-store").redirect(`${way}?next=${encodeURIComponent(request.url)}`, 303);
    }
    if (problem.status === 503) void reply.header("retry-after", "5");
    if (problem.status === 401) void reply.header("www-authenticate", 'Bearer realm="gpu-ledger"');
    void reply.code(problem.status).header("cache-control", "no-store");
    if (isForPerson(request)) return reply.type("text/html; charset=utf-8").send(problemPage(problem, request));
    return reply.type(PROBLEM_TYPE).send(JSON.stringify(problemDocument(problem, request.url)));
  });
}

/** Returns true if people reach the server by HTTPS on its default port. */
function hasOwnHost(signIn: SignIn | undefined): boolean {
  const { protocol, port } = new URL(signIn?.publicUrl ?? "http://server.invalid");
  return protocol === "https:" && port === "";
}

/** Returns the address of a request for the log: without its query on the paths of a sign-in, because that has a `code` and a `state`. */
function loggedUrl({ url }: FastifyRequest): string {
  return url.startsWith("/sign-in") ? url.split("?")[0]! : url;
}

/** Returns true if a request is from a browser. Paths for programs are excluded, regardless of their `Accept` header. */
function isForPerson({ headers, url }: FastifyRequest): boolean {
  return headers.accept?.includes("text/html") === true && !/^\/(?:api|allocation|model)\//.test(url);
}

/** Returns the problem for a failure. */
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
  if (code === "timeout" || code === "overloaded" || code === "over-limit")
    return new Problem("too-costly", "the store stopped the query: choose a shorter span or fewer dimensions");
  return code === "unavailable"
    ? new Problem("store-away", "the ledger's figures cannot be read now; no figure is lost")
    : new Problem("failed", "see the server's log");
}
