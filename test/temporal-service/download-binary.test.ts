import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { archiveName } from '../../src/temporal-service/download-binary.ts';
import { findTemporalBinary, PINNED_CLI_VERSION } from '../../src/temporal-service/find-binary.ts';
import { makeFolder, removeFolders, writeFakeTemporal } from './support.ts';

const NAME = archiveName('1.8.2');

let cacheDir: string;
let files: Record<string, Buffer | string>;
let server: Server;
let downloads: string;
let said: string[];

beforeEach(async () => {
  [cacheDir, files, said] = [makeFolder(), {}, []];
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

/** A real archive with a program that reports its version. */
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

/**
 * Without a PATH, so that neither a `temporal` nor a `go` is found. By default `pins` is that of a system without one.
 */
function find(pins = '') {
  return findTemporalBinary({
    progress: (line) => said.push(line),
    cacheDir,
    downloads,
    pins,
    env: { PATH: '' },
  });
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
    message: expect.stringContaining('does not match checksums.txt'),
  });
  expect(readdirSync(cacheDir)).toEqual(['install.lock']);
});

test('[download-binary I1] an archive without a pin is reported as such', async () => {
  const archive = makeArchive();
  serveRelease(archive, sha256(archive));
  await find();
  expect(said).toContainEqual(expect.stringContaining(`${NAME} has no pinned checksum`));
});

test('[download-binary I1] a pinned archive is checked against no other source', async () => {
  const archive = makeArchive();
  files[`/v1.8.2/${NAME}`] = archive;
  await expect(find(`# pins\n${sha256(archive)}  ${NAME}\n`)).resolves.toMatchObject({ source: 'download' });
});

test('[download-binary I1] an archive that was replaced together with its checksums is refused', async () => {
  const archive = makeArchive();
  serveRelease(archive, sha256(archive));
  await expect(find(`${'b'.repeat(64)}  ${NAME}\n`)).rejects.toMatchObject({
    message: expect.stringContaining(
      `does not match the checksum pinned by this version of Everthread (SHA-256 ${sha256(archive)}`,
    ),
  });
  expect(readdirSync(cacheDir)).toEqual(['install.lock']);
});

test('[download-binary I1] the archives of Linux and macOS are pinned for the installed version', async () => {
  const archive = makeArchive();
  serveRelease(archive, sha256(archive));
  const pins = readFileSync('temporal/cli/checksums.txt', 'utf8');
  for (const system of ['linux', 'darwin'])
    for (const machine of ['amd64', 'arm64'])
      expect(pins).toMatch(
        new RegExp(`^[0-9a-f]{64}  temporal_cli_${PINNED_CLI_VERSION}_${system}_${machine}.tar.gz$`, 'm'),
      );
  const options = { progress: () => {}, cacheDir, downloads, env: { PATH: '' } };
  await expect(findTemporalBinary(options)).rejects.toThrow(
    'does not match the checksum pinned by this version of Everthread',
  );
});

test('[download-binary I1] an archive missing in the checksums is refused', async () => {
  files[`/v1.8.2/${NAME}`] = makeArchive();
  files['/v1.8.2/checksums.txt'] = `${'0'.repeat(64)}  some_other_file.tar.gz\n`;
  await expect(find()).rejects.toThrow(`has no SHA-256 for ${NAME}`);
});

test('[download-binary I1] a release without published checksums is refused', async () => {
  files[`/v1.8.2/${NAME}`] = makeArchive();
  await expect(find()).rejects.toThrow('checksums.txt: HTTP 404');
});

test('[download-binary] an archive that cannot be unpacked is refused with the error of tar', async () => {
  const noArchive = Buffer.from('not an archive');
  serveRelease(noArchive, sha256(noArchive));
  await expect(find()).rejects.toThrow(`tar could not unpack ${NAME}`);
});
