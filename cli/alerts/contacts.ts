import { z } from "zod";
import { list, oneOf, text, webAddress } from "../../runtime/config/words.ts";

const secretFile = text("the path of a file on Alertmanager's machine");
const mail = z.string({ error: "an e-mail address" }).regex(/^[^\s@]+@[^\s@]+$/, { error: "an e-mail address" });

/** The ways to notify a receiver. Secrets stay in files beside Alertmanager and are not read here. */
const contact = z
  .strictObject({
    slack: z.strictObject({ channel: text("a channel, such as #vision"), apiUrlFile: secretFile }).optional(),
    email: list(mail).optional().describe("The addresses. Alertmanager sends the mail through its smarthost."),
    pagerduty: z.strictObject({ routingKeyFile: secretFile }).optional(),
    webhook: webAddress.optional(),
  })
  .describe("Any of slack, email, pagerduty and webhook. Without any of them, no notification is sent.");

const DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"] as const;
const TIME = "a time of day, such as 08:30";
const time = z.string({ error: TIME }).regex(/^([01]\d|2[0-3]):[0-5]\d$|^24:00$/, { error: TIME });

const ZONE = "a time zone, such as Europe/Berlin";

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

/** The keys of the alerts' configuration for the receivers and the times of notifications. */
export const contactsSchema = {
  platform: contact.prefault({}).describe("The receivers of alerts without a team, and of all pages."),
  contacts: z.record(text("a team"), contact).default({}).describe("The receivers of each team's own alerts."),
  ownersFile: text("the path of a CSV file of owners")
    .optional()
    .describe("If set, every team above must be in the file."),
  smtp: z
    .strictObject({ smarthost: text("host:port"), from: mail })
    .optional()
    .describe("Required for e-mail with --alertmanager full."),
  repeat: z
    .strictObject({
      page: oneOf("1h", "2h", "4h", "8h", "12h", "24h").default("4h"),
      ticket: oneOf("4h", "8h", "12h", "24h", "48h", "168h").default("24h"),
    })
    .prefault({})
    .describe("How often the notification of an alert is repeated while it fires."),
  workingHours: z
    .strictObject({
      days: list(oneOf(...DAYS)).default(["monday", "tuesday", "wednesday", "thursday", "friday"]),
      from: time.default("08:00"),
      until: time.default("18:00"),
      timeZone: z.string({ error: ZONE }).refine(isTimeZone, { error: ZONE }).default("UTC"),
    })
    .superRefine(({ from, until }, context) => {
      if (until <= from) context.addIssue({ code: "custom", path: ["until"], message: "after from" });
    })
    .optional()
    .describe("The times at which tickets are sent (default: at any time). Pages are sent at any time."),
};
