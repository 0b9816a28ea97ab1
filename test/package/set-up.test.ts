/** A clone makes itself ready: every npm script runs with the Node of its toolchain, whichever one npm runs on. */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { OLD_NODE, onOldNode } from '../support/old-node.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const WITHOUT_PACKAGES = { filter: (path: string) => !path.includes('node_modules') };

let clone: string;

/** A clone whose packages are installed, but for the link that set-up makes; as `npm ci` leaves it. */
beforeEach(() => {
  clone = realpathSync(mkdtempSync(join(tmpdir(), 'everthread-clone-')));
  cpSync(join(ROOT, 'scripts'), join(clone, 'scripts'), { recursive: true, ...WITHOUT_PACKAGES });
  for (const name of ['package.json', 'package-lock.json', 'node_modules/.package-lock.json'])
    cpSync(join(ROOT, name), join(clone, name));
  mkdirSync(join(clone, 'node_modules', '.bin'));
  const toolchain = join('scripts', 'toolchain', 'node_modules');
  symlinkSync(join(ROOT, toolchain), join(clone, toolchain));
});
afterEach(() => rmSync(clone, { recursive: true, force: true }));

/** Returns what `node scripts/run.mjs …` prints. */
async function run(node: string, ...args: string[]): Promise<string> {
  return (await promisify(execFile)(node, [join(clone, 'scripts', 'run.mjs'), ...args])).stdout;
}

const linked = () => realpathSync(join(clone, 'node_modules', '.bin', 'node'));

onOldNode(() => {
  it('runs a program with the Node of the toolchain, and restores the link that npm ci has removed', async () => {
    const used = await run(OLD_NODE as string, '-p', 'process.execPath');
    expect(used.trim()).toBe(linked());
    expect(used).toContain('toolchain');
    expect(await run(OLD_NODE as string, '-p', 'process.versions.node')).toMatch(/^24\./);
  });

  it('replaces a link to another Node', async () => {
    symlinkSync(OLD_NODE as string, join(clone, 'node_modules', '.bin', 'node'));
    await run(OLD_NODE as string, '-p', '1');
    expect(linked()).toContain('toolchain');
  });
});
