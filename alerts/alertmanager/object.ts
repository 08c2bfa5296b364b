import type { AlertOptions } from "../options.ts";
import { alertmanagerParts, receiverOf, NOBODY, PLATFORM, type Route } from "./configuration.ts";
import type { Contact, Contacts } from "./contacts.ts";
import { inlineText, inlineTitle } from "./templates.ts";

/** A setting that an AlertmanagerConfig does not support. The message contains the needed change. */
export class NotInObjectError extends Error {
  readonly code = "not-in-alertmanager-config";
  readonly retriable = false;
}

/**
 * Returns this project's part of an Alertmanager configuration as an object of the Prometheus operator (AlertmanagerConfig, v1alpha1, whose
 * reference is https://prometheus-operator.dev/docs/api-reference/api/). Secrets are those of the namespace: a file
 * `/etc/alertmanager/secrets/SECRET/KEY` names one. Fails with a {@link NotInObjectError}.
 */
export function alertmanagerObject(
  options: AlertOptions,
  contacts: Contacts,
  metadata: { readonly namespace: string | undefined; readonly labels: Readonly<Record<string, string>> },
): object {
  const { route, inhibit_rules, time_intervals } = alertmanagerParts(options, contacts);
  const zone = contacts.workingHours?.timeZone ?? "UTC";
  if (zone !== "UTC") {
    throw new NotInObjectError(
      `an AlertmanagerConfig supports only the time zone UTC: workingHours.timeZone is ${zone}`,
    );
  }
  return {
    apiVersion: "monitoring.coreos.com/v1alpha1",
    kind: "AlertmanagerConfig",
    metadata: {
      name: "gpu-ledger",
      ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
      labels: { "app.kubernetes.io/name": "gpu-ledger", ...metadata.labels },
    },
    spec: {
      route: routeObject(route),
      inhibitRules: inhibit_rules.map(({ source_matchers, target_matchers, equal }) => ({
        sourceMatch: source_matchers.map(matcherObject),
        targetMatch: target_matchers.map(matcherObject),
        equal,
      })),
      receivers: [
        { name: NOBODY },
        receiverObject(PLATFORM, contacts.platform, contacts.smtp),
        ...Object.entries(contacts.teams).map(([team, contact]) =>
          receiverObject(receiverOf(team), contact, contacts.smtp),
        ),
      ],
      ...(time_intervals.length === 0 ? {} : { muteTimeIntervals: intervalObjects(contacts) }),
    },
  };
}

function routeObject(route: Route): object {
  const { receiver, matchers, group_by, group_wait, group_interval, repeat_interval, active_time_intervals, routes } =
    route;
  return {
    ...(receiver === undefined ? {} : { receiver }),
    ...(matchers === undefined ? {} : { matchers: matchers.map(matcherObject) }),
    ...(group_by === undefined ? {} : { groupBy: group_by }),
    ...(group_wait === undefined ? {} : { groupWait: group_wait }),
    ...(group_interval === undefined ? {} : { groupInterval: group_interval }),
    ...(repeat_interval === undefined ? {} : { repeatInterval: repeat_interval }),
    ...(active_time_intervals === undefined ? {} : { activeTimeIntervals: active_time_intervals }),
    ...(routes === undefined ? {} : { routes: routes.map(routeObject) }),
  };
}

/** Returns `name="value"` in the object's form. */
function matcherObject(matcher: string): object {
  const [, name, matchType, value] = /^(\w+)(=~|!~|!=|=)(".*")$/s.exec(matcher)!;
  return { name, matchType, value: JSON.parse(value!) as string };
}

function receiverObject(name: string, contact: Contact, smtp: Contacts["smtp"]): object {
  const { slack, email, pagerduty, webhook } = contact;
  const [title, text] = [inlineTitle(), inlineText()];
  return {
    name,
    ...(slack === undefined
      ? {}
      : {
          slackConfigs: [
            { channel: slack.channel, apiURL: secretOf(slack.apiUrlFile), sendResolved: true, title, text },
          ],
        }),
    ...(email === undefined
      ? {}
      : {
          emailConfigs: email.map((to) => ({
            to,
            ...(smtp === undefined ? {} : { from: smtp.from, smarthost: smtp.smarthost }),
            sendResolved: true,
            headers: [{ key: "subject", value: title }],
            text,
          })),
        }),
    ...(pagerduty === undefined
      ? {}
      : {
          pagerdutyConfigs: [
            {
              routingKey: secretOf(pagerduty.routingKeyFile),
              sendResolved: true,
              description: title,
              details: [{ key: "text", value: text }],
            },
          ],
        }),
    ...(webhook === undefined ? {} : { webhookConfigs: [{ url: webhook, sendResolved: true }] }),
  };
}

function secretOf(path: string): object {
  const match = /\/secrets\/([^/]+)\/([^/]+)$/.exec(path);
  if (match === null) {
    throw new NotInObjectError(
      `an AlertmanagerConfig reads secrets of its namespace by paths like /etc/alertmanager/secrets/SECRET/KEY: ${path} is not such a path`,
    );
  }
  return { name: match[1], key: match[2] };
}

function intervalObjects({ workingHours }: Contacts): readonly object[] {
  const { days, from, until } = workingHours!;
  return [
    {
      name: "gpu-ledger-working-hours",
      timeIntervals: [{ weekdays: days, times: [{ startTime: from, endTime: until }] }],
    },
  ];
}
