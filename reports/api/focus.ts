import { FOCUS_DRAFTS, FOCUS_VERSIONS } from "../../domain/focus-version.ts";
import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { SPLIT_RULES } from "../../domain/serving/split-rule.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { FocusCheckError } from "../focus/check/error.ts";
import { exportFocus } from "../focus/export.ts";
import type { FocusExport, FocusWay } from "../focus/file.ts";
import { exportServices } from "../focus/services.ts";
import { focusSetting, objectionToDraft, type FocusChoice, type FocusSetting } from "../focus/setting.ts";
import { MEDIA_TYPES } from "../format/media-types.ts";
import { ListPricedError } from "../read/list-priced.ts";
import { Problem } from "../question/problem.ts";
import { questionText } from "../question/question.ts";
import type { Span } from "../question/span.ts";
import { readServingFilters } from "../serving/question.ts";
import { seesAll } from "../access/viewer.ts";
import { questionOf } from "./charges.ts";
import type { ApiContext } from "./context.ts";
import { fileName } from "../format/file-name.ts";
import { sendFile } from "./file.ts";
import { addRoute, type ApiServer } from "./route.ts";
import { splitRuleOf } from "./serving.ts";
import { conditions, type Words } from "./words.ts";

const file = {
  format: z
    .enum(["csv", "parquet", "manifest"])
    .default("csv")
    .describe("manifest is the description of a file: its sums, its unpriced part, and the result of the check."),
  check: z
    .enum(["true", "false"])
    .default("false")
    .describe("Check the file against the rules of FOCUS. If the check fails, the file ends without its last part."),
  listPrices: z
    .enum(["true", "false"])
    .default("false")
    .describe("true: the file may have charges by public list prices, which apply without a price book."),
};
const focusVersion = z
  .enum(FOCUS_VERSIONS)
  .optional()
  .describe("The version of FOCUS. Default: `focus.version` of the configuration, see docs/focus.md.");
const focusDraft = z
  .enum(FOCUS_DRAFTS)
  .optional()
  .describe("With version 1.4: the columns and keys that this coming version has merged, too.");
const type = [MEDIA_TYPES.csv, MEDIA_TYPES.parquet, MEDIA_TYPES.json];

/**
 * Adds `/focus` and `/serving/focus`: charges and the cost of inference services as FOCUS. Each is a file that is written while it is
 * read.
 */
export function addFocus(server: ApiServer, context: ApiContext, words: Words): void {
  const { span, kind, where, policy } = words;
  function settingOf(choice: FocusChoice, { viewer }: FastifyRequest): FocusSetting {
    const setting = focusSetting(context.focus, context.ledger, { ...choice, hidesOrigins: !seesAll(viewer) });
    const message = objectionToDraft(setting);
    if (message === undefined) return setting;
    throw new Problem("wrong-parameter", `focusDraft: ${message}`, [{ parameter: "focusDraft", message }]);
  }
  addRoute(server, {
    path: "/focus",
    summary: "The charges of a time as FOCUS with split-cost columns, without unpriced lines.",
    query: z.strictObject({ span, kind, where, policy, focusVersion, ...file }),
    type,
    handle: (asked) => {
      const question = questionOf(asked.query, asked.request.viewer, context);
      const names = { file: "focus", subject: `FOCUS of ${questionText(question)}` };
      const setting = settingOf({ policy: question.policy, version: asked.query.focusVersion }, asked.request);
      return send(asked, question, names, (store, way) => exportFocus(store, question, setting, way));
    },
  });

  addRoute(server, {
    path: "/serving/focus",
    summary:
      "The cost of inference services as FOCUS: a service's cost of a day, split over phases, models and tenants.",
    query: z.strictObject({
      span,
      kind,
      where: conditions(readServingFilters, "model=qwen3-32b"),
      policy,
      rule: z.enum(SPLIT_RULES).optional().describe("A rule of `serving.rules`. Default: the first one."),
      focusVersion,
      focusDraft,
      ...file,
    }),
    type,
    handle: (asked) => {
      const question = {
        ...questionOf(asked.query, asked.request.viewer, context),
        rule: splitRuleOf(context.ledger, asked.query.rule),
      };
      const names = {
        file: "focus-serving",
        subject: `FOCUS of services, ${question.rule}, ${questionText(question)}`,
      };
      const { focusVersion: version, focusDraft: draft } = asked.query;
      const setting = settingOf({ policy: question.policy, version, draft }, asked.request);
      return send(asked, question, names, (store, way) => exportServices(store, question, setting, way));
    },
  });

  async function send(
    { query: { format, check, listPrices }, request, reply }: Asked,
    { span }: { readonly span: Span },
    names: { readonly file: string; readonly subject: string },
    exported: (store: StoreClient, way: FocusWay) => Promise<FocusExport>,
  ): Promise<FastifyReply> {
    const store = context.answers.storeForFile(request, reply);
    const way = {
      format: format === "parquet" ? format : "csv",
      isChecked: check === "true",
      listPrices: listPrices === "true",
    } as const;
    const { bytes, manifest } = await exported(store, way).catch((error: unknown) => {
      if (!(error instanceof ListPricedError)) throw error;
      throw new Problem("wrong-parameter", `${error.message}; listPrices=true exports them`, [
        { parameter: "listPrices", message: error.message },
      ]);
    });
    if (format === "manifest") {
      await readThrough(bytes);
      return reply.type(MEDIA_TYPES.json).send(JSON.stringify(manifest()));
    }
    const sent = {
      name: fileName(names.file, span, format),
      type: MEDIA_TYPES[format],
      subject: names.subject,
      bytes,
      rows: () => manifest().rows,
    };
    return sendFile(request, reply, sent, context);
  }
}

interface Asked {
  readonly query: z.output<z.ZodObject<typeof file>>;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** Reads a file to its end. A file that breaks a rule ends early, and its manifest names the rule. */
async function readThrough(bytes: AsyncIterable<Uint8Array>): Promise<void> {
  try {
    for await (const _ of bytes) void _;
  } catch (error) {
    if (!(error instanceof FocusCheckError)) throw error;
  }
}
