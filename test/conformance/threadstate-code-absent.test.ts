/** A sandbox whose engine is not installed: no code runs, and the result names what is missing. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { toCodeToolResult } from '../../src/definitions/code-tool-result.ts';
import { createSandbox } from '../../src/sandbox/index.ts';

/** Runs code in a child process whose program fails to load its engine; `load` resolves as the engine does. */
async function runWith(program: (folder: string) => string) {
  const folder = mkdtempSync(join(tmpdir(), 'everthread-absent-'));
  const main = join(folder, 'main.ts');
  writeFileSync(join(folder, 'isolated-vm.node'), 'of another machine');
  const engine = JSON.stringify(createRequire(import.meta.url).resolve('isolated-vm'));
  writeFileSync(
    main,
    `import { createRequire } from 'node:module';
const load = createRequire(${engine});
${program(folder)}
`,
  );
  const sandbox = createSandbox({ size: 1, wall: 'none', main, bare: true });
  try {
    return await sandbox.scope().runCode('export default 1');
  } finally {
    await sandbox.close();
    rmSync(folder, { recursive: true });
  }
}

const engines: readonly (readonly [what: string, program: (folder: string) => string, named: RegExp])[] = [
  [
    'package',
    () => `load('isolated-vm-of-another-house');`,
    /the package "isolated-vm-of-another-house" is not installed/,
  ],
  [
    'native build',
    (folder) => `load('node-gyp-build')(${JSON.stringify(join(folder, 'isolated-vm'))});`,
    /the package "isolated-vm" has no native build for this machine \(platform=/,
  ],
  [
    'native build that this machine can load',
    (folder) => `load(${JSON.stringify(join(folder, 'isolated-vm.node'))});`,
    /the native build \S+isolated-vm\.node cannot be loaded on this machine/,
  ],
];

describe('ThreadState: a sandbox without its engine', () => {
  for (const [what, program, named] of engines)
    it(`[threadstate code execution] settles as link_error that names the missing ${what}, and the model reads it`, async () => {
      const result = await runWith(program);
      expect(result).toMatchObject({
        status: 'link_error',
        error: { name: 'SandboxUnavailable', message: expect.stringMatching(named) },
      });
      expect(toCodeToolResult(result)).toMatchObject({
        status: 'error',
        error: expect.stringMatching(named),
      });
    });
});
