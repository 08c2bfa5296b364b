import { startExporterDouble, type ExporterDouble } from "./exporter-double.ts";

/** The lines of an exporter's page that stand in place of one. */
export type ChangeLine = (line: string) => readonly string[];

/** Starts an exporter that serves the page of another one, with each line changed as is asked at the time. */
export function startSteeredExporter(url: string, changes: readonly ChangeLine[]): Promise<ExporterDouble> {
  return startExporterDouble((_, response, double) => {
    void fetch(url)
      .then((answer) => answer.text())
      .then((page) => {
        const lines = changes.reduce<readonly string[]>((before, change) => before.flatMap(change), page.split("\n"));
        double.page(response, lines.join("\n"));
      })
      .catch(() => response.writeHead(503).end());
  });
}

/** Gives one GPU's series of a family another value. */
export function setValue(family: string, uuid: string, value: number): ChangeLine {
  return (line) => [isOf(line, family, uuid) ? line.replace(/ \S+$/, ` ${value}`) : line];
}

/** Adds what an exporter counts of a GPU's XIDs, where its counters file asks for it: without a fault the code is 0. */
export function countXids(uuid: string, code: () => number): ChangeLine {
  const beside = "DCGM_FI_DEV_GPU_TEMP";
  return (line) => {
    if (!isOf(line, beside, uuid)) return [line];
    const labels = `xid="${code()}",window_size_in_ms="300000",`;
    const counted = line.replace(`${beside}{`, `DCGM_EXP_XID_ERRORS_COUNT{${labels}`);
    return [line, counted.replace(/ \S+$/, ` ${Math.sign(code())}`)];
  };
}

function isOf(line: string, family: string, uuid: string): boolean {
  return line.startsWith(`${family}{`) && line.includes(`UUID="${uuid}"`);
}
