import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { PROBLEM_TYPE } from "../question/problem.ts";
import { problemSchema } from "./schemas.ts";

/** The common beginning of the API's paths. */
export const API_PATH = "/api/v1";

/** A server to which {@link addRoute} adds paths. */
export type ApiServer = FastifyInstance;

/** A path of the API. Its description is also its validation. */
export interface Route<Query extends z.ZodType> {
  readonly path: string;
  /** A sentence for readers of the description. */
  readonly summary: string;
  readonly query: Query;
  /** The schema of the JSON answer; absent if the answers are files of these media types. */
  readonly answer?: z.ZodType;
  readonly type?: readonly string[];
  handle(asked: {
    readonly query: z.output<Query>;
    readonly request: FastifyRequest;
    readonly reply: FastifyReply;
  }): Promise<FastifyReply>;
}

const MOST_SENT = [400, 401, 403, 404, 410, 422, 429, 501, 503] as const;

/** Adds a path to the API and to its description. */
export function addRoute<Query extends z.ZodType>(server: ApiServer, route: Route<Query>): void {
  const { path, summary, query, answer, type = [], handle } = route;
  const files = Object.fromEntries(type.map((each) => [each, { schema: z.string() }]));
  const problem = {
    description: "The reason for the failed request.",
    content: { [PROBLEM_TYPE]: { schema: problemSchema } },
  };
  server.get(
    `${API_PATH}${path}`,
    {
      schema: {
        summary,
        tags: [path.split("/")[1]!],
        querystring: query,
        response: {
          200: answer ?? { description: summary, content: files },
          ...Object.fromEntries(MOST_SENT.map((status) => [status, problem])),
        },
      },
      // Answers are sent as bytes that were made once. Tests check them against their schemas.
      serializerCompiler: () => (value) => JSON.stringify(value),
    },
    (request, reply) => handle({ query: request.query as z.output<Query>, request, reply }),
  );
}
