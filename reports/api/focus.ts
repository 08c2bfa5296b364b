import { z } from "zod";
import { FocusCheckError } from "../focus/check/error.ts";
import { exportFocus } from "../focus/export.ts";
import { MEDIA_TYPES } from "../format/media-types.ts";
import { questionText } from "../question/question.ts";
import { questionOf } from "./charges.ts";
import type { ApiContext } from "./context.ts";
import { sendFile } from "./file.ts";
import { addRoute, type ApiServer } from "./route.ts";
import type { Words } from "./words.ts";

/** Adds `/focus`: charges as the Cost and Usage of FOCUS 1.3, a file that is written while it is read. */
export function addFocus(server: ApiServer, context: ApiContext, words: Words): void {
  const { span, kind, where, policy } = words;
  addRoute(server, {
    path: "/focus",
    summary: "The charges of a time as FOCUS 1.3 with split-cost columns, without unpriced lines.",
    query: z.strictObject({
      span,
      kind,
      where,
      policy,
      format: z
        .enum(["csv", "parquet", "manifest"])
        .default("csv")
        .describe("manifest is the description of a file: its sums, its unpriced part, and the result of the check."),
      check: z
        .enum(["true", "false"])
        .default("false")
        .describe(
          "Check the file against the rules of FOCUS. If the check fails, the file ends without its last part.",
        ),
    }),
    type: [MEDIA_TYPES.csv, MEDIA_TYPES.parquet, MEDIA_TYPES.json],
    async handle({ query, request, reply }) {
      const { format, check } = query;
      const question = questionOf(query, request.viewer, context);
      const setting = { ...context.focus, policy: question.policy, currency: context.ledger.book.currency };
      const isChecked = check === "true";
      const way = { format: format === "parquet" ? format : "csv", isChecked } as const;
      const store = context.answers.storeForFile(request, reply);
      const { bytes, manifest } = await exportFocus(store, question, setting, way);
      if (format === "manifest") {
        await readThrough(bytes);
        return reply.type(MEDIA_TYPES.json).send(JSON.stringify(manifest()));
      }
      const file = {
        name: `focus-${question.span.name.replaceAll(/[^\w-]/g, "_")}.${format}`,
        type: MEDIA_TYPES[format],
        subject: `FOCUS of ${questionText(question)}`,
        bytes,
        rows: () => manifest().rows,
      };
      return sendFile(request, reply, file, context);
    },
  });
}

/** Reads a file to its end. A file that breaks a rule ends early, and its manifest names the rule. */
async function readThrough(bytes: AsyncIterable<Uint8Array>): Promise<void> {
  try {
    for await (const _ of bytes) void _;
  } catch (error) {
    if (!(error instanceof FocusCheckError)) throw error;
  }
}
