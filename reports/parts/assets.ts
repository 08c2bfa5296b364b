import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

/** A file that pages load. Its address changes with its content. */
export interface Asset {
  readonly path: string;
  readonly type: string;
  readonly bytes: Buffer;
}

/** Reads the style, the icon and the script of pages, which are beside the code. */
export function readAssets(): { readonly style: Asset; readonly icon: Asset; readonly script: Asset } {
  return {
    style: read("style.css", "text/css; charset=utf-8"),
    icon: read("icon.svg", "image/svg+xml"),
    script: read("page.js", "text/javascript; charset=utf-8"),
  };
}

function read(file: string, type: string): Asset {
  const bytes = readFileSync(new URL(`assets/${file}`, import.meta.url));
  const hash = createHash("sha256").update(bytes).digest("hex").slice(0, 12);
  return { path: `/assets/${hash}/${file}`, type, bytes };
}
