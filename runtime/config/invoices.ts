import { isAbsolute } from "node:path";
import { z } from "zod";
import { MAPPED_FIELDS } from "../../domain/invoice/dialect/mapped.ts";
import { DEFAULT_BOOKINGS } from "../../domain/invoice/rules.ts";
import { PERIOD_FORM, readPeriod } from "../../domain/period.ts";
import { between } from "./between.ts";
import { currency } from "./ledger.ts";
import { duration } from "./quantity.ts";
import { list, oneOf, secret, text, webAddress, type ConfigSources } from "./words.ts";

const RATE = 'a rate as text, such as "1.0842"';
const { disk, licence, network, ...others } = DEFAULT_BOOKINGS;
const ofMachine = oneOf("node", "platform", "none");
const ofNoMachine = oneOf("platform", "none");

/** The schema of how the lines of a source become costs. */
export const sourceRuleKeys = {
  share: oneOf("instance", "pool")
    .default("instance")
    .describe(
      "The cost of a machine: of its own lines, or the mean of the machines of its account, region, type and hour, because on which of them a savings plan lands is luck.",
    ),
  bookings: z
    .strictObject({
      disk: ofMachine.default(disk),
      licence: ofMachine.default(licence),
      network: ofMachine.default(network),
      "unused-commitment": ofNoMachine.default(others["unused-commitment"]),
      purchase: ofNoMachine.default(others.purchase),
      credit: ofNoMachine.default(others.credit),
      refund: ofNoMachine.default(others.refund),
      support: ofNoMachine.default(others.support),
      fee: ofNoMachine.default(others.fee),
      tax: ofNoMachine.default(others.tax),
      outside: ofNoMachine.default(others.outside),
      "no-cluster": ofNoMachine.default(others["no-cluster"]),
    })
    .prefault({})
    .describe(
      "Who bears each kind of cost: `node` (of the machine), `platform`, or `none`, which only the reconciliation lists.",
    ),
  rates: list(
    z.strictObject({
      account: text("an account"),
      period: z
        .string({ error: PERIOD_FORM })
        .refine((month) => readPeriod(month) !== undefined, { error: PERIOD_FORM }),
      currency,
      rate: z.string({ error: RATE }).regex(/^\d+(\.\d+)?$/, { error: RATE }),
    }),
  )
    .default([])
    .describe("The rates of exchange that an invoice names, by account and month. They come before the price book's."),
};

const NAME = "a name of a-z, 0-9 and -, at most 60 characters";
const FOLDER = "an absolute path";
const column = z.union([text("the name of a column"), z.strictObject({ value: z.string() })], {
  error: "the name of a column, or { value: TEXT }",
});

const bucket = (sources: ConfigSources) =>
  z.strictObject({
    url: webAddress.describe(
      "The address of the bucket: `https://bills.s3.eu-west-1.amazonaws.com`, `http://minio:9000/bills`.",
    ),
    prefix: z.string().default("").describe("The beginning of the keys that are read."),
    region: text("a region").default("us-east-1").describe("The region by which requests are signed."),
    accessKeyId: secret(sources).describe("The id of the access key."),
    secretAccessKey: secret(sources).describe("The secret of the access key."),
    sessionToken: secret(sources).optional().describe("The token of a temporary access key."),
  });

const container = (sources: ConfigSources) =>
  z.strictObject({
    url: webAddress.describe("The address of the container: `https://bills.blob.core.windows.net/exports`."),
    prefix: z.string().default("").describe("The beginning of the names that are read."),
    sasToken: secret(sources).describe("A shared access signature that permits to list and to read blobs."),
  });

const source = (sources: ConfigSources) =>
  z
    .strictObject({
      name: z
        .string({ error: NAME })
        .regex(/^[a-z0-9-]{1,60}$/, { error: NAME })
        .describe("The name of the source in charges and reports."),
      folder: z
        .string({ error: FOLDER })
        .refine((path) => isAbsolute(path), { error: FOLDER })
        .optional()
        .describe("The folder in which the provider's exports are laid down."),
      bucket: bucket(sources)
        .optional()
        .describe("A bucket with the interface of S3: of Amazon, Google (HMAC keys), Cloudflare R2, MinIO."),
      container: container(sources).optional().describe("A container of Azure Blob Storage."),
      every: duration("1m", "7d")
        .prefault("1h")
        .describe("How often the folder, the bucket or the container is looked at."),
      finalAfter: duration("1d", "90d")
        .optional()
        .describe(
          "The time after a month's end at which its lines count as invoiced, for formats without numbers of invoices: Google, Oracle, FOCUS 1.0 and 1.1.",
        ),
      mapping: z
        .partialRecord(z.enum(MAPPED_FIELDS), column)
        .optional()
        .describe("The columns of a file that is in none of the known formats. See docs/invoices.md."),
      instanceTypes: list(text("an instance type")).default([]).describe("More instance types whose lines count."),
      accounts: list(text("an account")).default([]).describe("Accounts of which all machines count."),
      services: list(text("a service")).default([]).describe("Services of which all lines count."),
      ...sourceRuleKeys,
    })
    .check(
      between([["folder"], ["bucket"], ["container"]], (places, context) => {
        const [, second] = (["folder", "bucket", "container"] as const).filter((name) => places[name] !== undefined);
        if (second !== undefined)
          context.addIssue({ code: "custom", path: [second], message: "a folder, a bucket or a container, not two" });
      }),
    );

/** Returns the schema of the sources of providers' exports. */
export const invoices = (sources: ConfigSources) =>
  list(source(sources)).default([]).describe("Where the exports of providers' bills come from. See docs/invoices.md.");

/** A source of exports. */
export type InvoiceSource = z.output<ReturnType<typeof invoices>>[number];

/** A check that sources have different names. */
export const invoicesCheck = between(
  [["invoices"]],
  ({ invoices: sources }: { invoices: readonly InvoiceSource[] }, context) => {
    for (const [index, { name }] of sources.entries())
      if (sources.findIndex((other) => other.name === name) < index)
        context.addIssue({
          code: "custom",
          path: ["invoices", index, "name"],
          message: "a name that no other source has",
        });
  },
);
