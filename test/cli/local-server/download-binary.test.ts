import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { archiveName } from '../../../src/cli/local-server/download-binary.ts';
import { findTemporalBinary } from '../../../src/cli/local-server/find-binary.ts';
import { makeFolder, removeFolders, writeFakeTemporal } from './support.ts';

const NAME = archiveName('1.8.2');

let cacheDir: string;
let files: Record<string, Buffer | string>;
let server: Server;
let downloads: string;

beforeEach(async () => {
  [cacheDir, files] = [makeFolder(), {}];
  server = createServer((request, response) => {
    const content = files[request.url!];
    response.writeHead(content === undefined ? 404 : 200).end(content);
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  downloads = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
  removeFolders();
});

/** A real archive with a program that tells its version. */
function makeArchive(): Buffer {
  const folder = makeFolder();
  writeFakeTemporal(join(folder, 'temporal'), '1.31.2');
  execFileSync('tar', ['-czf', NAME, 'temporal'], { cwd: folder });
  return readFileSync(join(folder, NAME));
}

function serveRelease(archive: Buffer, checksum: string): void {
  files[`/v1.8.2/${NAME}`] = archive;
  files['/v1.8.2/checksums.txt'] = `${'0'.repeat(64)}  some_other_file.tar.gz\n${checksum}  ${NAME}\n`;
}

function sha256(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

/** No PATH: neither a `temporal` nor a `go` can help out. */
function find() {
  return findTemporalBinary({ progress: () => {}, cacheDir, downloads, env: { PATH: '' } });
}

test('[download-binary I1] an archive with the published checksum is unpacked into the cache', async () => {
  const archive = makeArchive();
  serveRelease(archive, sha256(archive));
  await expect(find()).resolves.toEqual({
    path: join(cacheDir, 'temporal-cli-1.8.2', 'temporal'),
    version: { cli: '9.9.9', server: '1.31.2' },
    source: 'download',
  });
  expect(readdirSync(cacheDir).sort()).toEqual(['install.lock', 'temporal-cli-1.8.2']);
  expect(readdirSync(join(cacheDir, 'temporal-cli-1.8.2'))).toEqual(['temporal']);
});

test('[download-binary I1] an archive with another checksum is refused and not kept', async () => {
  serveRelease(makeArchive(), 'a'.repeat(64));
  await expect(find()).rejects.toMatchObject({
    code: 'TemporalUnavailable',
    message: expect.stringContaining('is not what checksums.txt promises'),
  });
  expect(readdirSync(cacheDir)).toEqual(['install.lock']);
});

test('[download-binary I1] an archive that the checksums do not name is refused', async () => {
  files[`/v1.8.2/${NAME}`] = makeArchive();
  files['/v1.8.2/checksums.txt'] = `${'0'.repeat(64)}  some_other_file.tar.gz\n`;
  await expect(find()).rejects.toThrow(`has no SHA-256 for ${NAME}`);
});

test('[download-binary I1] a release without published checksums is refused', async () => {
  files[`/v1.8.2/${NAME}`] = makeArchive();
  await expect(find()).rejects.toThrow('checksums.txt: HTTP 404');
});

test('[download-binary] an archive that cannot be unpacked is refused with what tar said', async () => {
  const noArchive = Buffer.from('not an archive');
  serveRelease(noArchive, sha256(noArchive));
  await expect(find()).rejects.toThrow(`tar could not unpack ${NAME}`);
});
