/** The ways to notify a receiver. Secrets are files beside Alertmanager. */
export interface Contact {
  readonly slack?: { readonly channel: string; readonly apiUrlFile: string } | undefined;
  readonly email?: readonly string[] | undefined;
  readonly pagerduty?: { readonly routingKeyFile: string } | undefined;
  readonly webhook?: string | undefined;
}

/** The receivers, and the times of notifications. */
export interface Contacts {
  readonly platform: Contact;
  readonly teams: Readonly<Record<string, Contact>>;
  readonly smtp?: { readonly smarthost: string; readonly from: string } | undefined;
  readonly repeat: { readonly page: string; readonly ticket: string };
  readonly workingHours?:
    | { readonly days: readonly string[]; readonly from: string; readonly until: string; readonly timeZone: string }
    | undefined;
}

/** Returns true if any contact exists. */
export function reachesAnybody({ platform, teams }: Contacts): boolean {
  return [platform, ...Object.values(teams)].some((contact) => Object.values(contact).some((way) => way !== undefined));
}
