import { promisify } from "node:util";
import * as zlib from "node:zlib";
import kafkajs from "kafkajs";
import { compressFrame, decompressFrame } from "lz4-napi";
import { BusError } from "../bus.ts";
import type { Compression } from "./options.ts";

const { CompressionCodecs, CompressionTypes } = kafkajs;

type Decompress = (bytes: Buffer) => Promise<Buffer>;

/** Returns kafkajs's constant for a compression. */
export function compressionType(compression: Compression) {
  const types = { none: CompressionTypes.None, gzip: CompressionTypes.GZIP, lz4: CompressionTypes.LZ4 };
  return types[compression];
}

/**
 * Registers every codec in kafkajs that a producer may have used: a batch with an unknown codec stops a consumer. Gzip is built in. Lz4
 * uses frames, as KIP-57 defines for Kafka. Zstd is read if Node supports it (from 22.15 on). Snappy, and zstd on an older Node, fail with
 * a message with the remedy. The registry belongs to kafkajs and is process-wide.
 */
function registerCodecs(): void {
  const zstd = (zlib as { zstdDecompress?: typeof zlib.gunzip }).zstdDecompress;
  CompressionCodecs[CompressionTypes.LZ4] = () => ({
    compress: ({ buffer }: { buffer: Buffer }) => compressFrame(buffer),
    decompress: (bytes: Buffer) => decompressFrame(bytes),
  });
  CompressionCodecs[CompressionTypes.ZSTD] = readOnly("zstd", zstd && (promisify(zstd) as Decompress));
  CompressionCodecs[CompressionTypes.Snappy] = readOnly("snappy", undefined);
}

function readOnly(name: string, decompress: Decompress | undefined) {
  const refuse = () =>
    Promise.reject(
      new BusError("denied", `Batches in ${name} are not supported; set the topic's compression.type to lz4 or gzip.`, {
        retriable: false,
      }),
    );
  return () => ({ compress: refuse, decompress: decompress ?? refuse });
}

registerCodecs();
