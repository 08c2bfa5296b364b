import { readdirSync, readFileSync } from "node:fs";
import type { VNode } from "preact";
import { z } from "zod";
import { address } from "../parts/address.ts";
import { filledCommand, type CommandNames } from "../parts/filled-command.ts";
import { Markdown } from "../parts/markdown.tsx";
import { Problem } from "../question/problem.ts";
import type { AddPage } from "./context.ts";

/** The documents' runbooks. The build copies them beside the code. */
const FOLDER = new URL("../../docs/runbooks/", import.meta.url);
/** The address of the documents, for links of runbooks to other documents. */
const DOCUMENTS = "https://github.com/gpu-ledger/gpu-ledger/blob/main/docs/";

/** A name of an alert's label: printable, and no option of a command. The empty name is unknown. */
const name = z
  .string()
  .max(253)
  .regex(/^(?!-)[^\p{C}]*$/u, { error: "a name" })
  .default("");
const query = z.object({
  alert: z.string().max(100).optional(),
  cluster: name,
  node: name,
  uuid: name,
  namespace: name,
  pod: name,
  workload: name,
  team: name,
});
type Asked = z.output<typeof query>;

/** Adds the runbooks of the alerts, as the documents have them, with the names of an alert in their commands; without an alert their list. */
export function addRunbooks(add: AddPage): void {
  const texts = new Map(
    readdirSync(FOLDER)
      .toSorted()
      .map((file) => [file.replace(/\.md$/, ""), readFileSync(new URL(file, FOLDER), "utf8")] as const),
  );
  add("/runbook", { schema: { querystring: query } }, (request) => {
    const { alert, ...names } = request.query as Asked;
    if (alert === undefined)
      return Promise.resolve({ title: "Runbooks", content: <Runbooks alerts={[...texts.keys()]} /> });
    const text = texts.get(alert);
    if (text === undefined) throw new Problem("not-found", "there is no runbook of this name");
    return Promise.resolve({ title: `Runbook ${alert}`, content: <Runbook text={text} names={names} /> });
  });
}

function Runbooks({ alerts }: { readonly alerts: readonly string[] }): VNode {
  return (
    <>
      <h1>Runbooks</h1>
      <p class="lead">
        What to do about each alert. The links of alerts lead to runbooks with the names of the alert in their commands.
      </p>
      <ul>
        {alerts.map((alert) => (
          <li>
            <a href={address("/runbook", { alert })}>{alert}</a>
          </li>
        ))}
      </ul>
    </>
  );
}

function Runbook({ text, names }: { readonly text: string; readonly names: Omit<Asked, "alert"> }): VNode {
  const words: CommandNames = Object.fromEntries(
    Object.entries(names).map(([key, value]) => [key.toUpperCase(), value]),
  );
  const markup = {
    code: (code: string, language: string | undefined) => filledCommand(code, language, words),
    href: (target: string) => {
      const [, other] = /^(\w+)\.md$/.exec(target) ?? [];
      return other === undefined
        ? new URL(target, `${DOCUMENTS}runbooks/`).href
        : address("/runbook", { alert: other, ...names });
    },
  };
  return <Markdown text={text} markup={markup} />;
}
