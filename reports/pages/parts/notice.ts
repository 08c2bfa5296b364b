/** Where a page has room for what is known only when it is sent. */
export const NOTICE_PLACE = '<template id="notice"></template>';

/** A page that was made before, with a notice that the store is away and of when it is. */
export function withNotice(html: string, madeAt: number): string {
  const time = new Date(madeAt).toISOString().slice(0, 19).replace("T", " ");
  return html.replace(
    NOTICE_PLACE,
    `<div class="notice" role="status"><p><strong>The store does not answer.</strong> This page is as it was at ${time} UTC;
     what is measured meanwhile waits, and nothing is lost.</p></div>`,
  );
}
