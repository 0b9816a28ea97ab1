/**
 * Set-up that runs once per test run: a Temporal dev server for the tests, the workflow bundle as a file, and a server
 * that starts a PostgreSQL when the first suite requests one.
 */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withFileLock } from '../../src/temporal-service/file-lock.ts';
import { findTemporalBinary } from '../../src/temporal-service/find-binary.ts';
import { type LocalServer, startLocalServer } from '../../src/temporal-service/start-server.ts';
// Must be imported before anything installs Temporal's default Runtime.
import '../once/temporal-runtime.ts';
import { cachedBundle } from '../../src/workflow-bundle.ts';
import { packModules } from './packed-modules.ts';
import { packPrograms } from './packed-programs.ts';
import { awaitPostgresRequest, type PostgresStarter } from './postgres-starter.ts';

declare global {
  var everthreadTestServer: LocalServer | undefined;
  var everthreadTestPostgres: PostgresStarter | undefined;
}

const CACHE = join(import.meta.dirname, '..', '..', 'node_modules', '.cache');

/**
 * GOGC of Temporal servers: garbage is collected at nine times the live heap instead of twice. That saves a quarter of
 * their computing.
 */
const SERVER_GARBAGE = '800';

const SERVER_SETTINGS = {
  // Otherwise a new run waits until one second after the start of the previous run.
  'history.workflowIdReuseMinimalInterval': '0s',
  // Otherwise a queue has four partitions, each loaded, polled and asked for its backlog separately: a tenth of what
  // the server computes for hundreds of small queues. Servers that fault tests start for themselves keep four.
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
  const profile = join(folder, 'temporal.toml');
  writeFileSync(profile, '[profile]\n');
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
    TEMPORAL_CONFIG_FILE: profile,
    // Commands and workers are started by the hundred: the compile cache saves compiling the same modules each time.
    NODE_COMPILE_CACHE: join(CACHE, 'everthread'),
  });
}

/**
 * Makes the files that are built from these sources and cached. On a fresh clone several lanes start at once: the first
 * makes them, the others wait.
 */
function makeKeptFiles() {
  mkdirSync(CACHE, { recursive: true });
  const waits = () => undefined;
  return withFileLock(join(CACHE, 'everthread-made.lock'), waits, async () => ({
    bundle: (await cachedBundle()).code,
    packed: await packModules(),
    programs: await packPrograms(),
  }));
}

/**
 * Replaces the source map of the bundle by an empty one, because the SDK requires one. The map is most of the bundle
 * and the slowest to read for each worker; few tests need positions in workflow sources.
 */
function withoutPositions(code: string): string {
  const map = { version: 3, sources: [], names: [], mappings: '', file: 'workflow-bundle.js' };
  const start = code.lastIndexOf('//# sourceMappingURL=data:');
  const data = Buffer.from(JSON.stringify(map)).toString('base64');
  return `${code.slice(0, start)}//# sourceMappingURL=data:application/json;base64,${data}\n`;
}
