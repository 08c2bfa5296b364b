import { z } from "zod";
import { isLoopback } from "../http/loopback.ts";
import { duration, size } from "./quantity.ts";
import { serverTls } from "./server-tls.ts";
import { flag, list, listenAddress, secret, text, whole, type ConfigSources } from "./words.ts";

/** Returns the schema of the collector's port for remote write. */
export const remoteWrite = (sources: ConfigSources) =>
  z
    .strictObject({
      listen: listenAddress.describe("The address for remote write, such as 0.0.0.0:9095."),
      tls: serverTls(sources).optional().describe("TLS on the port, as in server.tls. Default: HTTP."),
      plainHttp: flag
        .default(false)
        .describe("Allows credentials over HTTP without TLS on an address that other machines can reach."),
      basic: z
        .strictObject({ username: text("a user name"), password: secret(sources) })
        .optional()
        .describe("Senders need HTTP basic authentication."),
      bearerToken: secret(sources).optional().describe("Senders need this bearer token."),
      interval: duration("1s", "1h")
        .optional()
        .describe("The scrape interval of a target until its samples show it. Default: the interval of the collector."),
      externalLabels: list(text("a label's name"))
        .default(["cluster", "prometheus"])
        .describe(
          "Labels that separate the targets of several Prometheus servers. `cluster` is the cluster of their GPUs.",
        ),
      replicaLabels: list(text("a label's name"))
        .default(["prometheus_replica", "__replica__", "replica"])
        .describe("Labels of the replicas of one Prometheus. One replica of each target counts."),
      bodyLimit: size("1kB", "1GB").prefault("8MB").describe("The largest compressed body."),
      uncompressedLimit: size("1kB", "1GB").prefault("32MB").describe("The largest body after decompression."),
      seriesLimit: whole(1, 100_000_000)
        .default(3_000_000)
        .describe("The maximum number of series that are kept. Further series are counted and left out."),
      labelLimit: whole(1, 10_000).default(256).describe("The maximum number of labels of a series."),
      labelLength: size("16B", "1MB").prefault("4kB").describe("The longest label: its name and its value."),
      memory: size("10MB", "1TB")
        .prefault("2GB")
        .describe("Memory for series and for scrapes of the last minutes. Beyond it, senders have to wait."),
      disk: size("10MB", "10TB")
        .prefault("2GB")
        .describe("The bytes of the write-ahead log. Beyond it, senders have to wait."),
    })
    .superRefine(({ listen, tls, plainHttp, basic, bearerToken }, context) => {
      const complain = (path: string, message: string): void =>
        context.addIssue({ code: "custom", path: [path], message });
      const hasCredentials = basic !== undefined || bearerToken !== undefined;
      if (basic !== undefined && bearerToken !== undefined) complain("basic", "one of basic and bearerToken");
      if (isLoopback(listen)) return;
      if (!hasCredentials && tls?.clientAuthType !== "RequireAndVerifyClientCert")
        complain(
          "listen",
          "an address of this machine alone, because senders need neither credentials nor a certificate",
        );
      if (hasCredentials && tls === undefined && !plainHttp)
        complain("tls", "certFile and keyFile, or plainHttp: true, because other machines send credentials");
    });
