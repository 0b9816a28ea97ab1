/**
 * Fetches the official release of the Temporal CLI into a folder.
 * - The archive is unpacked only after its SHA-256 equals the one pinned in `temporal/cli/checksums.txt`; for systems without a
 *   pin, the one in the `checksums.txt` published beside it, which an attacker who replaced the archive could have replaced too.
 * - A blocked network fails within seconds, so that the next way is tried soon; a slow download has no time limit.
 * Failures throw a plain Error whose message is the reason; the caller tries the next way.
 */
import { createHash } from 'node:crypto';
import { createWriteStream, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { errorMessage } from '../core/value/error.ts';
import { packagePath } from './package-root.ts';
import { lastLines, runCommand } from './run-command.ts';

export const OFFICIAL_DOWNLOADS = 'https://github.com/temporalio/cli/releases/download';

const CHECKSUMS_FILE = packagePath('temporal', 'cli', 'checksums.txt');
const ANSWER_WITHIN_MS = 10_000;
const NEXT_CHUNK_WITHIN_MS = 30_000;
const PROGRESS_INTERVAL_BYTES = 20_000_000;

export interface DownloadOptions {
  version: string;
  /** The folder into which the program is unpacked. */
  folder: string;
  /** The address to which `/v<version>/<file>` is appended. */
  base: string;
  /** The text of a checksums file; the pinned one except in tests. */
  pins?: string;
  progress: (line: string) => void;
}

export async function downloadTemporal(options: DownloadOptions): Promise<void> {
  const { version, folder, base, progress, pins = readFileSync(CHECKSUMS_FILE, 'utf8') } = options;
  const name = archiveName(version);
  const release = `${base}/v${version}`;
  const pinned = findChecksum(pins, name);
  const expected = pinned ?? (await fetchChecksum(`${release}/checksums.txt`, name));
  if (pinned === undefined)
    progress(`${name} has no pinned checksum: it is checked only against the release's own checksums.txt`);
  const archive = join(folder, name);
  progress(`Downloading ${release}/${name}`);
  const actual = await fetchFile(`${release}/${name}`, archive, progress);
  if (actual !== expected) {
    const promise =
      pinned === undefined ? 'checksums.txt' : 'the checksum pinned by this version of Everthread';
    throw new Error(`${release}/${name} does not match ${promise} (SHA-256 ${actual}, expected ${expected})`);
  }
  // Windows' own tar unpacks zip files as well, so one call works on every system.
  const { code, output } = await runCommand('tar', ['-xf', name], { cwd: folder });
  if (code !== 0)
    throw new Error(`tar could not unpack ${name} (exit code ${code}): ${lastLines(output, 3)}`);
}

/** The release's name for this machine, such as `temporal_cli_1.8.2_linux_amd64.tar.gz`. */
export function archiveName(version: string): string {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  const machine = process.arch === 'x64' ? 'amd64' : process.arch;
  return `temporal_cli_${version}_${system}_${machine}.${system === 'windows' ? 'zip' : 'tar.gz'}`;
}

async function fetchChecksum(url: string, name: string): Promise<string> {
  const { response } = await request(url);
  const checksum = findChecksum(await response.text(), name);
  if (checksum === undefined) throw new Error(`${url} has no SHA-256 for ${name}`);
  return checksum;
}

/** A checksums file has a line `<sha256>  <file name>` for each archive. */
function findChecksum(text: string, name: string): string | undefined {
  const lines = text.split('\n').map((line) => line.trim().split(/\s+/));
  const checksum = lines.find(([, file]) => file === name)?.[0]?.toLowerCase();
  return checksum !== undefined && /^[0-9a-f]{64}$/.test(checksum) ? checksum : undefined;
}

/** Writes the body to `path` and returns its SHA-256. */
async function fetchFile(url: string, path: string, progress: (line: string) => void): Promise<string> {
  const { response, abort } = await request(url);
  if (!response.body) throw new Error(`${url} answered without a body`);
  const hash = createHash('sha256');
  const stall = setTimeout(() => abort(new Error(`${url} stopped sending`)), NEXT_CHUNK_WITHIN_MS);
  let [bytes, reported] = [0, 0];
  const meter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      stall.refresh();
      hash.update(chunk);
      bytes += chunk.length;
      if (bytes - reported >= PROGRESS_INTERVAL_BYTES) {
        reported = bytes;
        progress(`  ${Math.round(bytes / 1e6)} MB`);
      }
      done(null, chunk);
    },
  });
  try {
    await pipeline(Readable.fromWeb(response.body as ReadableStream), meter, createWriteStream(path));
  } finally {
    clearTimeout(stall);
  }
  return hash.digest('hex');
}

async function request(url: string): Promise<{ response: Response; abort: (reason: Error) => void }> {
  const controller = new AbortController();
  const abort = (reason: Error) => controller.abort(reason);
  const timer = setTimeout(() => abort(new Error('no answer within 10 seconds')), ANSWER_WITHIN_MS);
  try {
    const response = await fetch(url, { signal: controller.signal });
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    return { response, abort };
  } catch (error) {
    // fetch says only "fetch failed"; the reason (refused, unknown host) is its cause.
    const { cause } = error as { cause?: unknown };
    throw new Error(`${url}: ${errorMessage(cause ?? error)}`);
  } finally {
    clearTimeout(timer);
  }
}
