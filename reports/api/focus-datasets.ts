import type { FocusDatasetName } from "../format/names.ts";
import { z } from "zod";
import { periodOf } from "../../domain/period.ts";
import { fileName } from "../format/file-name.ts";
import { MEDIA_TYPES } from "../format/media-types.ts";
import { exportReference, NoIssuerError } from "../focus/reference.ts";
import { focusSetting } from "../focus/setting.ts";
import { Problem } from "../question/problem.ts";
import type { ApiContext } from "./context.ts";
import { sendFile } from "./file.ts";
import { addRoute, type ApiServer } from "./route.ts";
import type { Words } from "./words.ts";

const SUMMARIES: Readonly<Record<FocusDatasetName, string>> = {
  "billing-periods": "The billing periods as Billing Period of FOCUS 1.4.",
  "invoice-details":
    "The statements of closed months as Invoice Detail of FOCUS 1.4, of the teams that the token sees.",
  "contract-commitments": "The commitments of the price book as Contract Commitment of FOCUS 1.4.",
};

/** Adds `/focus/billing-periods`, `/focus/invoice-details` and `/focus/contract-commitments`: the datasets beside Cost and Usage. */
export function addFocusDatasets(server: ApiServer, context: ApiContext, words: Words): void {
  for (const [name, summary] of Object.entries(SUMMARIES) as [FocusDatasetName, string][])
    addRoute(server, {
      path: `/focus/${name}`,
      summary,
      query: z.strictObject({
        period: words.month,
        format: z
          .enum(["csv", "parquet", "manifest"])
          .default("csv")
          .describe("manifest is the description of a file: its rows, its sums, and the result of the check."),
      }),
      type: [MEDIA_TYPES.csv, MEDIA_TYPES.parquet, MEDIA_TYPES.json],
      async handle({ query: { period, format }, request, reply }) {
        const { ledger, focus, now } = context;
        const store = context.answers.storeForFile(request, reply);
        const setting = focusSetting(focus, ledger, { policy: ledger.policies[0].name, version: "1.4" });
        const question = { period, teams: request.viewer.teams, now: now() };
        const written = format === "parquet" ? format : "csv";
        const { bytes, manifest } = await exportReference(store, name, question, setting, written).catch(asProblem);
        if (format === "manifest") {
          for await (const _ of bytes) void _;
          return reply.type(MEDIA_TYPES.json).send(JSON.stringify(manifest()));
        }
        const file = fileName(`focus-${name}`, period ?? periodOf(now()), format);
        const subject = `FOCUS ${name}${period === undefined ? "" : ` of ${period.name}`}`;
        const sent = { name: file, type: MEDIA_TYPES[format], subject, bytes, rows: () => manifest().rows };
        return sendFile(request, reply, sent, context);
      },
    });
}

function asProblem(error: unknown): never {
  throw error instanceof NoIssuerError ? new Problem("not-configured", error.message) : error;
}
