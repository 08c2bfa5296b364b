import type { VNode } from "preact";
import type { Problem, ProblemCode } from "../question/problem.ts";

/** Returns the next step after each problem. A login goes on to `page`. */
const nextSteps = (page: string): Readonly<Record<ProblemCode, VNode>> => ({
  "wrong-parameter": (
    <p>
      The address has a wrong parameter. <a href="/">The overview</a> has links to all pages.
    </p>
  ),
  "sign-in-failed": (
    <p>
      <a href="/sign-in">Sign in again</a>, or <a href="/login">log in with a token</a>.
    </p>
  ),
  "issuer-away": (
    <p>
      <a href="/sign-in">Try again</a>, or <a href="/login">log in with a token</a>.
    </p>
  ),
  "not-authenticated": (
    <p>
      <a href={loginFor(page)}>Log in with a token</a>. An administrator creates tokens with{" "}
      <code>gpu-ledger token create</code>.
    </p>
  ),
  "not-allowed": (
    <p>
      <a href="/">The overview</a> leads to the pages that you can see. An administrator can give a token or a group
      more rights. You can also <a href={loginFor(page)}>log in</a> in another way.
    </p>
  ),
  "not-found": (
    <p>
      The address may belong to an older release. <a href="/">The overview</a> leads to all pages.
    </p>
  ),
  "page-gone": <p>Start again at the first page.</p>,
  "too-costly": <p>Choose a shorter time, or one team, cluster or workload.</p>,
  "not-configured": <>An administrator can add the key to the configuration.</>,
  "too-many-requests": <p>Wait a minute.</p>,
  "cannot-print": (
    <p>Use the HTML format and print it with a browser. Or install Chromium on the machine of the server.</p>
  ),
  failed: <p>The server’s log has the cause, at the time of this request.</p>,
  "store-away": (
    <p>
      No sample is lost: new samples wait until the store is back. Try again later. <code>gpu-ledger check</code> shows
      the problem of the store.
    </p>
  ),
  busy: <p>Try again later.</p>,
});

function loginFor(page: string): string {
  return `/login?next=${encodeURIComponent(page)}`;
}

/** Returns a problem as a page's content: the error and the next step of a person who asked for a page. */
export function problemContent(problem: Problem, page: string): VNode {
  return (
    <>
      <h1>{problem.title}</h1>
      {problem.message.toLowerCase() !== problem.title.toLowerCase() && <p class="lead">{problem.message}</p>}
      {nextSteps(page)[problem.code]}
    </>
  );
}
