/**
 * Once per run: a Temporal dev server of the tests' own, the workflow bundle as a file, and somebody who starts a
 * PostgreSQL when the first suite asks for one.
 */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withFileLock } from '../../src/temporal-service/file-lock.ts';
import { findTemporalBinary } from '../../src/temporal-service/find-binary.ts';
import { type LocalServer, startLocalServer } from '../../src/temporal-service/start-server.ts';
// Before anything takes Temporal's own for granted.
import '../once/temporal-runtime.ts';
import { keptBundle } from '../../src/workflow-bundle.ts';
import { packModules } from './packed-modules.ts';
import { packPrograms } from './packed-programs.ts';
import { awaitPostgresRequest, type PostgresStarter } from './postgres-starter.ts';

declare global {
  var everthreadTestServer: LocalServer | undefined;
  var everthreadTestPostgres: PostgresStarter | undefined;
}

const CACHE = join(import.meta.dirname, '..', '..', 'node_modules', '.cache');

/** Temporal's servers collect garbage when their heap has grown to ninefold, not to double: a quarter of what they compute. */
const SERVER_GARBAGE = '800';

const SERVER_SETTINGS = {
  // A new run otherwise waits a second where the one before was shorter than that.
  'history.workflowIdReuseMinimalInterval': '0s',
  // A queue otherwise has four parts, which are loaded, polled and asked for their backlog each by itself: a tenth of what the server
  // computes for hundreds of small queues. Servers that fault tests start for themselves keep the four.
  'matching.numTaskqueueReadPartitions': 1,
  'matching.numTaskqueueWritePartitions': 1,
};

export default async function setUp(): Promise<void> {
  process.env.GOGC ??= SERVER_GARBAGE;
  const folder = mkdtempSync(join(tmpdir(), 'everthread-test-'));
  const { path } = await findTemporalBinary({ progress: (line) => process.stderr.write(`${line}\n`) });
  const [server, { bundle, packed, programs }] = await Promise.all([
    startLocalServer({
      binary: path,
      headless: true,
      extraDynamicConfig: SERVER_SETTINGS,
    }),
    makeKeptFiles(),
  ]);
  globalThis.everthreadTestServer = server;
  globalThis.everthreadTestPostgres = await awaitPostgresRequest();
  const bundlePath = join(folder, 'workflow-bundle.js');
  const mappedBundlePath = join(folder, 'workflow-bundle-mapped.js');
  writeFileSync(bundlePath, withoutPositions(bundle));
  writeFileSync(mappedBundlePath, bundle);
  Object.assign(process.env, {
    EVERTHREAD_TEST_TEMPORAL_CLI: path,
    EVERTHREAD_TEST_FOLDER: folder,
    EVERTHREAD_TEST_BUNDLE: bundlePath,
    EVERTHREAD_TEST_MAPPED_BUNDLE: mappedBundlePath,
    EVERTHREAD_TEST_PACKED: packed,
    EVERTHREAD_TEST_PROGRAMS: programs,
    EVERTHREAD_TEST_POSTGRES_STARTER: globalThis.everthreadTestPostgres.url,
    TEMPORAL_ADDRESS: server.address,
    TEMPORAL_NAMESPACE: server.namespace,
    // A user's own settings must not reach the tests.
    TEMPORAL_CONFIG_FILE: join(folder, 'none.toml'),
    // Commands and workers are started by the hundred: what they load need not be compiled each time.
    NODE_COMPILE_CACHE: join(CACHE, 'everthread'),
  });
}

/** What is made of these sources and kept. On a fresh clone several lanes begin at once: the first makes it, the others wait for that. */
function makeKeptFiles() {
  mkdirSync(CACHE, { recursive: true });
  const waits = () => undefined;
  return withFileLock(join(CACHE, 'everthread-made.lock'), waits, async () => ({
    bundle: (await keptBundle()).code,
    packed: await packModules(),
    programs: await packPrograms(),
  }));
}

/**
 * Each worker reads the source map, which is most of the bundle and takes longest of all that it reads; the SDK wants one. Few tests
 * look at places in the sources of workflows.
 */
function withoutPositions(code: string): string {
  const map = { version: 3, sources: [], names: [], mappings: '', file: 'workflow-bundle.js' };
  const start = code.lastIndexOf('//# sourceMappingURL=data:');
  const data = Buffer.from(JSON.stringify(map)).toString('base64');
  return `${code.slice(0, start)}//# sourceMappingURL=data:application/json;base64,${data}\n`;
}
