import type { VNode } from "preact";
import type { AddPage } from "./context.ts";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { LRUCache } from "lru-cache";
import { StoreError } from "../../runtime/store/store-error.ts";
import type { ApiContext } from "../api/context.ts";
import { createWords } from "../api/words.ts";
import type { Body } from "../server/answers.ts";
import type { Asking } from "../server/asking.ts";
import { Problem } from "../question/problem.ts";
import { addAdvice } from "./advice.tsx";
import { readAssets } from "../parts/assets.ts";
import { addDecisions } from "./decisions.tsx";
import { addExplain } from "./explain.tsx";
import { addFleet } from "./fleet.tsx";
import { addOverview } from "./overview.tsx";
import { addLogin, type LoginPage, type LoginParts } from "./login.tsx";
import { addSubjects } from "./subject.tsx";
import { addQueue } from "./queue.tsx";
import { addServingPage } from "./serving.tsx";
import { addServingExplain } from "./serving-explain.tsx";
import { addRunbooks } from "./runbook.tsx";
import { addStatement } from "./statement.tsx";
import { addPolicies } from "./policies.tsx";
import { addPractices } from "./practices.tsx";
import { addPrices } from "./prices.tsx";
import { addQuality } from "./quality.tsx";
import { addSearchPage } from "./search.tsx";
import { addSick } from "./sick.tsx";
import { addInvoicesPage } from "./invoices.tsx";
import { addChangePage } from "./change.tsx";
import { addPeriods } from "./periods.tsx";
import { addTraining } from "./training.tsx";
import { withNotice } from "../parts/notice.ts";
import { tableFile, wantedTable, type WantedTable } from "../parts/table-file.tsx";
import { loadCharts } from "../parts/charts/chart.tsx";
import { pageHtml, type Shell } from "../parts/page.tsx";
import { withSentDays } from "../parts/span-form.tsx";
import { problemContent } from "../parts/problem.tsx";

const PAGES = [
  addOverview,
  addSubjects,
  addFleet,
  addSick,
  addQueue,
  addAdvice,
  addServingPage,
  addServingExplain,
  addStatement,
  addExplain,
  addChangePage,
  addPolicies,
  addPractices,
  addTraining,
  addPrices,
  addQuality,
  addPeriods,
  addInvoicesPage,
  addSearchPage,
  addRunbooks,
];

const HTML = "text/html; charset=utf-8";
/** The number of bytes of pages that are kept for times without the store. */
const KEPT_BYTES = 32 * 1024 * 1024;
const YEAR_SECONDS = 31_536_000;

/** The pages of a server, and its problems as pages. */
export interface Pages {
  /** Adds every page and the login to a server. */
  add(server: FastifyInstance, context: ApiContext, login: Pick<LoginParts, "access" | "signIn">): Promise<void>;
  /** Returns a problem as a page. */
  problem(problem: Problem, request: FastifyRequest): string;
}

/** Returns a table of a page as a file. Fails with a {@link Problem} if the page has no such table. */
function fileBody(content: VNode, wanted: WantedTable, url: string): Body {
  const file = tableFile(content, wanted);
  if (file === undefined) throw new Problem("wrong-parameter", `the page has no table ${JSON.stringify(wanted.name)}`);
  const { bytes, type, fileName: name, rows } = file;
  return { bytes, type, name, exported: { subject: url, rows } };
}

/** Creates the pages of a server. */
export function createPages(of: Pick<Shell, "version" | "isDemo" | "isListPriced" | "proxy">): Pages {
  const { style, icon, script } = readAssets();
  const shellOf = ({ viewer, url }: Pick<FastifyRequest, "viewer" | "url">): Shell => ({
    ...of,
    viewer,
    path: url.split("?")[0]!,
    query: url.split("?")[1] ?? "",
    assets: { style: style.path, icon: icon.path, script: script.path },
  });
  const kept = new LRUCache<string, { readonly html: string; readonly madeAt: number }>({
    maxSize: KEPT_BYTES,
    sizeCalculation: ({ html }) => html.length,
  });

  return {
    async add(server, context, login) {
      const page: LoginPage = (request, title, content) => pageHtml(shellOf(request), title, content);
      await addLogin(server, { ...login, page });
      addDecisions(server, { ...context, page });
      for (const { path, type, bytes } of [style, icon, script])
        server.get(path, { schema: { hide: true } }, (_, reply) =>
          reply.type(type).header("cache-control", `public, max-age=${YEAR_SECONDS}, immutable`).send(bytes),
        );
      const addPage: AddPage = (path, { schema, isLive = false }, make) => {
        server.get(path, { schema: { hide: true, ...schema } }, async (request, reply) => {
          const chosen = withSentDays(path, request.url.split("?")[1] ?? "");
          if (chosen !== undefined) return reply.redirect(chosen, 303);
          const key = JSON.stringify([request.viewer, request.url]);
          try {
            const body = async (asking: Asking): Promise<Body> => {
              const { title, content } = await make(request, asking);
              const wanted = wantedTable(request.url.split("?")[1] ?? "");
              if (wanted !== undefined) return fileBody(content, wanted, request.url);
              await loadCharts();
              const html = pageHtml(shellOf(request), title, content);
              kept.set(key, { html, madeAt: context.now() });
              return { bytes: Buffer.from(html), type: HTML };
            };
            return await context.answers[isLive ? "sendLive" : "send"](request, reply, body);
          } catch (error) {
            const known = kept.get(key);
            if (!(error instanceof StoreError) || error.code !== "unavailable" || known === undefined) throw error;
            return reply.type(HTML).header("cache-control", "no-store").send(withNotice(known.html, known.madeAt));
          }
        });
      };
      const pages = { ...context, words: createWords(context.now) };
      for (const addOne of PAGES) addOne(addPage, pages);
    },
    problem: (problem, request) => pageHtml(shellOf(request), problem.title, problemContent(problem, request.url)),
  };
}
