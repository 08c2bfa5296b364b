import { h } from "preact";
import { render } from "preact-render-to-string";
import { expect, it } from "vitest";
import { SpanForm, withSentDays } from "../../../../reports/parts/span-form.tsx";

it.each([
  ["/?span=7d", undefined],
  ["/?span=7d&firstDay=2026-03-05&lastDay=2026-03-07", "/?span=2026-03-05%2F2026-03-08"],
  ["/team?team=nlp&firstDay=2026-03-07&lastDay=2026-03-05", "/team?team=nlp&span=2026-03-05%2F2026-03-08"],
  ["/?firstDay=2026-03-01&lastDay=2026-03-31", "/?span=2026-03"],
  ["/?firstDay=2026-03-05&lastDay=", "/?span=2026-03-05%2F2026-03-06"],
  ["/?span=week&firstDay=&lastDay=", "/?span=week"],
  ["/?span=week&firstDay=2026-02-30&lastDay=x", "/?span=week"],
])("the address %s has the span of its days", (url, chosen) => {
  const [path, query] = url.split("?") as [string, string];
  expect(withSentDays(path, query)).toBe(chosen);
});

it("a form has the days of its span", () => {
  const form = (span: string): string => render(h(SpanForm, { path: "/", span, policies: [], policy: "" }));
  expect(form("2026-03-05/2026-03-08")).toContain('name="firstDay" value="2026-03-05"');
  expect(form("2026-03-05/2026-03-08")).toContain('name="lastDay" value="2026-03-07"');
  expect(form("7d")).toContain('name="firstDay" value/>');
});
