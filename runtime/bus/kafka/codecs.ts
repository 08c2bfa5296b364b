import { promisify } from "node:util";
import * as zlib from "node:zlib";
import kafkajs from "kafkajs";
import { compressFrame, decompressFrame } from "lz4-napi";
import { BusError } from "../bus.ts";
import type { Compression } from "./options.ts";

const { CompressionCodecs, CompressionTypes } = kafkajs;

type Decompress = (bytes: Buffer) => Promise<Buffer>;

/** kafkajs's word for a compression. */
export function compressionType(compression: Compression) {
  const types = { none: CompressionTypes.None, gzip: CompressionTypes.GZIP, lz4: CompressionTypes.LZ4 };
  return types[compression];
}

/**
 * Tells kafkajs of every codec that a producer may have used: a batch in an unknown one stops a consumer. Gzip is built
 * in; lz4 is in frames, as KIP-57 defines for Kafka; zstd is read where Node has it (from 22.15 on). Snappy, and zstd
 * on an older Node, fail with a message that says what to do. The registry is kafkajs's and process-wide.
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
