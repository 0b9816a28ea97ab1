/** Which files may import which (docs/architecture.md). A path's first folder is its layer: where its code may run. */
import type { Import } from './source-tree.ts';

export interface Layer {
  /** Layers that this one may import, besides itself. */
  readonly layers: readonly string[];
  readonly packages: readonly string[];
  /** Single files of other layers that it may import. */
  readonly files?: readonly string[];
  /** Single files of which it may import the types only. */
  readonly types?: readonly string[];
}

const MESSAGES = 'workflows/messages.ts';
/** Files that start a program, besides the folder `worker`: they may import everything. */
export const COMPOSITION_ROOT = [
  'workflow-bundle.ts',
  'kept-file.ts',
  'configuration.ts',
  'secret-environment.ts',
  'temporal-settings.ts',
  'temporal-unreachable.ts',
  'otel.ts',
  'traceparent.ts',
];
/** How Temporal is connected to, and why that failed. */
const TEMPORAL = ['temporal-settings.ts', 'temporal-unreachable.ts'];
/** Names the running work to those whom it asks. */
const TRACEPARENT = 'traceparent.ts';
const WORKER = 'worker/index.ts';
const IN_PROCESS = 'worker/in-process.ts';
/** The first file that a worker process runs, before it loads everything else that a worker needs. */
const SUPERVISED = 'worker/under-supervision.ts';
/** What a lone process does; the command adds its log. */
const LONE = 'worker/lone-run.ts';
/** One span for `everthread doctor`; OpenTelemetry's API is a matter of the worker. */
const TRIAL = 'worker/telemetry/trial-span.ts';

const ASSERTIONS = 'testing/run-assertions.ts';

const OUTSIDE = ['client', 'core', 'definitions', 'projections', 'author', 'store', 'models', 'sandbox'];

export const LAYERS: Readonly<Record<string, Layer>> = {
  core: { layers: [], packages: ['zod'] },
  definitions: { layers: ['core'], packages: ['node:', 'zod', 'jiti', '@pydantic/genai-prices'] },
  workflows: {
    layers: ['core'],
    packages: ['@temporalio/workflow', '@temporalio/common'],
  },
  store: { layers: ['core'], packages: ['node:', 'kysely', 'pg'] },
  models: {
    layers: ['core'],
    packages: ['node:', 'zod', 'openai', '@ai-sdk/provider'],
    files: [TRACEPARENT],
  },
  sandbox: {
    layers: ['core'],
    packages: ['node:', 'isolated-vm', 'sucrase', 'es-module-lexer'],
    files: ['kept-file.ts'],
  },
  remote: {
    layers: ['core'],
    packages: ['@modelcontextprotocol/client', '@a2a-js/sdk', 'node:'],
    files: [TRACEPARENT],
  },
  author: {
    layers: ['core', 'remote', 'sandbox', 'store'],
    // The author's layer needs the client's interpreter of schemas, and nothing else of it.
    packages: ['node:', '@modelcontextprotocol/client'],
  },
  activities: {
    layers: ['core', 'definitions', 'remote', 'author', 'store', 'models', 'sandbox'],
    packages: ['node:', 'zod', '@temporalio/activity', '@temporalio/client', '@temporalio/common'],
    files: [MESSAGES],
  },
  projections: { layers: ['core'], packages: ['node:'] },
  client: {
    layers: ['core', 'projections', 'store'],
    packages: ['node:', '@temporalio/client', '@temporalio/common'],
    files: [MESSAGES, 'configuration.ts', ...TEMPORAL],
    types: ['workflows/thread.ts'],
  },
  server: {
    layers: OUTSIDE,
    packages: ['node:', 'zod', 'hono', '@hono/zod-openapi', '@modelcontextprotocol/server'],
    files: [WORKER, 'configuration.ts', 'temporal-service/package-root.ts'],
  },
  supervisor: { layers: ['core'], packages: ['node:'], types: ['author/guard/author-run.ts'] },
  'temporal-service': {
    layers: ['core', 'store'],
    packages: ['node:', '@temporalio/client', '@temporalio/proto'],
    files: ['secret-environment.ts', ...TEMPORAL],
  },
  cli: {
    layers: [...OUTSIDE, 'server', 'supervisor', 'temporal-service'],
    packages: [
      'node:',
      'chokidar',
      'commander',
      '@hono/node-server',
      '@modelcontextprotocol/server',
      'ws',
      '@temporalio/client',
      '@temporalio/common',
      '@temporalio/worker',
    ],
    files: [
      WORKER,
      SUPERVISED,
      LONE,
      TRIAL,
      'configuration.ts',
      'otel.ts',
      'secret-environment.ts',
      ...TEMPORAL,
    ],
  },
  faces: {
    layers: OUTSIDE,
    packages: ['node:', 'zod'],
    files: [IN_PROCESS],
  },
  // Bundled into one file of the package (scripts/build-page.ts): what it imports is no dependency of an installation.
  ui: {
    layers: [],
    packages: ['preact', '@preact/signals'],
    files: [
      'client/http/http-place.ts',
      'client/http/live-lines.ts',
      'client/http/outgoing-json.ts',
      'client/http/patience.ts',
    ],
    types: ['client/http/answers.ts', 'core/event/thread-event.ts'],
  },
  testing: {
    layers: [...OUTSIDE, 'temporal-service'],
    packages: ['node:', 'openai', '@temporalio/client', '@temporalio/worker'],
    files: [IN_PROCESS, 'configuration.ts', 'temporal-settings.ts'],
  },
};

/** Single files that may import more than their layer, each with its reason. */
const EXCEPTIONS: Readonly<Record<string, { readonly packages: readonly string[]; readonly why: string }>> = {
  'cli/doctor/probe-workflow.ts': {
    packages: ['@temporalio/workflow'],
    why: 'the workflow that `everthread doctor` runs to measure a step; it must not be in the bundle of threads',
  },
};

/** Returns the layer of a path: `root` for the entry points and the composition root, in src itself and in `worker`. */
export function layerOf(path: string): string {
  const [folder, file] = path.split('/', 2);
  return file === undefined || folder === 'worker' ? 'root' : (folder as string);
}

/** The composition root imports downwards too: a worker nothing of the command, and settings nothing of the worker. */
function isAbove(path: string, file: string): boolean {
  if (path.startsWith('worker/')) return layerOf(file) === 'cli';
  return COMPOSITION_ROOT.includes(path) && file.startsWith('worker/');
}

export function mayImport(path: string, { file, package: packageName, typeOnly }: Import): boolean {
  const own = layerOf(path);
  // Testing is for users and their tests: no other layer may depend on it; `faces` may import its assertions.
  if (file && layerOf(file) === 'testing')
    return own === 'testing' || (file === ASSERTIONS && own === 'faces');
  if (own === 'root') return !file || !isAbove(path, file);
  const layer = LAYERS[own];
  if (!layer) return false;
  if (packageName) return [...layer.packages, ...(EXCEPTIONS[path]?.packages ?? [])].includes(packageName);
  if (!file) return false;
  if (layerOf(file) === own || layer.layers.includes(layerOf(file))) return true;
  return Boolean(layer.files?.includes(file) || (typeOnly && layer.types?.includes(file)));
}
