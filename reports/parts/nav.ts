/** A page of the navigation, and the paths of the pages below it. */
export interface NavPage {
  readonly path: string;
  readonly name: string;
  readonly below?: readonly string[];
  /** The parameter that chooses a part of the page, which is a page of its own for a reader. */
  readonly partBy?: string;
  /** True if only viewers of all teams may see it. */
  readonly isOfAll?: true;
}

/** The navigation: groups of pages. */
export const NAV_GROUPS: readonly { readonly name: string; readonly pages: readonly NavPage[] }[] = [
  {
    name: "Cost",
    pages: [
      { path: "/", name: "Overview", below: ["/team", "/workload", "/explain"] },
      { path: "/change", name: "Change" },
      { path: "/serving", name: "Serving", below: ["/serving/explain"] },
      { path: "/training", name: "Training", below: ["/training/run"] },
      { path: "/statement", name: "Statement", below: ["/statement/close"], partBy: "team" },
      { path: "/invoices", name: "Invoices", isOfAll: true },
    ],
  },
  {
    name: "Fleet",
    pages: [
      { path: "/fleet", name: "Fleet", below: ["/node", "/gpu"] },
      { path: "/queue", name: "Queue" },
      { path: "/sick", name: "Sick nodes", below: ["/training/incidents"] },
      { path: "/quality", name: "Data quality", isOfAll: true },
    ],
  },
  {
    name: "Advice",
    pages: [
      { path: "/advice", name: "Advice", below: ["/advice/card", "/advice/outcomes"] },
      { path: "/practices", name: "Practices" },
      { path: "/runbook", name: "Runbooks", partBy: "alert" },
    ],
  },
  {
    name: "Setup",
    pages: [
      { path: "/prices", name: "Prices and owners", isOfAll: true },
      { path: "/policies", name: "Policies" },
      { path: "/periods", name: "Periods" },
    ],
  },
];

/** All pages of the navigation. */
export const NAV_PAGES: readonly NavPage[] = NAV_GROUPS.flatMap(({ pages }) => pages);

/** Returns the page of the navigation that a path belongs to. */
export function navPageOf(path: string): NavPage | undefined {
  return NAV_PAGES.find((page) => page.path === path || page.below?.includes(path));
}
