import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { findTemporalBinary } from '../../src/temporal-service/find-binary.ts';
import { eventually } from '../support/eventually.ts';
import { makeFolder, removeFolders, runScript, writeFakeTemporal, writeProgram } from './support.ts';

/** No server listens on the discard port: the download fails at once. */
const NO_DOWNLOADS = 'http://127.0.0.1:9';

let cacheDir: string;
let bin: string;
let lines: string[];

beforeEach(() => {
  [cacheDir, bin, lines] = [makeFolder(), makeFolder(), []];
});
afterEach(removeFolders);

function find(env: NodeJS.ProcessEnv = {}) {
  return findTemporalBinary({
    progress: (line) => lines.push(line),
    cacheDir,
    downloads: NO_DOWNLOADS,
    env: { PATH: bin, ...env },
  });
}

/** A fake `go` whose build makes a program with the given server version; it records each build in `builds`. */
function writeFakeGo(server: string, beforeBuild = ':'): void {
  const made = writeFakeTemporal(join(bin, 'made'), server);
  writeProgram(
    join(bin, 'go'),
    'if [ "$1" = version ]; then echo "go version go1.22.3 linux/amd64"; exit; fi',
    `echo "$GOWORK $PWD $*" >> ${join(bin, 'builds')}`,
    beforeBuild,
    `/bin/cp ${made} "$6"`,
  );
}

test('[find-binary I2] EVERTHREAD_TEMPORAL_CLI takes precedence', async () => {
  writeFakeTemporal(join(bin, 'temporal'), '1.31.0');
  const path = writeFakeTemporal(join(makeFolder(), 'mine'), '1.30.0');
  await expect(find({ EVERTHREAD_TEMPORAL_CLI: path })).resolves.toEqual({
    path,
    version: { cli: '9.9.9', server: '1.30.0' },
    source: 'environment',
  });
});

test('[find-binary I2] an unusable EVERTHREAD_TEMPORAL_CLI is an error, though PATH has a good one', async () => {
  writeFakeTemporal(join(bin, 'temporal'), '1.31.0');
  await expect(find({ EVERTHREAD_TEMPORAL_CLI: join(bin, 'absent') })).rejects.toMatchObject({
    code: 'InvalidConfiguration',
    message: expect.stringContaining(join(bin, 'absent')),
  });
});

test('[find-binary I1] a temporal on PATH with a server that is new enough is used', async () => {
  const path = writeFakeTemporal(join(bin, 'temporal'), '1.29.0');
  await expect(find()).resolves.toMatchObject({ path, source: 'path' });
});

test('[find-binary I1] a temporal on PATH that is too old is skipped for the cached one', async () => {
  writeFakeTemporal(join(bin, 'temporal'), '1.9.4');
  const path = writeFakeTemporal(join(cacheDir, 'temporal-cli-1.8.2', 'temporal'), '1.31.2');
  await expect(find()).resolves.toMatchObject({ path, source: 'cache' });
  expect(lines).toEqual([]);
});

test('[find-binary] builds with Go from the pinned module if there is no download, once', async () => {
  writeFakeGo('1.31.2');
  const path = join(cacheDir, 'temporal-cli-1.8.2', 'temporal');
  await expect(find()).resolves.toMatchObject({ path, source: 'go build' });
  await expect(find()).resolves.toMatchObject({ path, source: 'cache' });
  const builds = readFileSync(join(bin, 'builds'), 'utf8').trim().split('\n');
  expect(builds).toHaveLength(1);
  expect(builds[0]).toMatch(
    /^off \S+\/temporal\/cli build -trimpath .*github\.com\/temporalio\/cli\/cmd\/temporal$/,
  );
  expect(lines.join('\n')).toContain('The download did not work: http://127.0.0.1:9');
});

test('[find-binary I3] a damaged program in the cache is replaced', async () => {
  writeFakeGo('1.31.2');
  writeProgram(join(cacheDir, 'temporal-cli-1.8.2', 'temporal'), 'exit 1');
  await expect(find()).resolves.toMatchObject({ source: 'go build', version: { server: '1.31.2' } });
});

test('[find-binary I3] a failed build leaves nothing in the cache', async () => {
  writeFakeGo('1.2.3');
  await expect(find()).rejects.toMatchObject({ code: 'TemporalUnavailable' });
  expect(readdirSync(cacheDir)).toEqual(['install.lock']);
});

test('[find-binary] if nothing works, the error lists each way with its reason and the remedies', async () => {
  writeFakeTemporal(join(bin, 'temporal'), '1.28.1');
  writeProgram(join(bin, 'go'), 'echo "go version go1.19.8 linux/amd64"');
  const error = await find().catch((thrown) => thrown);
  expect(error).toMatchObject({ name: 'RuntimeError', code: 'TemporalUnavailable' });
  for (const part of [
    `PATH: ${join(bin, 'temporal')} has server 1.28.1; 1.29.0 or newer is needed`,
    `cache: nothing at ${join(cacheDir, 'temporal-cli-1.8.2', 'temporal')}`,
    'download: http://127.0.0.1:9/v1.8.2/',
    'go build: Go 1.19.8 is too old',
    'set TEMPORAL_ADDRESS=',
    'install the Temporal CLI',
    'install Go',
    'set EVERTHREAD_TEMPORAL_CLI',
  ]) {
    expect(error.message).toContain(part);
  }
});

test('[find-binary I3] of two processes without a program, one installs it and the other waits', async () => {
  const release = join(bin, 'release');
  writeFakeGo('1.31.2', `until [ -e ${release} ]; do /bin/sleep 0.02; done`);
  const scripts = [1, 2].map(() =>
    runScript(`
      import { findTemporalBinary } from 'SOURCES/find-binary.ts';
      const found = await findTemporalBinary({
        progress: console.log,
        cacheDir: ${JSON.stringify(cacheDir)},
        downloads: ${JSON.stringify(NO_DOWNLOADS)},
        env: { PATH: ${JSON.stringify(bin)} },
      });
      console.log('found by ' + found.source);
    `),
  );
  const outputs = () => scripts.map((script) => script.output());
  const [building, waiting] = ['Building the Temporal CLI', 'Another process is installing'];
  await eventually(
    'one builds and one waits',
    () => existsSync(join(bin, 'builds')) && outputs().some((text) => text.includes(waiting)),
  );
  writeFileSync(release, '');
  await eventually('both found it', () => outputs().every((text) => text.includes('found by')));
  const [installer, waiter] = outputs().sort(
    (a, b) => Number(a.includes(waiting)) - Number(b.includes(waiting)),
  );
  expect(installer).toContain(building);
  expect(installer).toContain('found by go build');
  expect(waiter).toContain('found by cache');
  expect(readFileSync(join(bin, 'builds'), 'utf8').trim().split('\n')).toHaveLength(1);
});
