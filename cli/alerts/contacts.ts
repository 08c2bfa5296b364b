import { z } from "zod";
import { list, oneOf, text, webAddress } from "../../runtime/config/words.ts";

const secretFile = text("the path of a file on the machine of Alertmanager");
const mail = z.string({ error: "an e-mail address" }).regex(/^[^\s@]+@[^\s@]+$/, { error: "an e-mail address" });

/** The ways to notify a receiver. Secrets stay in files beside Alertmanager and are not read here. */
const contact = z
  .strictObject({
    slack: z.strictObject({ channel: text("a channel, such as #vision"), apiUrlFile: secretFile }).optional(),
    email: list(mail).optional().describe("Sent by the smarthost of Alertmanager's own configuration."),
    pagerduty: z.strictObject({ routingKeyFile: secretFile }).optional(),
    webhook: webAddress.optional(),
  })
  .describe("Any of slack, email, pagerduty, webhook; none reaches nobody.");

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
  platform: contact.prefault({}).describe("Who hears of what is no team's, and of everything that must wake somebody."),
  contacts: z.record(text("a team"), contact).default({}).describe("How each team hears of its own alerts."),
  ownersFile: text("the path of a CSV file of owners")
    .optional()
    .describe("Where it is given, every team above must be in it."),
  smtp: z
    .strictObject({ smarthost: text("host:port"), from: mail })
    .optional()
    .describe("Needed where anybody is reached by e-mail, for --alertmanager full."),
  repeat: z
    .strictObject({
      page: oneOf("1h", "2h", "4h", "8h", "12h", "24h").default("4h"),
      ticket: oneOf("4h", "8h", "12h", "24h", "48h", "168h").default("24h"),
    })
    .prefault({})
    .describe("How often somebody is told again of what still fires."),
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
    .describe("When tickets are told; at any time where it is left out. Pages are told at any time."),
};
