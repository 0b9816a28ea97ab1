/**
 * Bundles Temporal's packages into one file, which `plain-imports.mjs` makes processes that tests start load. They are
 * 150 modules, and finding each costs more than reading it. The native part is not moved.
 * S1. A process loads Temporal's packages either installed or packed: what it imports of them must be in NAMES.
 * S2. A packed module resolves paths as if it were where it is installed: `require.resolve` and `__dirname` give paths
 *     there.
 */
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Plugin, rolldown } from 'rolldown';

const MODULES = join(import.meta.dirname, '..', '..', 'node_modules');
const require = createRequire(import.meta.url);

/** Modules that our sources and the native part import. */
const NAMES = [
  '@temporalio/activity',
  '@temporalio/client',
  '@temporalio/common',
  '@temporalio/common/lib/proto-utils.js',
  '@temporalio/common/lib/type-helpers',
  '@temporalio/envconfig',
  '@temporalio/proto',
  '@temporalio/worker',
  '@temporalio/worker/lib/replay.js',
  '@temporalio/worker/lib/worker.js',
  '@temporalio/worker/lib/workflow/reusable-vm.js',
  '@temporalio/worker/lib/workflow/threaded-vm.js',
  '@temporalio/worker/lib/workflow/vm-shared.js',
  '@temporalio/workflow',
];
/**
 * Entry of a workflow worker thread: it listens to its parent port, so only such a thread can load it. It has no
 * exports.
 */
const THREAD = '@temporalio/worker/lib/workflow/workflow-worker-thread.js';

/** What goes into the pack: the SDK's own modules, and small packages that only it loads. */
const WITHIN =
  /^(\.|\/|@temporalio\/(?!core-bridge)|(abort-controller|heap-js|long|ms|smol-toml|source-map|supports-color)$)/;

const PACK = 'sdk.cjs';

/** Packs the SDK. `sdk.json` maps each of these names, and the URL of its module, to its file without the extension. */
export async function packSdk(folder: string): Promise<void> {
  const names = [...NAMES, THREAD];
  const entry = join(folder, 'sdk-entry.cjs');
  const each = names.map(
    (name) => `${JSON.stringify(name)}: () => require(${JSON.stringify(require.resolve(name))})`,
  );
  writeFileSync(entry, `module.exports = { ${each.join(',\n')} };\n`);
  const bundle = await rolldown({
    input: entry,
    platform: 'node',
    external: (id) => !WITHIN.test(id),
    plugins: [withoutCloud, atItsPlace],
    logLevel: 'warn',
  });
  await bundle.write({ file: join(folder, PACK), format: 'cjs' });
  await bundle.close();
  for (const name of names) writeNames(folder, name);
  writeGrpc(folder);
  const files = Object.fromEntries(names.map((name) => [name, fileOf(name)]));
  const byUrl = names.map((name) => [pathToFileURL(require.resolve(name)).href, fileOf(name)]);
  writeFileSync(join(folder, 'sdk.json'), JSON.stringify({ ...files, ...Object.fromEntries(byUrl) }));
}

const fileOf = (name: string) => name.replace(/\.js$/, '').replaceAll('/', '-');

/**
 * Writes modules that export all names explicitly: for ES imports, since Node would otherwise search the text of the
 * pack for them, and for the native part.
 */
function writeNames(folder: string, name: string): void {
  const load = `require('./${PACK}')[${JSON.stringify(name)}]()`;
  writeFileSync(join(folder, `${fileOf(name)}.cjs`), `module.exports = ${load};\n`);
  const exported = name === THREAD ? [] : Object.keys(require(name)).filter((key) => key !== 'default');
  const lines = exported.map((key, nth) => `const e${nth} = all[${JSON.stringify(key)}];\n`);
  const list = exported.map((key, nth) => `e${nth} as ${JSON.stringify(key)}`);
  writeFileSync(
    join(folder, `${fileOf(name)}.mjs`),
    `import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);\nconst all = ${load};\n${lines.join('')}export { ${['all as default', ...list].join(', ')} };\n`,
  );
}

/**
 * Removes unused parts of Temporal's API. Its message types are built from a description at load time, a sixth of what
 * a worker computes to start. None of our code uses the Cloud API, and workflow threads call no API at all.
 */
const withoutCloud: Plugin = {
  name: 'without-cloud',
  transform(code, id) {
    if (!id.endsWith('/@temporalio/proto/protos/json-module.js')) return undefined;
    const nested = readDescription(code);
    const api = nested.temporal?.nested?.api?.nested;
    if (!api?.cloud) throw new Error(`${id} does not describe the API of the cloud`);
    delete api.cloud;
    return `
      const protobuf = require('protobufjs/light');
      const { isMainThread } = require('node:worker_threads');
      const nested = JSON.parse(${JSON.stringify(JSON.stringify(nested))});
      const api = nested.temporal.nested.api.nested;
      if (!isMainThread) for (const name of ['workflowservice', 'operatorservice', 'history']) delete api[name];
      module.exports = (protobuf.roots.__temporal ??= new protobuf.Root()).addJSON(nested);
    `;
  },
};

interface Described {
  [name: string]: { readonly nested?: Described };
}

/** Reads the description from the code, as it is passed to protobuf. */
function readDescription(code: string): Described {
  let read: Described = {};
  class Root {
    addJSON(nested: Described) {
      read = nested;
    }
  }
  new Function('require', 'module', code)(() => ({ roots: {}, Root }), {});
  return read;
}

/**
 * Loads gRPC lazily for the native part, which needs its status codes only after a failed call; workflow threads make
 * none.
 */
function writeGrpc(folder: string): void {
  const getters = Object.keys(require('@grpc/grpc-js')).map(
    (key) =>
      `get ${JSON.stringify(key)}() { return require('./@grpc-grpc-js.cjs')[${JSON.stringify(key)}]; },\n`,
  );
  writeFileSync(join(folder, 'grpc-lazily.cjs'), `module.exports = {\n${getters.join('')}};\n`);
}

/** S2. */
const atItsPlace: Plugin = {
  name: 'at-its-place',
  transform(code, id) {
    if (!id.startsWith(MODULES) || !id.endsWith('.js')) return undefined;
    const { resolve } = createRequire(id);
    return code
      .replaceAll(/(?<!\*.*)require\.resolve\('([^']+)'\)/g, (_, name: string) =>
        JSON.stringify(resolve(name)),
      )
      .replaceAll(/\b__dirname\b/g, JSON.stringify(dirname(id)))
      .replaceAll(/\b__filename\b/g, JSON.stringify(id));
  },
};
