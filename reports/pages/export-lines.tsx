import type { VNode } from "preact";
import type { ExportedLine } from "../explain/export-lines.ts";
import { Money } from "../parts/money.tsx";
import { Table } from "../parts/table.tsx";

/** The lines of providers' exports behind the cost of a node in an hour; nothing if the price book prices it. */
export function ExportLines({ lines }: { readonly lines: readonly ExportedLine[] }): VNode | null {
  if (lines.length === 0) return null;
  return (
    <>
      <h2>The bill of the provider</h2>
      <Table
        caption="Lines of the node's machine in this hour"
        rows={lines}
        columns={[
          { head: "export", cell: ({ source, export: name }) => <bdi>{`${source}: ${name}`}</bdi> },
          { head: "file, row", cell: ({ file, row }) => <bdi>{`${file}, ${row}`}</bdi> },
          { head: "of", cell: ({ kind }) => kind },
          { head: "from", isWhole: true, cell: ({ from }) => from.slice(0, 16).replace("T", " ") },
          { head: "until", isWhole: true, cell: ({ until }) => until.slice(0, 16).replace("T", " ") },
          { head: "hours", isNumber: true, cell: ({ machineHours }) => machineHours },
          { head: "commitment", cell: ({ commitment }) => <bdi>{commitment}</bdi> },
          { head: "invoice", cell: ({ invoice }) => (invoice === "" ? "not yet" : <bdi>{invoice}</bdi>) },
          {
            head: "effective",
            isNumber: true,
            cell: ({ effective, currency }) => <Money amount={effective} currency={currency} />,
          },
          {
            head: "billed",
            isNumber: true,
            cell: ({ billed, currency }) => <Money amount={billed} currency={currency} />,
          },
          { head: "currency", cell: ({ currency }) => currency },
        ]}
      />
    </>
  );
}
