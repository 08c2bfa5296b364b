import type { VNode } from "preact";
import type { Problem, ProblemCode } from "../../server/problem.ts";

/** The next step after each problem. */
const NEXT: Readonly<Record<ProblemCode, VNode>> = {
  "wrong-parameter": (
    <p>
      The address says something that cannot be asked. <a href="/">The overview</a> has links that can.
    </p>
  ),
  "not-authenticated": (
    <p>
      <a href="/login">Give a token</a>, which an administrator makes by <code>gpu-ledger token create</code>.
    </p>
  ),
  "not-allowed": (
    <p>
      What your token may see begins at <a href="/">the overview</a>; who may see more, an administrator decides.
    </p>
  ),
  "not-found": (
    <p>
      The address may be of an older release. <a href="/">The overview</a> leads to every page there is.
    </p>
  ),
  "page-gone": <p>Begin again at its first page.</p>,
  "too-costly": <p>Ask for a shorter time, or for one team, cluster or workload.</p>,
  "too-many-requests": <p>Wait a minute.</p>,
  "cannot-print": <p>Take the HTML, which any browser prints; or have Chromium installed where the server runs.</p>,
  failed: <p>The server’s log says why; whoever runs it finds it under the time of this request.</p>,
  "store-away": (
    <p>
      Nothing is lost: what is measured waits until the store is back. Ask again in a while;{" "}
      <code>gpu-ledger check</code> says what is wrong with it.
    </p>
  ),
  busy: <p>Ask again in a while.</p>,
};

/** Returns a problem as a page's content: the error and the next step. */
export function problemContent(problem: Problem): VNode {
  return (
    <>
      <h1>{problem.title}</h1>
      {problem.message.toLowerCase() !== problem.title.toLowerCase() && <p class="lead">{problem.message}</p>}
      {NEXT[problem.code]}
    </>
  );
}
