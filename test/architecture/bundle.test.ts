/** What the workflow sandbox loads: our workflows, core and Temporal's own code only, as its size costs replay time. */
import { readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { describe, expect, it } from '@jest/globals';
import { bundleWorkflows } from '../../src/workflow-bundle.ts';

/** Includes the inline source map; the code alone is a third of it. */
const MOST_BYTES = 2_800_000;

/** Packages that the SDK itself brings into the bundle. */
const PACKAGES = ['@temporalio/workflow', '@temporalio/common', 'nexus-rpc', 'long', 'ms'];

const given = process.env.EVERTHREAD_TEST_MAPPED_BUNDLE;
const code = given ? readFileSync(given, 'utf8') : (await bundleWorkflows()).code;
/** Paths of the bundled modules; the bundler uses each path as the key of its module. */
const modules = [
  ...new Set([...code.matchAll(/^\/\*{3}\/ "(\.\/[^"]+)"$/gm)].map(([, path]) => path as string)),
];

function packageOf(path: string): string | undefined {
  return /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules\/)/.exec(path)?.[1];
}

describe('the workflow bundle', () => {
  it('contains our workflows', () => {
    expect(modules).toEqual(
      expect.arrayContaining([
        './src/workflows/index.ts',
        './src/workflows/task.ts',
        './src/workflows/thread.ts',
      ]),
    );
  });

  it('contains only workflows and core of our own code', () => {
    const own = modules.filter((path) => path.startsWith('./src/'));
    expect(own.filter((path) => !/^\.\/src\/(workflows|core)\//.test(path))).toEqual([]);
  });

  it("contains no package but Temporal's workflow code", () => {
    const packages = new Set(modules.flatMap((path) => packageOf(path) ?? []));
    expect([...packages].filter((name) => !PACKAGES.includes(name))).toEqual([]);
    for (const name of ['zod', 'kysely', 'openai', 'protobufjs']) expect(packages).not.toContain(name);
  });

  it('loads our code once for all threads of a context', () => {
    const [preloaded] = /preloadModules = function[\s\S]*?\n\}/.exec(code) ?? [];
    for (const name of ['index', 'interceptors', 'payload-converter'])
      expect(preloaded).toContain(`"./src/workflows/${name}.ts"`);
  });

  it('contains no Node module', () => {
    const builtins = new Set(builtinModules);
    const required = [...code.matchAll(/\brequire\(["'](?:node:)?([^"')]+)["']\)/g)].map(
      ([, name]) => name as string,
    );
    expect(required.filter((name) => builtins.has(name))).toEqual([]);
    expect(modules.filter((path) => path.includes('node:'))).toEqual([]);
  });

  it('is small', () => {
    expect(Buffer.byteLength(code)).toBeLessThan(MOST_BYTES);
  });
});
