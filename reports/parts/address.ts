import { filterText, type ChargesQuestion, type Filter } from "../question/question.ts";

/** Returns the address of a view: its path and its parameters. Undefined and empty values are left out. */
export function address(path: string, of: Readonly<Record<string, string | undefined>> = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(of)) if (value !== undefined && value !== "") parameters.set(name, value);
  const text = parameters.toString();
  return text === "" ? path : `${path}?${text}`;
}

/** Returns the address of the page that explains some charges. */
export function explainAddress({ policy, kind, span, where }: ChargesQuestion, more: readonly Filter[] = []): string {
  const parameters = new URLSearchParams({ span: span.name, kind, policy });
  for (const filter of [...where, ...more]) parameters.append("where", filterText(filter));
  return `/explain?${parameters.toString()}`;
}

/** Returns the address of the page that divides the change of a cost by its causes. */
export function changeAddress({ policy, span, where, compared }: Omit<ChargesQuestion, "kind">): string {
  const parameters = new URLSearchParams({ span: span.name, policy });
  if (compared !== undefined) parameters.set("compare", compared.name);
  for (const filter of where) parameters.append("where", filterText(filter));
  return `/change?${parameters.toString()}`;
}

/** Returns the address of a team's page for a time. */
export function teamAddress(team: string, span: string): string {
  return address("/team", { team, span });
}
