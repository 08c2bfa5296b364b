import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { access, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];
const PRINT_MILLIS = 60_000;

/** No browser was found, or printing failed. The message contains the remedy. */
export class PdfError extends Error {
  readonly code = "no-pdf";
  readonly retriable = false;

  constructor(message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options);
    this.name = "PdfError";
  }
}

/** Returns an HTML file as PDF, printed by the machine's Chromium. Fails with a {@link PdfError}. */
export async function pdfOf(html: string, env: NodeJS.ProcessEnv): Promise<Buffer> {
  const browser = await findBrowser(env);
  if (browser === undefined)
    throw new PdfError(
      `a PDF needs Chromium, and none of ${NAMES.join(", ")} is on the PATH: install Debian's package chromium, or print the HTML`,
    );
  const folder = await mkdtemp(join(tmpdir(), "gpu-ledger-pdf-"));
  const [page, pdf] = [join(folder, "report.html"), join(folder, "report.pdf")];
  try {
    await writeFile(page, html);
    await promisify(execFile)(
      browser,
      [
        "--headless",
        "--disable-gpu",
        "--no-pdf-header-footer",
        `--user-data-dir=${join(folder, "profile")}`,
        // Chromium's sandbox refuses root. The page is from this program and loads nothing.
        ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
        `--print-to-pdf=${pdf}`,
        pathToFileURL(page).href,
      ],
      { timeout: PRINT_MILLIS },
    );
    return await readFile(pdf);
  } catch (error) {
    const why = error instanceof Error ? error.message.split("\n")[0] : String(error);
    throw new PdfError(`${browser} did not print the PDF: ${why}`, { cause: error });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function findBrowser(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const folders = (env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  for (const path of NAMES.flatMap((name) => folders.map((folder) => join(folder, name))))
    if (await isExecutable(path)) return path;
  return undefined;
}

function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
