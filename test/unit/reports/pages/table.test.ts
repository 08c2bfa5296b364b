import { h } from "preact";
import { render } from "preact-render-to-string";
import { describe, expect, it } from "vitest";
import { pagingOf } from "../../../../reports/parts/paging.tsx";
import { Money } from "../../../../reports/parts/money.tsx";
import { tableFile, wantedTable } from "../../../../reports/parts/table-file.tsx";
import { Table, type Column } from "../../../../reports/parts/table.tsx";

interface Team {
  readonly name: string;
  readonly cost: number;
}

const TEAMS: readonly Team[] = Array.from({ length: 250 }, (_, index) => ({
  name: `team-${String(index).padStart(3, "0")}`,
  cost: (index * 7) % 250,
}));
const COLUMNS: readonly [Column<Team>, ...Column<Team>[]] = [
  { head: "team", cell: ({ name }) => h("a", { href: "/" }, h("bdi", null, name)), foot: "all" },
  {
    head: "cost",
    isNumber: true,
    value: ({ cost }) => cost,
    cell: ({ cost }) => h("b", null, String(cost)),
    foot: "sum",
  },
];

function tableAt(url: string): string {
  return render(h(Table<Team>, { caption: "Teams", rows: TEAMS, columns: COLUMNS, paging: pagingOf(url, "teams") }));
}

const namesIn = (html: string): readonly string[] =>
  [...html.matchAll(/<bdi>([^<]*)<\/bdi>/g)].map(([, name]) => name!);

describe("a table as a file", () => {
  const columns: readonly [Column<Team>, ...Column<Team>[]] = [
    COLUMNS[0],
    {
      head: "cost",
      isNumber: true,
      value: ({ cost }) => cost,
      cell: ({ cost }) => h(Money, { amount: `${cost}.123456`, currency: "USD" }),
    },
    { head: "note", cell: ({ cost }) => (cost === 249 ? `=1+1, "<b>" & more` : h("i", null, "–")) },
  ];
  const fileAt = (url: string): string | undefined => {
    const table = h(Table<Team>, { caption: "Teams", rows: TEAMS, columns, paging: pagingOf(url, "teams") });
    const wanted = wantedTable(url.split("?")[1]!)!;
    return tableFile(h("div", null, table), wanted)?.bytes.toString();
  };

  it("is CSV with all found rows in their order, exact amounts, and no formula", () => {
    const lines = fileAt("/?teams.sort=-cost&teams.find=team-1&csv=teams")!.split("\r\n");
    expect(lines).toHaveLength(1 + 100 + 1);
    expect(lines.slice(0, 2)).toEqual(["team,cost,note", `team-107,249.123456,"'=1+1, ""<b>"" & more"`]);
    expect(lines[2]).toMatch(/^team-1\d\d,\d+\.123456,$/);
  });

  it("is JSON with a member for each column", () => {
    const rows = JSON.parse(fileAt("/?teams.sort=-cost&json=teams")!) as readonly object[];
    expect(rows).toHaveLength(250);
    expect(rows[0]).toEqual({ team: "team-107", cost: "249.123456", note: `=1+1, "<b>" & more` });
  });

  it("does not exist under another name", () => {
    expect(fileAt("/?csv=pods")).toBeUndefined();
  });
});

describe("a table with many rows", () => {
  it("has the page's own order without parameters, and leads to other orders", () => {
    const html = tableAt("/?span=7d");
    expect(namesIn(html)).toEqual(TEAMS.slice(0, 100).map(({ name }) => name));
    expect(html).toContain('<a href="/?span=7d&amp;teams.sort=team#teams">team</a>');
    expect(html).toContain('<a href="/?span=7d&amp;teams.sort=-cost#teams">cost</a>');
    expect(html).toContain("<tfoot>");
  });

  it("is sorted by numbers and by texts, in both directions", () => {
    const largest = tableAt("/?teams.sort=-cost");
    expect(namesIn(largest)[0]).toBe(TEAMS.find(({ cost }) => cost === 249)!.name);
    expect(largest).toContain('aria-sort="descending"');
    expect(largest).toContain("teams.sort=cost#teams");
    expect(namesIn(tableAt("/?teams.sort=-team"))[0]).toBe("team-249");
    expect(namesIn(tableAt("/?teams.sort=-team&teams=3"))).toHaveLength(50);
    expect(namesIn(tableAt("/?teams.sort=unknown"))[0]).toBe("team-000");
  });

  it("has the rows with a text, without the sum of all", () => {
    const html = tableAt("/?span=7d&teams.find=TEAM-01");
    expect(namesIn(html)).toEqual(TEAMS.slice(10, 20).map(({ name }) => name));
    expect(html).toContain("10 rows");
    expect(html).not.toContain("<tfoot>");
    expect(html).toContain('<input type="hidden" name="span" value="7d"/>');
    expect(tableAt('/?teams.find="><script>')).not.toContain("<script>");
  });
});
