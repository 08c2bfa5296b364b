import type { VNode } from "preact";
import { render } from "preact-render-to-string";
import { readAssets } from "../parts/assets.ts";

/** Returns content as one HTML file with the style of the pages. The file loads nothing. */
export function fileHtml(title: string, content: VNode): string {
  const style = readAssets().style.bytes.toString("utf8");
  return `<!doctype html>\n${render(
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{title}</title>
        <style dangerouslySetInnerHTML={{ __html: style }} />
      </head>
      <body>
        <main>{content}</main>
      </body>
    </html>,
  )}\n`;
}
