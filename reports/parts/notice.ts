import { utc } from "./time.ts";

/** The marker in a page for a notice that is added when the page is sent. */
const NOTICE_PLACE = '<template id="notice"></template>';

/** Returns a stored page with a notice that the store is away and with the page's time. */
export function withNotice(html: string, madeAt: number): string {
  return html.replace(
    NOTICE_PLACE,
    `<div class="notice" role="status"><p><strong>The store does not answer.</strong> This is the page of ${utc(madeAt)}. New samples wait until the store is back. No sample is lost.</p></div>`,
  );
}
