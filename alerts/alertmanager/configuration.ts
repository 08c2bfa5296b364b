import { TOPIC } from "../generate.ts";
import type { AlertOptions } from "../options.ts";
import { quote } from "../promql.ts";
import type { Contact, Contacts } from "./contacts.ts";
import { inhibitions, type Inhibition } from "./inhibitions.ts";

/** A route of Alertmanager. */
export interface Route {
  readonly receiver?: string;
  readonly matchers?: readonly string[];
  readonly group_by?: readonly string[];
  readonly group_wait?: string;
  readonly group_interval?: string;
  readonly repeat_interval?: string;
  readonly active_time_intervals?: readonly string[];
  readonly routes?: readonly Route[];
}

/** A receiver of Alertmanager: its name, and lists by the kind of notification. */
export interface Receiver {
  readonly name: string;
  readonly [way: `${string}_configs`]: readonly object[];
}

/** This project's part of an Alertmanager configuration, to be added to an existing one. */
export interface AlertmanagerParts {
  readonly route: Route;
  readonly inhibit_rules: readonly Inhibition[];
  readonly receivers: readonly Receiver[];
  readonly time_intervals: readonly object[];
}

/** The receiver of alerts without notification: they are only shown in Alertmanager. */
export const NOBODY = "gpu-ledger-nobody";
export const PLATFORM = "gpu-ledger-platform";
const WORKING_HOURS = "gpu-ledger-working-hours";

/** Returns the route of this project's alerts with its subroutes: by `notify` first, then by team. */
export function alertmanagerParts(options: AlertOptions, contacts: Contacts): AlertmanagerParts {
  const { clusterLabel, prefix } = options;
  const { teams, repeat, workingHours } = contacts;
  const hours = workingHours === undefined ? {} : { active_time_intervals: [WORKING_HOURS] };
  const ofTeams = (interval: string, more: Partial<Route> = {}): readonly Route[] =>
    Object.keys(teams).map((team) => ({
      receiver: receiverOf(team),
      matchers: [`team=${quote(team)}`],
      repeat_interval: interval,
      ...more,
    }));
  const tickets = { repeat_interval: repeat.ticket, ...hours, routes: ofTeams(repeat.ticket, hours) };
  return {
    route: {
      receiver: PLATFORM,
      matchers: [`${TOPIC}!=""`],
      // One message for one subject: a node with eight GPUs, or a pod on eight of them.
      group_by: ["alertname", clusterLabel, "node", "namespace", "pod", "team"],
      group_wait: "30s",
      group_interval: "5m",
      repeat_interval: repeat.page,
      routes: [
        { receiver: NOBODY, matchers: ['notify="none"'] },
        { matchers: ['notify="page"'], routes: ofTeams(repeat.page) },
        {
          // All waste of a team is one message a day.
          matchers: [
            'notify="ticket"',
            `${TOPIC}=~"waste|serving"`,
            `alertname!=${quote(`${prefix}GPUMemoryHeldWithoutPod`)}`,
          ],
          group_by: [clusterLabel, "team"],
          group_wait: "10m",
          group_interval: "24h",
          ...tickets,
        },
        {
          matchers: ['notify="ticket"'],
          group_by: ["alertname", clusterLabel, "namespace", "team"],
          ...tickets,
        },
      ],
    },
    inhibit_rules: inhibitions(options),
    receivers: [
      { name: NOBODY },
      receiver(PLATFORM, contacts.platform),
      ...Object.entries(teams).map(([team, contact]) => receiver(receiverOf(team), contact)),
    ],
    time_intervals:
      workingHours === undefined
        ? []
        : [
            {
              name: WORKING_HOURS,
              time_intervals: [
                {
                  weekdays: workingHours.days,
                  times: [{ start_time: workingHours.from, end_time: workingHours.until }],
                  location: workingHours.timeZone,
                },
              ],
            },
          ],
  };
}

/** Returns a whole configuration of Alertmanager for only this project's alerts. */
export function wholeConfiguration(options: AlertOptions, contacts: Contacts, templates: string): object {
  const { route, ...parts } = alertmanagerParts(options, contacts);
  const { smtp } = contacts;
  return {
    ...(smtp === undefined ? {} : { global: { smtp_smarthost: smtp.smarthost, smtp_from: smtp.from } }),
    templates: [templates],
    route: {
      receiver: PLATFORM,
      group_by: ["alertname", options.clusterLabel],
      repeat_interval: "12h",
      routes: [route],
    },
    ...parts,
  };
}

/** Returns the name of a team's receiver. */
export function receiverOf(team: string): string {
  return `gpu-ledger-team-${team}`;
}

const TITLE = '{{ template "gpu_ledger.title" . }}';
const TEXT = '{{ template "gpu_ledger.text" . }}';

function receiver(name: string, { slack, email, pagerduty, webhook }: Contact): Receiver {
  return {
    name,
    ...(slack === undefined
      ? {}
      : {
          slack_configs: [
            { channel: slack.channel, api_url_file: slack.apiUrlFile, send_resolved: true, title: TITLE, text: TEXT },
          ],
        }),
    ...(email === undefined
      ? {}
      : {
          email_configs: email.map((to) => ({
            to,
            send_resolved: true,
            headers: { subject: TITLE },
            text: TEXT,
            html: "",
          })),
        }),
    ...(pagerduty === undefined
      ? {}
      : {
          pagerduty_configs: [
            {
              routing_key_file: pagerduty.routingKeyFile,
              send_resolved: true,
              description: TITLE,
              details: { text: TEXT },
              severity: '{{ if eq .CommonLabels.severity "critical" }}critical{{ else }}warning{{ end }}',
            },
          ],
        }),
    ...(webhook === undefined ? {} : { webhook_configs: [{ url: webhook, send_resolved: true }] }),
  };
}
