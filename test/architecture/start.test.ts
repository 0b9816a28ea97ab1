/** Large packages that a process must load only if it needs them: every start pays for what a file imports. */
import { describe, expect, it } from '@jest/globals';
import { readSources } from './source-tree.ts';

const SOURCES = new Map(readSources().map((file) => [file.path, file]));
/** Files that whatever reads a project loads on behalf of its authors (`definitions/module-loader.ts`). */
const FOR_AUTHORS = ['index.ts', 'models/index.ts', 'standard-agents.ts'];

const LARGE = [
  '@hono/node-server',
  '@hono/zod-openapi',
  '@modelcontextprotocol/client',
  '@modelcontextprotocol/server',
  '@temporalio/activity',
  '@temporalio/client',
  '@temporalio/common',
  '@temporalio/envconfig',
  '@temporalio/proto',
  '@temporalio/worker',
  '@temporalio/workflow',
  'chokidar',
  'hono',
  'isolated-vm',
  'jiti',
  'openai',
  'pg',
  'sucrase',
  'ws',
  'zod',
];
const MAIN = ['cli/start.ts', 'cli/main.ts'];
const READING = [...MAIN, 'cli/commands/reading.ts', 'cli/connection/complete-ids.ts'];
const STORE = ['store/open-store.ts', 'store/sqlite/open.ts'];
const SUPERVISING = [
  ...MAIN,
  'cli/commands/worker.ts',
  'cli/connection/find-server.ts',
  'cli/worker/supervised-worker.ts',
];

/** Returns the packages that are loaded together with these files. */
function packagesOf(files: readonly string[]): Set<string> {
  const packages = new Set<string>();
  const seen = new Set<string>();
  const follow = (path: string) => {
    if (seen.has(path)) return;
    seen.add(path);
    for (const { file, package: name, typeOnly, lazy } of SOURCES.get(path)?.imports ?? []) {
      if (typeOnly || lazy) continue;
      if (file) follow(file);
      if (name) packages.add(name);
    }
  };
  files.forEach(follow);
  return packages;
}

describe('without a package that it does not need', () => {
  it.each([
    [
      'a project is read',
      ['definitions/index.ts', ...FOR_AUTHORS],
      [
        'kysely',
        'openai',
        'pg',
        '@temporalio/client',
        '@temporalio/common',
        '@temporalio/envconfig',
        '@temporalio/worker',
        '@temporalio/workflow',
      ],
    ],
    [
      'a suspect is run alone',
      ['cli/worker/lone-program.ts', ...FOR_AUTHORS],
      ['openai', '@temporalio/worker'],
    ],
    [
      'a worker is supervised',
      SUPERVISING,
      ['@temporalio/client', '@temporalio/proto', '@temporalio/worker'],
    ],
    ['help is shown', MAIN, [...LARGE, 'kysely']],
    ['a command that reads begins', READING, [...LARGE, 'kysely']],
    ['a store in a file is read', [...READING, ...STORE], LARGE],
    [
      'a worker on a store in a file starts',
      ['cli/worker/worker-program.ts', 'cli/worker/run-worker.ts', ...STORE, ...FOR_AUTHORS],
      ['openai', 'pg', 'isolated-vm', 'hono', '@hono/zod-openapi', '@modelcontextprotocol/server', 'ws'],
    ],
  ])('%s', (_what, files, unneeded) => {
    const loaded = packagesOf(files);
    expect(unneeded.filter((name) => loaded.has(name))).toEqual([]);
  });

  it('detects a package that is loaded', () => {
    expect(packagesOf(['worker/index.ts'])).toContain('@temporalio/worker');
    expect(packagesOf(STORE)).toContain('kysely');
  });
});
